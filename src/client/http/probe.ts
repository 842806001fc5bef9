import type { Dispatcher } from 'undici'
import { isLoopback } from './address.js'
import { mayBeProxied, ProxyFailure } from './proxy.js'
import { Agent } from './undici.js'

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
      ? (await import('./proxy-agent.js')).openProxyAgent({ connect, requestTls: connect })
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
