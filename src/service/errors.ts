/** What every failing operation has in common: which one it was. */
export class ServiceError extends Error {
  override name = 'ServiceError'
  constructor(
    readonly operation: string,
    message: string,
    options?: ErrorOptions
  ) {
    super(`${operation}: ${message}`, options)
  }
}

/** The service answered, and not with success. */
export class RefusedError extends ServiceError {
  override name = 'RefusedError'
  readonly status: number
  readonly retryAfterMs: number | undefined
  constructor(operation: string, refusal: Refusal) {
    const request = refusal.requestId === undefined ? '' : ` (request ${refusal.requestId})`
    super(
      operation,
      `the service answered ${refusal.status}: ${refusal.detail}${request}${hintFor(refusal.status)}`
    )
    this.status = refusal.status
    this.retryAfterMs = refusal.retryAfterMs
  }
}

interface Refusal {
  readonly status: number
  readonly detail: string
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
}

/** No answer came: refused connection, reset, time-out. */
export class UnreachableError extends ServiceError {
  override name = 'UnreachableError'
  /** True when no connection was made, so that the request cannot have had an effect. */
  readonly neverSent: boolean
  constructor(operation: string, message: string, options: ErrorOptions & { neverSent: boolean }) {
    super(operation, message, options)
    this.neverSent = options.neverSent
  }
}

/** The service's certificate is not trusted; asking again changes nothing, and nothing was sent. */
export class CertificateError extends ServiceError {
  override name = 'CertificateError'
}

/** The service answered with success, and with something that is no such reply. */
export class MalformedReplyError extends ServiceError {
  override name = 'MalformedReplyError'
}

/** A download led to where it is not followed, as to a sign-in page without https. */
export class RedirectError extends ServiceError {
  override name = 'RedirectError'
}

/** The file to be sent is not what it was when its size was taken. */
export class UploadError extends ServiceError {
  override name = 'UploadError'
}

/** What happened without a word of the service's, for where it is not known what it may echo; undefined for what is not of its making. */
export function describeWithoutQuote(error: unknown): string | undefined {
  if (error instanceof RefusedError)
    return `${error.operation}: the service answered ${error.status}${hintFor(error.status)}`
  if (error instanceof MalformedReplyError) return `${error.operation}: the reply is not as documented`
  return undefined
}

/** Whether the same request may well succeed a little later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof UnreachableError) return true
  if (error instanceof MalformedReplyError) return true
  return (
    error instanceof RefusedError &&
    (error.status === 408 || error.status === 425 || error.status === 429 || error.status >= 500)
  )
}

/** Answers that say "not yet" of a result rather than "no", for the service has told of the run before: it is yet to be made. */
const NOT_READY: readonly number[] = [404, 409, 423]

/** Whether something the service has yet to make may well be there a little later. */
export function isNotReady(error: unknown): boolean {
  return isTransient(error) || (error instanceof RefusedError && NOT_READY.includes(error.status))
}

/** Refusals that say no to the request itself, as the standards have them. */
const SAYS_NO: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424,
  425, 426, 428, 429, 431, 451
])

/**
 * Whether a creating request can have had no effect, so that sending it again makes no second one: it was never sent, or the service
 * said no. Everything else leaves a doubt: a redirect or an odd success may follow a creation that worked; 408, 5xx and what only
 * proxies say (499, 460) may stand for a request that was handed on.
 */
export function hadNoEffect(error: unknown): boolean {
  if (error instanceof UploadError || error instanceof CertificateError) return true
  if (error instanceof UnreachableError) return error.neverSent
  return error instanceof RefusedError && SAYS_NO.has(error.status)
}

/** Answers about the token rather than about what was asked for. */
const ABOUT_THE_TOKEN: readonly number[] = [401, 403, 407]

/**
 * Whether a refusal may come from something that stands in for the service for a while, as an ingress does in the middle of a
 * deployment (404, or a redirect to a page), or be a matter of moments.
 */
export function mayBeMomentary(error: unknown): boolean {
  return error instanceof RefusedError && !ABOUT_THE_TOKEN.includes(error.status)
}

/** The same where the token has worked before: then a firewall or a proxy may say 403 or 407 for a while, and only 401 is about it. */
export function mayBeMomentaryForKnownToken(error: unknown): boolean {
  return error instanceof RefusedError && error.status !== 401
}

/** Answers that no waiting changes: the token is not valid (any more), what was asked for is gone, or may not be had by law. */
const FOR_GOOD: readonly number[] = [401, 410, 451]

/** Whether a "no" to a request for a result may pass: a firewall (403) or a sign-in page may stand in for the service for a while. */
export function mayBecomeResult(error: unknown): boolean {
  if (error instanceof RedirectError) return true
  return error instanceof RefusedError && !FOR_GOOD.includes(error.status)
}

function hintFor(status: number): string {
  switch (status) {
    case 401:
      return '. Check the token: it may be wrong, expired, or missing in this workflow'
    case 403:
      return '. The token is known but may not do this'
    case 404:
      return '. Check the id and base-url'
    case 429:
      return '. The service limits the rate of requests'
    default:
      return ''
  }
}
