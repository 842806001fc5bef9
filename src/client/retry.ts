import type { Clock } from '../contract/clock.js'
import { messageOf } from '../contract/text.js'
import {
  CertificateError,
  MalformedReplyError,
  NotCsvError,
  ProxyError,
  RefusedError,
  UnsentError,
  hadNoEffect,
  isAboutToRestart,
  isNotReady,
  isTransient,
  mayBeMomentary,
  mayBeMomentaryForKnownToken,
  mayBecomeResult
} from './errors.js'

/** Which consecutive failures of an operation are retried, how often, and for how long. Any other failure ends it at once. */
export interface RetryPolicy {
  /** Including the first one; without it, only time limits them. */
  readonly attempts?: number
  /** The wait after that many failures in a row; without it, what the service asks for, else doubling. */
  readonly pauseMs?: (failures: number, error: unknown) => number
  /** What passes by itself: an outage, or something that is not ready yet. */
  readonly isTransient: (error: unknown) => boolean
  /** Without it, forever. */
  readonly transientMs?: number
  /** A refusal that may temporarily come from something in front of the service. */
  readonly isRefusal?: (error: unknown) => boolean
  readonly refusalMs?: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/** An outage: minutes; a refusal: one minute, as it may be an ingress during a deployment; a bad token or our own bug: not at all. */
function outage(transientMs: number, refusalMs = MINUTE) {
  return { isTransient, transientMs, isRefusal: mayBeMomentary, refusalMs }
}

/** For a single request: a few attempts in quick succession, after an outage only. */
export function upTo(attempts: number) {
  return { isTransient, attempts }
}

/** The token has created or read the grid or run before: a refusal now may come from something in front of the service. */
function outageWithKnownToken(transientMs: number) {
  return { ...outage(transientMs), isRefusal: mayBeMomentaryForKnownToken }
}

/** What costs money while it runs is ended however long the service is down; replies that never make sense count as refusals. */
function ending(refusalMs: number): RetryPolicy {
  const isMalformed = (error: unknown): boolean => error instanceof MalformedReplyError
  return {
    isTransient: (error) => isTransient(error) && !isMalformed(error),
    isRefusal: (error) => mayBeMomentary(error) || isMalformed(error),
    refusalMs
  }
}

/** Results are generated after the run has ended: retry "not yet" for the whole collection time, a refusal for a minute. */
const COLLECT = { isTransient: isNotReady, isRefusal: mayBecomeResult, refusalMs: MINUTE }

/** A name of an artifact can be used only once, and some servers have no artifact service: a retry cannot help. */
const IS_FINAL_UPLOAD = /conflict|already exists|GHES/i

function isUnknown(error: unknown): boolean {
  return error instanceof RefusedError && error.status === 404
}

/** No connection, rate limiting, or a loadgate without its database: the same request may work later, and cannot create anything twice. */
function mayCreateNow(error: unknown): boolean {
  if (!hadNoEffect(error) || isAboutToRestart(error)) return false
  if (error instanceof RefusedError) return error.status === 429 || error.status === 503
  return ![CertificateError, ProxyError, UnsentError].some((kind) => error instanceof kind)
}

/** One policy per operation. Only `create` and `outlastRestart` suit creating or repeating a run or grid; others may do a thing twice. */
export const RETRY = {
  create: {
    attempts: 5,
    pauseMs: (failures, error) => pauseBefore(failures + 1, error),
    isTransient: mayCreateNow
  },
  // Longer than a service usually lets its runs at work go on before it restarts.
  outlastRestart: { isTransient: isAboutToRestart, transientMs: 15 * MINUTE },
  watchRun: outageWithKnownToken(5 * MINUTE),
  // An unknown id is a wrong id: nothing was just created that could be late.
  showExistingRun: outage(5 * MINUTE, 0),
  // Grids take minutes to start, and the service may be down meanwhile.
  awaitGrid: outageWithKnownToken(5 * MINUTE),
  // The same, but a grid that is unknown after it was terminated is gone.
  awaitGridEnd: {
    ...outageWithKnownToken(5 * MINUTE),
    isRefusal: (error) => mayBeMomentaryForKnownToken(error) && !isUnknown(error)
  },
  // A service that loses a reply is often down for a while.
  findRun: outage(2 * MINUTE),
  // Without it a lost reply to the repeat could not be matched; but an unknown id is a wrong id.
  showRepeatedRun: {
    ...outage(2 * MINUTE),
    isRefusal: (error) => mayBeMomentary(error) && !isUnknown(error)
  },
  // Duplicates are rare: if the list cannot be read, do not wait long for it.
  findTwins: outage(30 * SECOND, 10 * SECOND),
  stopRun: ending(30 * SECOND),
  // A 404 may come from an ingress, and a grid wrongly considered gone keeps running: ask more than once.
  terminateGrid: ending(15 * SECOND),
  collect: COLLECT,
  // Everything is downloaded by then; the service may still be down for a moment.
  lastLook: { ...COLLECT, transientMs: MINUTE },
  // The service has everything in place: what is not a CSV now never will be.
  downloadFinal: {
    ...COLLECT,
    isTransient: (error) => COLLECT.isTransient(error) && !(error instanceof NotCsvError)
  },
  // Whether a CSV has grown: the answer is almost always "no", so it is not worth more.
  checkSize: outage(10 * SECOND, 0),
  upload: {
    attempts: 3,
    pauseMs: (failures) => 3 * SECOND * failures,
    isTransient: (error) => !IS_FINAL_UPLOAD.test(messageOf(error))
  }
} as const satisfies Record<string, RetryPolicy>

export interface Sending {
  /** Without it, once: the caller retries for as long as it has time, or not at all. */
  readonly retry?: RetryPolicy
  /** It creates a run or a grid. */
  readonly creates?: boolean
  /** How long the service may take to start its response, and between two chunks of it. */
  readonly responseTimeoutMs: number
}

/**
 * There is no generic retry: two of the API's GETs have effects. Reads are retried; stop and terminate are retried, since doing them
 * twice does no harm; what creates something is sent once, and the caller finds out what became of it.
 */
export const OPERATIONS = {
  createGrid: { creates: true, responseTimeoutMs: 30 * MINUTE },
  showGrid: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  terminateGrid: { retry: upTo(4), responseTimeoutMs: 5 * MINUTE },
  createRun: { creates: true, responseTimeoutMs: 30 * MINUTE },
  repeatRun: { creates: true, responseTimeoutMs: 30 * MINUTE },
  showRun: { retry: upTo(3), responseTimeoutMs: 30 * SECOND },
  stopRun: { retry: upTo(4), responseTimeoutMs: 5 * MINUTE },
  pinRun: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  listRuns: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  // Best effort: the run does not wait for it.
  setThresholds: { responseTimeoutMs: 5 * SECOND },
  // Both are retried for the whole collection time, since they may not be ready.
  report: { responseTimeoutMs: 60 * SECOND },
  result: { responseTimeoutMs: 60 * SECOND },
  // Part of an attempt of another operation, which is retried.
  findApi: { responseTimeoutMs: 10 * SECOND },
  account: { retry: upTo(4), responseTimeoutMs: 30 * SECOND }
} as const satisfies Record<string, Sending>

/** Where something is asked for again for minutes, the pauses stop growing here. */
const LONGEST_PAUSE_ATTEMPT = 6
/** A refusal is retried more often than an outage, since it is retried for a shorter time. */
const LONGEST_PAUSE_ATTEMPT_AFTER_REFUSAL = 4

export class Failures {
  #count = 0
  #sinceMs: number | undefined
  #refusedSinceMs: number | undefined

