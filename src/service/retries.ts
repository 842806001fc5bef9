import type { Clock } from './clock.js'
import { RefusedError, isTransient } from './errors.js'

/** How often one operation may be sent, and how long the service may take to begin its answer. */
export interface Care {
  /** 1: never sent again by itself. */
  readonly attempts: number
  readonly patienceMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/**
 * There is no generic retry: two of the API's GETs have effects. Reads are repeated; stop and terminate are repeated, for doing them
 * twice does no harm; what creates something is sent once, and its fate is looked up by the caller.
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
  // Both are asked for again as long as the collection lasts, for they may not be ready.
  report: { attempts: 1, patienceMs: 60 * SECOND },
  result: { attempts: 1, patienceMs: 60 * SECOND },
  account: { attempts: 4, patienceMs: 30 * SECOND },
  head: { attempts: 4, patienceMs: 30 * SECOND }
} as const satisfies Record<string, Care>

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 20 * SECOND
const LONGEST_RETRY_AFTER_MS = 2 * MINUTE

/** The wait before the next attempt: the service's own word if it gave one, else doubling, with jitter so that jobs do not march in step. */
export function pauseBefore(attempt: number, error: unknown, random: () => number = Math.random): number {
  const asked = error instanceof RefusedError ? error.retryAfterMs : undefined
  // A service that asks for no pause at all is not hammered for it.
  if (asked !== undefined) return Math.min(Math.max(asked, FIRST_PAUSE_MS), LONGEST_RETRY_AFTER_MS)
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS)
  return Math.round(pause * (0.75 + random() / 2))
}

/** Repeats an attempt that failed in passing, as often as the operation's care allows. */
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
