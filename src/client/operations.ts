import { upTo, type RetryPolicy } from './retry.js'

/** How the request of an operation is sent. */
export interface Sending {
  /** Without it, once: the caller retries for as long as it has time, or not at all. */
  readonly retry?: RetryPolicy
  /** How long the service may take to start its response, and between two chunks of it. */
  readonly responseTimeoutMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/**
 * There is no generic retry: two of the API's GETs have effects. Reads are retried; stop and terminate are retried, since doing them
 * twice does no harm; what creates something is sent once, and the caller finds out what became of it.
 */
export const OPERATIONS = {
  createGrid: { responseTimeoutMs: 30 * MINUTE },
  showGrid: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  terminateGrid: { retry: upTo(4), responseTimeoutMs: 5 * MINUTE },
  createRun: { responseTimeoutMs: 30 * MINUTE },
  repeatRun: { responseTimeoutMs: 30 * MINUTE },
  showRun: { retry: upTo(3), responseTimeoutMs: 30 * SECOND },
  stopRun: { retry: upTo(4), responseTimeoutMs: 5 * MINUTE },
  listRuns: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  // Best effort: the run does not wait for it.
  setThresholds: { responseTimeoutMs: 5 * SECOND },
  // Both are retried for the whole collection time, since they may not be ready.
  report: { responseTimeoutMs: 60 * SECOND },
  result: { responseTimeoutMs: 60 * SECOND },
  account: { retry: upTo(4), responseTimeoutMs: 30 * SECOND },
  head: { retry: upTo(4), responseTimeoutMs: 30 * SECOND }
} as const satisfies Record<string, Sending>
