import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { promisify } from 'node:util'
import type { RunOrder } from './run-order.js'

/** Gives hosts other addresses in this process too: a script may send requests past the browser. */
export function overrideLookups(hosts: RunOrder['hosts']): void {
  if (hosts.length === 0) return
  const addresses = new Map(hosts.map(({ host, address }) => [host.toLowerCase(), address]))
  const redirect = <Rest extends unknown[], Result>(lookup: (host: string, ...rest: Rest) => Result) => {
    return (host: string, ...rest: Rest): Result =>
      lookup(addresses.get(host.toLowerCase().replace(/\.$/, '')) ?? host, ...rest)
  }
  const inPromises = redirect(dns.promises.lookup) as typeof dns.promises.lookup
  dns.promises.lookup = inPromises
  // As Node's own function, whose promise has the family too.
  const lookup: unknown = Object.assign(redirect(dns.lookup), { [promisify.custom]: inPromises })
  dns.lookup = lookup as typeof dns.lookup
  syncBuiltinESMExports()
}
