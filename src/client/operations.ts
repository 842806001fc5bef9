import { upTo, type RetryPolicy } from './retry.js'

/** How the request of an operation is sent. */
export interface Sending {
  readonly retry: RetryPolicy
  /** How long the service may take to start its response, and between two chunks of it. */
  readonly responseTimeoutMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const ONCE = upTo(1)

/**
 * There is no generic retry: two of the API's GETs have effects. Reads are retried; stop and terminate are retried, since doing them
 * twice does no harm; what creates something is sent once, and the caller finds out what became of it.
 */
export const OPERATIONS = {
  createGrid: { retry: ONCE, responseTimeoutMs: 30 * MINUTE },
  showGrid: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  terminateGrid: { retry: upTo(4), responseTimeoutMs: 5 * MINUTE },
  createRun: { retry: ONCE, responseTimeoutMs: 30 * MINUTE },
  repeatRun: { retry: ONCE, responseTimeoutMs: 30 * MINUTE },
  showRun: { retry: upTo(3), responseTimeoutMs: 30 * SECOND },
  stopRun: { retry: upTo(4), responseTimeoutMs: 5 * MINUTE },
  listRuns: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  // Best effort: the run does not wait for it.
  setThresholds: { retry: ONCE, responseTimeoutMs: 5 * SECOND },
  // The caller retries both for the whole collection time, since they may not be ready.
  report: { retry: ONCE, responseTimeoutMs: 60 * SECOND },
  result: { retry: ONCE, responseTimeoutMs: 60 * SECOND },
  account: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  head: { retry: upTo(4), responseTimeoutMs: 30 * SECOND }
} as const satisfies Record<string, Sending>
