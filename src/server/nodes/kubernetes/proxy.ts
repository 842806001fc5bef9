import { BlockList, isIP } from 'node:net'

/** The proxy for a server, by the variables that kubectl honours; undefined to connect directly. */
export function proxyFor(server: string, env: NodeJS.ProcessEnv): string | undefined {
  const url = new URL(server)
  const read = (name: string): string | undefined =>
    [env[name], env[name.toUpperCase()]].find((value) => value !== undefined && value !== '')
  const proxy = read(url.protocol === 'http:' ? 'http_proxy' : 'https_proxy')
  if (proxy === undefined || isExcluded(url, read('no_proxy') ?? '')) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

/** Loopback never goes through a proxy. */
function isExcluded({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return true
  const hostAndPort = `${host}:${port || (protocol === 'http:' ? '80' : '443')}`
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((rule) => rule !== '')
    .some((rule) => rule === '*' || rule === hostAndPort || isWithin(host, rule))
}

function isWithin(host: string, rule: string): boolean {
  if (rule.includes('/')) return isInNetwork(host, rule)
  const domain = rule.replace(/^\*?\./, '')
  return (host === domain && !rule.startsWith('.') && !rule.startsWith('*.')) || host.endsWith(`.${domain}`)
}

function isInNetwork(host: string, rule: string): boolean {
  const [network = '', bits = ''] = rule.split('/')
  const family = isIP(host)
  if (family === 0 || family !== isIP(network) || !/^\d+$/.test(bits)) return false
  if (Number(bits) > (family === 6 ? 128 : 32)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  return list.check(host, family === 6 ? 'ipv6' : 'ipv4')
}
