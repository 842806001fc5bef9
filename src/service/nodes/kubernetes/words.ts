import { shorten, messageOf } from '../../../contract/text.js'
import { ClusterError } from './cluster.js'

/** What the API answers instead of an object. */
export interface Status {
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

const LONGEST = 2_000
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|ERR_SSL|ERR_TLS/

/** The cluster's own words in the body of a refusal; a proxy in between may say anything. */
function wordsOfBody(body: string): string {
  try {
    const { message, reason } = JSON.parse(body) as Status
    if (typeof message === 'string' && message !== '') return shorten(message, LONGEST)
    if (typeof reason === 'string' && reason !== '') return shorten(reason, LONGEST)
  } catch {
    // Not from Kubernetes, then.
  }
  return shorten(body, LONGEST)
}

/** A refusal: `what` is what was asked for. */
export function refusal(
  what: string,
  { status, text, retryAfterMs }: { status: number; text: string; retryAfterMs?: number | undefined }
): ClusterError {
  const words = wordsOfBody(text)
  const advice =
    status === 401 ? '. The credentials of the kubeconfig are not accepted: log in to the cluster again.' : ''
  return new ClusterError(
    `${what} was answered with HTTP ${status}${words === '' ? '' : `: ${words.replace(/\.$/, '')}`}${advice}`,
    status,
    { retryAfterMs }
  )
}

/** The connection failed, or ended too early: `server` is the cluster's address. */
export function unreachable(server: string, error: unknown): ClusterError {
  const why = wordsOfFailure(error)
  const code = (error as { code?: unknown } | null)?.code
  const message =
    typeof code === 'string' && CERTIFICATE.test(code)
      ? `The certificate of ${server} is not trusted: ${why} (${code}). Check \`certificate-authority-data\`, \`tls-server-name\` and the client certificate of this context in the kubeconfig.`
      : `The cluster at ${server} cannot be reached: ${why}. Check that \`kubectl\` reaches it from here, by the same context.`
  return new ClusterError(message, undefined, { cause: error })
}

/** Several addresses were tried: one error each, and no message of its own. */
function wordsOfFailure(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((one) => messageOf(one)).join(', ')
  return messageOf(error)
}
