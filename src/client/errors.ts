const HINTS: Readonly<Record<number, string>> = {
  401: '. Check the token: it may be wrong, expired, or missing in this workflow',
  403: '. The token is valid but not allowed to do this',
  404: '. Check the id and base-url',
  405: '. Check base-url: it may not be the address of the API',
  429: '. The service is rate limiting requests'
}

const REFUSED_LINK =
  ". The service's link to this host was refused: it may have expired (the token is not sent to other hosts)"
/** For a host that a link leads to: it gets no token, so the token is not to blame. */
const LINK_HINTS: Readonly<Record<number, string>> = { 401: REFUSED_LINK, 403: REFUSED_LINK }

/** For ID tokens, of which there is no secret to check. */
const ID_TOKEN_HINTS: Readonly<Record<number, (token: string) => string>> = {
  401: (token) =>
    `. The service does not accept ${token}. Check oidc in its service.yml: issuer and audience must be those of the token (a step asks for the audience in oidc-audience, or the origin of base-url), and a line of allow must match its claims; where a token from LOADGATE_ID_TOKEN_FILE has ended, write a new one into that file`,
  403: (token) =>
    `. The service does not allow this with ${token}. Check oidc in its service.yml: the lines of allow that match the token's claims, and their role`
}

/** A failed operation, and which one it was. */
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

export class RefusedError extends ServiceError {
  override name = 'RefusedError'
  readonly status: number
  /** What the other side said. */
  readonly detail: string
  readonly retryAfterMs: number | undefined
  /** Whether it came from this project's own service, rather than another one or something in front of it. */
  readonly isLoadgate: boolean
  /** Whether it came long before the request was sent to its end. */
  readonly isEarly: boolean
  /** Where it redirects to. */
  readonly location: string | undefined
  /** Who answered, and what to do about it. */
  readonly who: string
  readonly hint: string
  constructor(operation: string, refusal: Refusal) {
    const { status, otherHost, idToken } = refusal
    const request = refusal.requestId === undefined ? '' : ` (request ${refusal.requestId})`
    // A loadgate says itself whether it is a quota, and whose.
    const isExplained = status === 429 && refusal.isLoadgate === true
    const usual = isExplained ? '' : ((otherHost === undefined ? HINTS : LINK_HINTS)[status] ?? '')
    const hint = idToken === undefined ? usual : (ID_TOKEN_HINTS[status]?.(idToken) ?? usual)
    const words = `${refusal.detail}${request}`
    const who = otherHost ?? 'the service'
    super(operation, `${who} answered ${status}: ${hint === '' ? words : words.replace(/\.$/, '')}${hint}`)
    this.who = who
    this.status = status
    this.hint = hint
    this.detail = refusal.detail
    this.location = refusal.location
    this.retryAfterMs = refusal.retryAfterMs
    this.isLoadgate = refusal.isLoadgate ?? false
    this.isEarly = refusal.isEarly ?? false
  }
}

interface Refusal {
  readonly status: number
  readonly detail: string
  readonly requestId: string | undefined
  readonly location?: string | undefined
  /** The host that a link of the service leads to; it gets no token. */
  readonly otherHost?: string | undefined
  readonly retryAfterMs: number | undefined
  readonly isLoadgate?: boolean
  readonly isEarly?: boolean
  /** The ID token that was sent, described; undefined if it was an API token, or none. */
  readonly idToken?: string | undefined
}

/** No answer: connection refused, reset, timeout. */
export class UnreachableError extends ServiceError {
  override name = 'UnreachableError'
  /** True if there was no connection, so the request cannot have had an effect. */
  readonly neverSent: boolean
  /** Whether the connection ended long before the request was sent to its end. */
  readonly isEarly: boolean
  constructor(
    operation: string,
    message: string,
    options: ErrorOptions & { neverSent: boolean; isEarly?: boolean }
  ) {
    super(operation, message, options)
    this.neverSent = options.neverSent
    this.isEarly = options.isEarly ?? false
  }
}

/** The service's certificate is not trusted; a retry does not help, and nothing was sent. */
export class CertificateError extends ServiceError {}

/** The proxy did not answer, and never has: its address is wrong, or it is down; a retry does not help, and nothing was sent. */
export class ProxyError extends ServiceError {}

