import type { IncomingMessage, Server } from 'node:http'
import { isIP } from 'node:net'

/**
 * Some proxies write a port beside the address; what is counted and allowed by address must not see it. What is no address at all
 * says nothing, nor does anything before it: the caller is then known by the proxy that wrote it.
 */
export function tidyForwardedFor(server: Server): void {
  server.prependListener('request', ({ headers }: IncomingMessage) => {
    const given = headers['x-forwarded-for']
    if (given === undefined) return
    const addresses = addressesOf(String(given))
    if (addresses.length === 0) delete headers['x-forwarded-for']
    else headers['x-forwarded-for'] = addresses.join(', ')
  })
}

/** The unbroken chain of addresses at the end: the last one was written by the proxy that is nearest to us. */
function addressesOf(header: string): string[] {
  const addresses = header.split(',').map((entry) => withoutPort(entry.trim()))
  const broken = addresses.findLastIndex((address) => isIP(address) === 0)
  return addresses.slice(broken + 1)
}

function withoutPort(text: string): string {
  const [, literal, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? []
  return literal ?? plain ?? text
}