  constructor(
    private readonly policy: RetryPolicy,
    private readonly clock: Clock
  ) {}

  /** True after a failure, until there is an answer. */
  get isFailing(): boolean {
    return this.#count > 0
  }

  noteAnswer(): void {
    this.#count = 0
    this.#sinceMs = undefined
    this.#refusedSinceMs = undefined
  }

  /** Returns the wait before the next attempt; throws the error if there is to be none. */
  bear(error: unknown): number {
    const { attempts = Infinity, transientMs = Infinity, refusalMs = 0, pauseMs } = this.policy
    const nowMs = this.clock.now()
    this.#count++
    if (this.#count >= attempts) throw error
    this.#sinceMs ??= nowMs
    if (this.policy.isTransient(error)) {
      if (nowMs - this.#sinceMs > transientMs) throw error
      if (pauseMs !== undefined) return pauseMs(this.#count, error)
      return pauseBefore(Math.min(this.#count, LONGEST_PAUSE_ATTEMPT), error)
    }
    this.#refusedSinceMs ??= nowMs
    if (!this.policy.isRefusal?.(error) || nowMs - this.#refusedSinceMs >= refusalMs) throw error
    return pauseBefore(Math.min(this.#count, LONGEST_PAUSE_ATTEMPT_AFTER_REFUSAL), error)
  }
}

export interface RetryOptions {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly onRetry?: (error: unknown) => void
  /** Creates the error to throw when the signal ends it, from the last failure; without it, the signal's reason is thrown. */
  readonly overWith?: (failure: unknown) => Error
}

/** Retries until the policy or the signal ends it. An attempt that makes progress without being done reports it with `noteProgress`. */
export async function retry<T>(
  attempt: (noteProgress: () => void) => Promise<T>,
  policy: RetryPolicy,
  { clock, signal, onRetry, overWith }: RetryOptions
): Promise<T> {
  const failures = new Failures(policy, clock)
  let last: unknown
  for (;;) {
    try {
      return await attempt(() => failures.noteAnswer())
    } catch (thrown) {
      if (signal?.aborted) throw overWith?.(last ?? thrown) ?? thrown
      const pauseMs = failures.bear(thrown)
      last = thrown
      onRetry?.(thrown)
      await clock.sleep(pauseMs, signal).catch((reason: unknown) => {
        throw overWith?.(thrown) ?? reason
      })
    }
  }
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 20 * SECOND
const LONGEST_RETRY_AFTER_MS = 2 * MINUTE

/** The wait before the next attempt: what the service asks for, else doubling, with jitter so that jobs do not retry in step. */
export function pauseBefore(attempt: number, error: unknown, random: () => number = Math.random): number {
  const asked = error instanceof RefusedError ? error.retryAfterMs : undefined
  // Do not hammer a service even if it asks for no pause at all.
  if (asked !== undefined) return Math.min(Math.max(asked, FIRST_PAUSE_MS), LONGEST_RETRY_AFTER_MS)
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS)
  return Math.round(pause * (0.75 + random() / 2))
}

export function pauseBetweenLooks(looks: number): number {
  return pauseBefore(Math.min(looks, LONGEST_PAUSE_ATTEMPT), undefined)
}
