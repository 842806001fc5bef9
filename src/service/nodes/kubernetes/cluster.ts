import type { KubernetesPlace } from '../../../contract/regions/regions.js'
import { shorten, messageOf } from '../../../contract/text.js'
import { attempt } from '../../errors.js'

export type ClusterChoice = Pick<KubernetesPlace, 'context' | 'namespace'>

/** How to find it again from another process; never contents of a kubeconfig. */
export interface ClusterAddress {
  /** The paths of `KUBECONFIG`, or its default; undefined within a cluster. */
  readonly kubeconfig: string | undefined
  readonly context: string
  readonly namespace: string
}

export interface ExecStreams {
  /** Called when the connection is open; before that, it may wait for many others. */
  readonly onOpen?: () => void
  /** Sent to its standard input, which is then closed; `hold` keeps it open and empty until the signal aborts. By default there is none. */
  readonly stdin?: AsyncIterable<Uint8Array> | 'hold'
  /** The next bytes are read when the promise is fulfilled. */
  readonly onStdout?: (bytes: Uint8Array) => void | Promise<void>
  readonly onStderr?: (bytes: Uint8Array) => void | Promise<void>
}

/** A namespace of a cluster, through the Kubernetes API alone. */
export interface Cluster {
  readonly address: ClusterAddress
  /** For people: `namespace load of the cluster load-eu`. */
  readonly name: string
  /** The reply's JSON. Throws a `ClusterError` with the cluster's own words. Is not repeated. */
  request<T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options?: { body?: unknown; signal?: AbortSignal }
  ): Promise<T>
  /** Runs a command in the pod's only container, for its exit code; a `ClusterError` if it cannot connect or is cut. An abort closes it. */
  exec(
    pod: string,
    command: readonly string[],
    streams: ExecStreams,
    signal: AbortSignal
  ): Promise<{ code: number }>
}

/** What the cluster said, or why it cannot be asked. */
export class ClusterError extends Error {
  override name = 'ClusterError'
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    /** The HTTP status; undefined if there was no reply, or a stream was cut. */
    readonly status?: number,
    options?: ErrorOptions & { readonly retryAfterMs?: number | undefined }
  ) {
    super(message, options)
    this.retryAfterMs = options?.retryAfterMs
  }
}

/** Whether a failed request may have been served nevertheless, or may be when it is repeated: true for all but a refusal. */
export function isUnclear(error: unknown): boolean {
  if (!(error instanceof ClusterError)) return false
  const { status } = error
  return status === undefined || status < 400 || status === 408 || status === 429 || status >= 500
}

export function hasStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof ClusterError && error.status !== undefined && statuses.includes(error.status)
}

/** Whether the cluster is too busy to answer. */
export function isBusy(error: unknown): error is ClusterError {
  return error instanceof ClusterError && (error.status === 429 || (error.status ?? 0) >= 500)
}

/** Whether the cluster refuses the credentials or the request: waiting longer rarely helps. */
export function isRefusal(error: unknown): error is ClusterError {
  return hasStatus(error, 401, 403)
}

export interface Status {
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

const LONGEST = 2_000
/** How long the cluster may be silent. */
export const SILENCE_MS = 30_000
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|ERR_SSL|ERR_TLS/

/** The cluster's own words in the body of a refusal; a proxy in between may say anything. */
function wordsOfBody(body: string): string {
  const { message, reason } = attempt(() => JSON.parse(body) as Status | null) ?? {}
  const found = [message, reason].find((text) => typeof text === 'string' && text !== '')
  return shorten(found ?? body, LONGEST)
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
