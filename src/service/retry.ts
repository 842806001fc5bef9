import type { Clock } from './clock.js'
import {
  MalformedReplyError,
  isNotReady,
  isTransient,
  mayBeMomentary,
  mayBeMomentaryForKnownToken,
  mayBecomeResult
} from './errors.js'
import { pauseBefore } from './retries.js'

/** Which failures in a row are borne where the same thing may be asked again, and for how long. Any other failure ends it at once. */
export interface RetryPolicy {
  /** What passes by itself: an outage, or something that is yet to be made. */
  readonly isTransient: (error: unknown) => boolean
  readonly transientMs: number
  /** A "no" that may come from something else in the service's place for a while. */
  readonly isRefusal: (error: unknown) => boolean
  readonly refusalMs: number
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

/**
 * An outage is borne for minutes; a refusal for a minute, for it may come from an ingress in the middle of a deployment, and a run that
 * was really deleted must not be waited for much longer; a refusal of the token, or an error of our own, not at all.
 */
function outage(transientMs: number, refusalMs = MINUTE_MS): RetryPolicy {
  return { isTransient, transientMs, isRefusal: mayBeMomentary, refusalMs }
}

/** The token has made the grid or the run, or has seen it: what refuses it now may be something in the service's place. */
function outageWithKnownToken(transientMs: number): RetryPolicy {
  return { ...outage(transientMs), isRefusal: mayBeMomentaryForKnownToken }
}

/**
 * What costs money as long as it runs is ended however long the service is away. A service that answers, and never so that it can be
 * understood, is no longer borne than one that says no.
 */
function ending(refusalMs: number): RetryPolicy {
  const isMalformed = (error: unknown): boolean => error instanceof MalformedReplyError
  return {
    isTransient: (error) => isTransient(error) && !isMalformed(error),
    transientMs: Infinity,
    isRefusal: (error) => mayBeMomentary(error) || isMalformed(error),
    refusalMs
  }
}

/** Results are made after the run has ended: what says "not yet" is borne as long as the collection lasts, a "no" for a minute. */
const COLLECT: RetryPolicy = {
  isTransient: isNotReady,
  transientMs: Infinity,
  isRefusal: mayBecomeResult,
  refusalMs: MINUTE_MS
}

/** One policy for each operation, all for what may be done twice: nothing here is ever used to create or repeat. */
export const RETRY = {
  watchRun: outageWithKnownToken(5 * MINUTE_MS),
  // An id that nobody knows is a wrong id: nothing was made a moment ago that could be late.
  showExistingRun: outage(5 * MINUTE_MS, 0),
  // Grids take minutes to start, in which the service may be away as well as later.
  awaitGrid: outageWithKnownToken(5 * MINUTE_MS),
  // A service that loses a reply is often away for a while.
  findRun: outage(2 * MINUTE_MS),
  // Hardly ever is there a twin: where the list cannot be read, nobody waits long for it.
  findTwins: outage(30 * SECOND_MS, 10 * SECOND_MS),
  stopRun: ending(30 * SECOND_MS),
  // A 404 may come from an ingress, and a grid that is taken for gone goes on: it is asked for twice and more.
  terminateGrid: ending(15 * SECOND_MS),
  collect: COLLECT,
  // Everything is home by then; the service may still be away for a moment.
  lastLook: { ...COLLECT, transientMs: MINUTE_MS }
} as const satisfies Record<string, RetryPolicy>

const LONGEST_PAUSE_ATTEMPT = 6
/** A refusal is asked about more often than an outage, for it is not borne for long. */
const LONGEST_PAUSE_ATTEMPT_AFTER_REFUSAL = 4

/** Failures in a row, and how much longer they are borne. */
export class Failures {
  readonly #policy: RetryPolicy
  readonly #clock: Clock
  #count = 0
  #sinceMs: number | undefined
  #refusedSinceMs: number | undefined

  constructor(policy: RetryPolicy, clock: Clock) {
    this.#policy = policy
    this.#clock = clock
  }

  /** True after a failure, until there is an answer. */
  get isFailing(): boolean {
    return this.#count > 0
  }

  noteAnswer(): void {
    this.#count = 0
    this.#sinceMs = undefined
    this.#refusedSinceMs = undefined
  }

  /** The wait before the next attempt; throws the error where it is not to be borne any longer. */
  bear(error: unknown): number {
    const { transientMs, refusalMs } = this.#policy
    const nowMs = this.#clock.now()
    this.#count++
    this.#sinceMs ??= nowMs
    if (this.#policy.isTransient(error)) {
      if (nowMs - this.#sinceMs > transientMs) throw error
      return pauseBefore(Math.min(this.#count, LONGEST_PAUSE_ATTEMPT), error)
    }
    this.#refusedSinceMs ??= nowMs
    if (!this.#policy.isRefusal(error) || nowMs - this.#refusedSinceMs >= refusalMs) throw error
    return pauseBefore(Math.min(this.#count, LONGEST_PAUSE_ATTEMPT_AFTER_REFUSAL), error)
  }
}

export interface RetryOptions {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** Told of each failure that is borne. */
  readonly onRetry?: (error: unknown) => void
  /** What is thrown when the signal ends it, made of the last failure before; else the signal's own reason. */
  readonly overWith?: (failure: unknown) => Error
}

/**
 * Tries again what may well succeed a little later, until the policy or the signal ends it. An attempt that gets further, and is not done
 * yet, says so by `noteProgress`.
 */
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
