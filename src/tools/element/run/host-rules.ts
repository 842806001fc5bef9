import { isIPv6 } from 'node:net'

export interface HostRule {
  readonly host: string
  readonly address: string
}

const PATTERN = /^[\w.*:-]+$/

/** The browser's argument that redirects hosts and blocks domains; nothing if there are none. */
export function hostRules(hosts: readonly HostRule[], blocked: readonly string[]): string[] {
  const rules = [
    ...blocked.map((pattern) => `MAP ${checkPattern(pattern)} ~NOTFOUND`),
    ...hosts.map(({ host, address }) => `MAP ${host} ${isIPv6(address) ? `[${address}]` : address}`)
  ]
  return rules.length === 0 ? [] : [`--host-resolver-rules=${rules.join(', ')}`]
}

function checkPattern(pattern: string): string {
  if (PATTERN.test(pattern)) return pattern
  throw new Error(
    `the setting blockedDomains has '${pattern}', which is not supported: use host names with *, as in '*.example.com' or '*:8443'`
  )
}
