import { isIP } from 'node:net'

/** A host name and the address it should resolve to. */
export interface HostOverride {
  readonly host: string
  readonly address: string
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/i

/** Reads `example.com/10.0.0.1, other.example/10.0.0.2`; entries are separated by commas or spaces. */
export function parseOverrideHosts(text: string): { hosts: HostOverride[]; problems: string[] } {
  const hosts: HostOverride[] = []
  const problems: string[] = []
  for (const entry of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const [host = '', address = '', ...rest] = entry.split('/')
    const isAddress = isIP(address) !== 0 || HOST_NAME.test(address)
    if (HOST_NAME.test(host) && isAddress && rest.length === 0) hosts.push({ host, address })
    else problems.push(`override_hosts: "${entry}" is not <host name>/<address>, as in example.com/10.0.0.1`)
  }
  return { hosts, problems }
}
