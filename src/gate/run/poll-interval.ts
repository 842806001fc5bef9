export interface PollTimes {
  /** Since the watch began. */
  readonly elapsedMs: number
  /** Until the run is expected to end; negative when it is overdue, undefined when nobody knows. */
  readonly untilEndMs: number | undefined
  readonly longestMs: number
}

const FIRST_MS = 1_000
const NEAR_END_MS = 2_800
/** The share of the time so far that may pass before the next look. */
const GROWTH = 1 / 4
/** An overdue run is looked at less and less often again. */
const OVERDUE_GROWTH = 1 / 24

/**
 * How long to wait before the next look: often at first, then less, up to the longest; and so that the expected end is not overslept.
 * The jitter only ever shortens a wait, so that many jobs do not look in step and none looks later than promised.
 */
export function nextPollMs(
  { elapsedMs, untilEndMs, longestMs }: PollTimes,
  random: () => number = Math.random
): number {
  const patient = clamp(elapsedMs * GROWTH, FIRST_MS, longestMs)
  const jitter = 1 - 0.15 * random()
  if (untilEndMs === undefined) return patient * jitter
  if (untilEndMs > NEAR_END_MS) return Math.min(patient * jitter, untilEndMs)
  return Math.min(longestMs, Math.max(NEAR_END_MS, -untilEndMs * OVERDUE_GROWTH)) * jitter
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
