import { BlockList, isIP } from 'node:net'
import type { Parsed } from '../contract/setting-values.js'

const ACCEPTED_LISTEN =
  'an address and a port, such as 127.0.0.1:8080, 0.0.0.0:8443, [::1]:8443, or :8443 for all addresses; port 0 is any free one'
const HOST = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i

/** The host `::` is every address of the machine, of both families. */
export function parseListen(text: string): Parsed<{ host: string; port: number }> {
  const [, literal, name, digits = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  const port = digits === '' ? NaN : Number(digits)
  const host = literal ?? (name === '' ? '::' : name)
  const isHost = literal === undefined ? host === '::' || isHostName(host ?? '') : isIP(literal) === 6
  if (host !== undefined && isHost && port <= 65535) return { ok: true, value: { host, port } }
  return { ok: false, accepted: ACCEPTED_LISTEN }
}

/** A name whose last part is a number is an address, or a misspelt one. */
function isHostName(host: string): boolean {
  return isIP(host) === 4 || (HOST.test(host) && !/(^|\.)\d+$/.test(host))
}

/** Only this machine reaches it there. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host)
}

export function isOnLoopback({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

/** An address, or a range such as 10.0.0.0/8. */
export function parseRange(text: string): Parsed<string> {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  const isRange = bits === undefined || (Number(bits) > 0 && Number(bits) <= (family === 6 ? 128 : 32))
  if (family !== 0 && !address.includes('%') && isRange) return { ok: true, value: text }
  return {
    ok: false,
    accepted:
      'an address or a range of addresses, such as 10.0.0.0/8, 192.0.2.7 or fd00::/8 (not /0: that is everyone)'
  }
}

/** Whether an address is in one of these ranges; one of IPv4 may be written as one of IPv6. */
export function createRangeCheck(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const plain = plainAddress(address)
    const family = isIP(plain)
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4')
  }
}

const isLoopbackAddress = createRangeCheck(['127.0.0.0/8', '::1'])

/** A socket for both families shows callers by IPv4 as `::ffff:10.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
