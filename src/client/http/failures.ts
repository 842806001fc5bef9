import { subscribe } from 'node:diagnostics_channel'
import { reasonOf } from '../../contract/clock.js'
import { CertificateError, ProxyError, ServiceError, UnreachableError } from '../errors.js'
import { ProxyFailure } from './proxy.js'
import { errors } from './undici.js'
import type { PartsBefore } from './redact.js'

export const CONNECT_TIMEOUT_MS = 30_000

/**
 * The errors from connecting (name resolution, TCP, TLS, a proxy's tunnel), before the first byte of the request was sent. Error codes
 * do not show this: a host can become unreachable, and TLS can fail, long after the request was sent.
 */
const fromConnecting = new WeakSet()
subscribe('undici:client:connectError', (message) => {
  const { error } = message as { error: unknown }
  fromConnecting.add(Object(error) as object)
})

const NOT_TRUSTED = /^(CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|ERR_TLS_\w+)$/

/** Describes a call that got no reply, and whether it can have had an effect. */
export function failureOf(
  call: Call,
  thrown: unknown,
  { redact, isEarly, isReached }: { redact: (text: string) => string; isEarly: boolean; isReached: boolean }
): Error {
  if (call.signal?.aborted) return reasonOf(call.signal)
  if (thrown instanceof ServiceError) return thrown
  if (thrown instanceof ProxyFailure) {
    const words = redact(thrown.message)
    return isReached
      ? new UnreachableError(call.operation, words, { cause: thrown, neverSent: true })
      : new ProxyError(call.operation, words, { cause: thrown })
  }
  const { code = '', message = String(thrown) } = Object(thrown) as Partial<NodeJS.ErrnoException>
  const neverSent = fromConnecting.has(Object(thrown) as object)
  if (neverSent && NOT_TRUSTED.test(code))
    return new CertificateError(
      call.operation,
      redact(
        `the certificate of ${call.url.host} is not trusted: ${message} (${code}). If your own CA signed it, set NODE_EXTRA_CA_CERTS to that CA's certificate`
      ),
      { cause: thrown }
    )
  const words = redact(describeFailure(call, code, message))
  return new UnreachableError(call.operation, words, { cause: thrown, neverSent, isEarly })
}

function describeFailure(call: Call, code: string, message: string): string {
  const seconds = Math.round(call.responseTimeoutMs / 1000)
  switch (code) {
    case new errors.HeadersTimeoutError().code:
      return `${call.url.host} did not answer within ${seconds} s`
    case new errors.BodyTimeoutError().code:
      return `the response from ${call.url.host} stalled for ${seconds} s`
    case new errors.ConnectTimeoutError().code:
      return `no connection to ${call.url.host} within ${CONNECT_TIMEOUT_MS / 1000} s`
    case 'ECONNREFUSED':
      return `${call.url.host} refused the connection (ECONNREFUSED). Is the service up, and is base-url right?`
    case 'ENOTFOUND':
      return `unknown host ${call.url.hostname} (ENOTFOUND). Check base-url`
    default:
      return `the connection to ${call.url.host} failed: ${message}${code && !message.includes(code) ? ` (${code})` : ''}`
  }
}

/** A body that can be created anew for each attempt, with its length known before the first byte. */
export interface Upload {
  readonly contentType: string
  readonly length: number
  open(): AsyncIterable<Uint8Array>
}

export interface Call {
  readonly operation: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly url: URL
  readonly upload?: Upload | undefined
  /** How long the service may take to start its response, and between two chunks of it. */
  readonly responseTimeoutMs: number
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Told where a download is redirected to; what it throws ends the download. */
  readonly onRedirect?: (target: string) => void
  readonly before?: PartsBefore | undefined
}