export class MalformedReplyError extends ServiceError {}

/** A download was redirected to somewhere that is not followed, such as a sign-in page without https. */
export class RedirectError extends ServiceError {}

/** A file to upload has changed since its size was read. */
export class UploadError extends ServiceError {}

/** Something failed on this side, before the request was sent. */
export class UnsentError extends ServiceError {}

/** What happened, without quoting the service, for when its messages may echo secrets; undefined for errors that quote nothing. */
export function describeWithoutQuote(error: unknown): string | undefined {
  if (error instanceof RefusedError)
    return `${error.operation}: ${error.who} answered ${error.status}${error.hint}`
  if (error instanceof MalformedReplyError) return `${error.operation}: the reply is not as documented`
  return undefined
}

export function isTransient(error: unknown): boolean {
  if (error instanceof UnreachableError || error instanceof MalformedReplyError) return true
  return error instanceof RefusedError && ([408, 425, 429].includes(error.status) || error.status >= 500)
}

/** A download ended, but the end cannot be trusted. */
export class IncompleteError extends Error {}

/** What came is not a CSV: it is not ready, or the service sent an error page. */
export class NotCsvError extends Error {}

/** A proxy encodes the response, and is unlikely to stop doing so. */
export class EncodingError extends Error {}

/** Whether a result may be ready a little later: the service knows the run, so 404 and the like mean "not yet" rather than "no". */
export function isNotReady(error: unknown): boolean {
  if (error instanceof IncompleteError || error instanceof NotCsvError) return true
  return isTransient(error) || (error instanceof RefusedError && [404, 409, 423].includes(error.status))
}

/** Statuses that, by the standards, refuse the request itself. */
const SAYS_NO: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424,
  425, 426, 428, 429, 431, 451
])

/** With these a loadgate refuses to create anything before it does: it is about to end, or cannot write it down. */
const SAYS_NO_AS_LOADGATE: ReadonlySet<number> = new Set([503, 507])

/**
 * Whether a create request certainly had no effect, so that a retry cannot create a second run or grid: it was never sent, or the service
 * refused it. Everything else is uncertain: a redirect or an odd success may follow a creation that worked; 408, 5xx and what only
 * proxies send (499, 460) may hide a request that was forwarded.
 */
export function hadNoEffect(error: unknown): boolean {
  if ([UploadError, UnsentError, CertificateError, ProxyError].some((kind) => error instanceof kind))
    return true
  if (error instanceof UnreachableError) return error.neverSent
  if (!(error instanceof RefusedError)) return false
  const { status, isLoadgate } = error
  return SAYS_NO.has(status) || (isLoadgate && SAYS_NO_AS_LOADGATE.has(status))
}

/** Whether an upload broke off midway. A service might act on its first fields: repeat only after a look that found no effect of them. */
export function brokeOff(error: unknown): boolean {
  return (
    (error instanceof UnreachableError || (error instanceof RefusedError && isTransient(error))) &&
    error.isEarly
  )
}

/** Whether a loadgate refuses to create as it is about to end. A 503 of another service or a proxy may hide a request that had effect. */
export function isAboutToRestart(error: unknown): boolean {
  return (
    error instanceof RefusedError &&
    error.status === 503 &&
    error.isLoadgate &&
    error.retryAfterMs !== undefined
  )
}

/** Whether a refusal not about the token may be temporary, or come from in front of the service: an ingress during a deployment. */
export function mayBeMomentary(error: unknown): boolean {
  return error instanceof RefusedError && ![401, 403, 407].includes(error.status)
}

/** The same if the token has worked before: a firewall or a proxy may answer 403 or 407 for a while, and only 401 is about the token. */
export function mayBeMomentaryForKnownToken(error: unknown): boolean {
  return error instanceof RefusedError && error.status !== 401
}

/** Whether a refused result may come later: a firewall (403) or sign-in page may answer for a while. Bad token, gone or blocked: final. */
export function mayBecomeResult(error: unknown): boolean {
  if (error instanceof RedirectError || error instanceof EncodingError) return true
  return error instanceof RefusedError && ![401, 410, 451].includes(error.status)
}
