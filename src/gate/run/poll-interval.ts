export interface PollTimes {
  /** Since polling started. */
  readonly elapsedMs: number
  /** Until the run is expected to end; negative when it is overdue, undefined when unknown. */
  readonly untilEndMs: number | undefined
  readonly longestMs: number
}

const FIRST_MS = 1_000
const NEAR_END_MS = 2_800
/** The next wait, as a share of the time elapsed so far. */
const GROWTH = 1 / 4
/** The same for an overdue run, by the time since its expected end. */
const OVERDUE_GROWTH = 1 / 24

/**
 * How long to wait before the next poll: short at first, then longer, up to the maximum, without sleeping past the expected end.
 * The jitter only shortens a wait, so that many jobs do not poll in step and none polls later than promised.
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
