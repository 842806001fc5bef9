import { subscribe } from 'node:diagnostics_channel'
import { reasonOf } from '../clock.js'
import { CertificateError, ServiceError, UnreachableError } from '../errors.js'
import type { Call } from './http.js'
import { errors } from './undici.js'

export const CONNECT_TIMEOUT_MS = 30_000

/**
 * The errors that came from connecting (name resolution, TCP, TLS, a proxy's tunnel), before the request's first byte has left. Codes do
 * not tell: a host can become unreachable, and TLS can fail, long after the request was sent.
 */
const fromConnecting = new WeakSet()
subscribe('undici:client:connectError', (message) => {
  const { error } = message as { error: unknown }
  fromConnecting.add(Object(error) as object)
})

const NOT_TRUSTED = /^(CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|ERR_TLS_\w+)$/

/** What became of a call that had no reply, in words, and whether it can have had an effect. */
export function failureOf(call: Call, thrown: unknown, redact: (text: string) => string): Error {
  if (call.signal?.aborted) return reasonOf(call.signal)
  if (thrown instanceof ServiceError) return thrown
  const { code = '', message = String(thrown) } = Object(thrown) as Partial<NodeJS.ErrnoException>
  const neverSent = fromConnecting.has(Object(thrown) as object)
  if (neverSent && NOT_TRUSTED.test(code))
    return new CertificateError(
      call.operation,
      redact(
        `the certificate of ${call.url.host} is not trusted: ${message} (${code}). If an authority of your own has signed it, name its certificate in NODE_EXTRA_CA_CERTS`
      ),
      { cause: thrown }
    )
  return new UnreachableError(call.operation, redact(describeFailure(call, code, message)), {
    cause: thrown,
    neverSent
  })
}

function describeFailure(call: Call, code: string, message: string): string {
  const seconds = Math.round(call.patienceMs / 1000)
  switch (code) {
    case new errors.HeadersTimeoutError().code:
      return `${call.url.host} gave no answer within ${seconds} s`
    case new errors.BodyTimeoutError().code:
      return `the answer of ${call.url.host} stalled for ${seconds} s`
    case new errors.ConnectTimeoutError().code:
      return `no connection to ${call.url.host} within ${CONNECT_TIMEOUT_MS / 1000} s`
    case 'ECONNREFUSED':
      return `${call.url.host} refused the connection. Check base-url`
    case 'ENOTFOUND':
      return `the host ${call.url.hostname} is not known. Check base-url`
    default:
      return `the connection to ${call.url.host} failed: ${message}${code && !message.includes(code) ? ` (${code})` : ''}`
  }
}
