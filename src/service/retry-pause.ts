import { RefusedError } from './errors.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
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
