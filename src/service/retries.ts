import type { Clock } from './clock.js'
import { RefusedError, isTransient } from './errors.js'

/** How often an operation may be sent, and how long the service may take to start its response. */
export interface Care {
  /** 1: never retried automatically. */
  readonly attempts: number
  readonly patienceMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/**
 * There is no generic retry: two of the API's GETs have effects. Reads are retried; stop and terminate are retried, since doing them
 * twice does no harm; what creates something is sent once, and the caller finds out what became of it.
 */
export const CARE = {
  createGrid: { attempts: 1, patienceMs: 30 * MINUTE },
  showGrid: { attempts: 4, patienceMs: 30 * SECOND },
  terminateGrid: { attempts: 4, patienceMs: 5 * MINUTE },
  createRun: { attempts: 1, patienceMs: 30 * MINUTE },
  repeatRun: { attempts: 1, patienceMs: 30 * MINUTE },
  showRun: { attempts: 3, patienceMs: 30 * SECOND },
  stopRun: { attempts: 4, patienceMs: 5 * MINUTE },
  listRuns: { attempts: 4, patienceMs: 30 * SECOND },
  // The caller retries both for the whole collection time, since they may not be ready.
  report: { attempts: 1, patienceMs: 60 * SECOND },
  result: { attempts: 1, patienceMs: 60 * SECOND },
  account: { attempts: 4, patienceMs: 30 * SECOND },
  head: { attempts: 4, patienceMs: 30 * SECOND }
} as const satisfies Record<string, Care>

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

/** Where something is asked for again for minutes, the pauses stop growing here. */
export const LONGEST_PAUSE_ATTEMPT = 6

/** The wait before the next look at something that is not ready yet. */
export function pauseBetweenLooks(looks: number): number {
  return pauseBefore(Math.min(looks, LONGEST_PAUSE_ATTEMPT), undefined)
}

/** Retries an attempt after transient failures, as often as the operation allows. */
export async function withCare<T>(
  care: Care,
  clock: Clock,
  options: { attempt: () => Promise<T>; signal?: AbortSignal | undefined }
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await options.attempt()
    } catch (error) {
      if (options.signal?.aborted || attempt >= care.attempts || !isTransient(error)) throw error
      await clock.sleep(pauseBefore(attempt, error), options.signal)
    }
  }
}
