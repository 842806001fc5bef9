import { EnvHttpProxyAgent, Pool, errors, Agent } from './undici.js'
import type { Dispatcher } from 'undici'
import { isLoopback } from './address.js'

/** How long a proxy may take to accept a connection, and then to open the tunnel. */
const PROXY_TIMEOUT_MS = 5_000

/** Whether the proxies of the environment have a say on this address; what is on this machine is reached directly. */
export function mayBeProxied(url: URL, env: NodeJS.ProcessEnv = process.env): boolean {
  return !isLoopback(url) && (proxyIn(env, 'http_proxy') !== '' || proxyIn(env, 'https_proxy') !== '')
}

/** The proxy did not answer, so that nothing was sent. Its message never has the proxy's password. */
export class ProxyFailure extends Error {}

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

function proxyIn(env: NodeJS.ProcessEnv, name: 'http_proxy' | 'https_proxy'): string {
  return [env[name], env[name.toUpperCase()]].map((text) => text?.trim()).find(Boolean) ?? ''
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
  if (proxy === '' || URL.canParse(proxy)) return proxy
  // The value is not quoted: it may contain a password.
  throw new ProxyFailure(`the proxy in ${name} is not a URL such as http://proxy.example:3128`)
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

export type ProbeResult =
  | { readonly status: number }
  | { readonly failure: string; readonly kind: 'no-server' | 'unknown-host' | 'certificate' | 'other' }

interface ProbeOptions {
  readonly signal: AbortSignal
  /** As the load tools do; on loopback this is always so, since nothing leaves the machine. */
  readonly acceptsAnyCertificate?: boolean
}

const CERTIFICATE = /^(?:CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|ERR_TLS_CERT_\w+)$/

/** Sends one GET without credentials, and does not follow redirects. Throws the signal's reason only. */
export async function probe(url: URL, { signal, acceptsAnyCertificate }: ProbeOptions): Promise<ProbeResult> {
  const connect = { rejectUnauthorized: acceptsAnyCertificate !== true && !isLoopback(url) }
  let agent: Dispatcher | undefined
  try {
    agent = mayBeProxied(url)
      ? openProxyAgent({ connect, requestTls: connect })
      : new Agent({ pipelining: 0, connect })
    const { statusCode, body } = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: { 'user-agent': 'loadgate', accept: '*/*' },
      signal
    })
    // Only the status counts.
    body.on('error', () => undefined).destroy()
    return { status: statusCode }
  } catch (thrown) {
    signal.throwIfAborted()
    return explain(url, thrown)
  } finally {
    void agent?.destroy().catch(() => undefined)
  }
}

function explain({ host, hostname }: URL, thrown: unknown): ProbeResult {
  if (thrown instanceof ProxyFailure) return { kind: 'other', failure: thrown.message }
  // A name with several addresses has one error each.
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown
  const { code = '', message = String(thrown) } = Object(first) as Partial<NodeJS.ErrnoException>
  if (code === 'ECONNREFUSED')
    return { kind: 'no-server', failure: `${host} refused the connection (${code}): nothing listens there` }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { kind: 'unknown-host', failure: `the host ${hostname} is unknown (${code})` }
  if (CERTIFICATE.test(code))
    return {
      kind: 'certificate',
      failure: `the certificate of ${host} is not trusted: ${message} (${code}); if your own CA signed it, set NODE_EXTRA_CA_CERTS to that CA's certificate`
    }
  if (/^(?:EPROTO|ERR_SSL_\w+)$/.test(code))
    return {
      kind: 'other',
      failure: `${host} does not speak TLS (${code}); its address may start with http instead of https`
    }
  const words = message.replace(/\s+/g, ' ').slice(0, 300)
  return {
    kind: 'other',
    failure: `the connection to ${host} failed: ${words}${code && !words.includes(code) ? ` (${code})` : ''}`
  }
}
