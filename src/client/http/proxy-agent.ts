import { errors } from './undici.js'
import { EnvHttpProxyAgent, Pool } from './undici-proxies.js'
import type { Dispatcher } from 'undici'
import { ProxyFailure, proxyIn } from './proxy.js'

/** How long a proxy may take to accept a connection, and then to open the tunnel. */
const PROXY_TIMEOUT_MS = 5_000

/** Connects through the proxies of the environment, and directly where `no_proxy` says so. */
export function openProxyAgent(
  options: Pick<EnvHttpProxyAgent.Options, 'connect' | 'requestTls'>,
  env: NodeJS.ProcessEnv = process.env
): Dispatcher {
  return new EnvHttpProxyAgent({
    ...options,
    pipelining: 0,
    httpProxy: addressIn(env, 'http_proxy'),
    httpsProxy: addressIn(env, 'https_proxy'),
    proxyTls: { timeout: PROXY_TIMEOUT_MS },
    clientFactory: connectToProxy
  })
}

/** The same as a URL: other tools take `proxy.example:3128` for http. */
function addressIn(env: NodeJS.ProcessEnv, name: 'http_proxy' | 'https_proxy'): string {
  const value = proxyIn(env, name)
  const proxy = value === '' || value.includes('://') ? value : `http://${value}`
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(proxy)?.[1]?.toLowerCase() ?? 'http'
  if (!/^(https?|socks5?)$/.test(scheme))
    throw new ProxyFailure(
      `the proxy in ${name} has the scheme ${scheme}, which is not supported: use an http, https or socks5 proxy`
    )
  if (proxy === '') return proxy
  // The value is not quoted: it may contain a password.
  if (!URL.canParse(proxy))
    throw new ProxyFailure(`the proxy in ${name} is not a URL such as http://proxy.example:3128`)
  const { username, password } = new URL(proxy)
  if (![username, password].every(canDecode))
    throw new ProxyFailure(
      `the user or the password of the proxy in ${name} has a % of its own: write it as %25`
    )
  return proxy
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Tells the proxy's own failures from those of the service behind it. */
function connectToProxy(proxy: URL, options: object): Dispatcher {
  const pool = new Pool(proxy.origin, { ...options, headersTimeout: PROXY_TIMEOUT_MS })
  const open: (tunnel: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData> = pool.connect.bind(pool)
  const connect: typeof open = async (tunnel) =>
    open(tunnel).catch((thrown: unknown) => {
      throw new ProxyFailure(describeProxyFailure(proxy, thrown), { cause: thrown })
    })
  return Object.assign(pool, { connect })
}

function describeProxyFailure({ host, hostname }: URL, thrown: unknown): string {
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown
  const { code = '', message = String(thrown) } = Object(first) as Partial<NodeJS.ErrnoException>
  const advice = 'Check the variables https_proxy, http_proxy and no_proxy'
  switch (code) {
    case 'ECONNREFUSED':
      return `the proxy ${host} refused the connection (${code}). ${advice}`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the proxy's host ${hostname} is unknown (${code}). ${advice}`
    case new errors.ConnectTimeoutError().code:
    case new errors.HeadersTimeoutError().code:
      return `the proxy ${host} did not answer within ${PROXY_TIMEOUT_MS / 1000} s. ${advice}`
    default:
      return `the connection to the proxy ${host} failed: ${message}${code && !message.includes(code) ? ` (${code})` : ''}. ${advice}`
  }
}
