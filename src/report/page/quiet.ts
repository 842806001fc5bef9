import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { formatMoment } from '../../analysis/thresholds/format.js'
import { findOrigin } from './numbers.js'
import { formatDuration } from '../../contract/text.js'

/** How far back a pause is still a usual one. */
const WINDOW_MS = 120_000
const LEAST_MS = 2_000
/** Of a run that has only begun, nobody knows what is usual. */
const LEAST_AT_FIRST_MS = 30_000
const FIRST_POINTS = 5
/** Requests that arrive at random are this many mean distances apart once in twenty thousand times. */
const MEAN_GAPS = 10
const LONGEST_PAUSES = 3

/** A time in which nothing has been answered, and which goes on. */
export interface Quiet {
  /** Whole seconds. */
  readonly ms: number
  readonly words: string
}

/** Undefined while that is nothing unusual, by what the run was like before. */
export function findQuiet(measurements: Measurements | undefined, nowMs: number): Quiet | undefined {
  const { startMs, endMs } = measurements ?? {}
  if (measurements === undefined || startMs === undefined || endMs === undefined) return undefined
  const quietMs = nowMs - endMs
  if (quietMs <= LEAST_MS || quietMs <= usualQuietMs(measurements)) return undefined
  const seconds = Math.floor(quietMs / 1000)
  return {
    ms: seconds * 1000,
    words: `Nothing answered for ${formatDuration(seconds * 1000)}; the last answer came at ${formatMoment(endMs - startMs)}.`
  }
}

/** By the pauses of the last minutes, stalls left out: a second one is to be told as well. */
function usualQuietMs(measurements: Measurements): number {
  const { series } = measurements
  const originMs = findOrigin(measurements)
  if (series === undefined || originMs === undefined) return Infinity
  const { bucketMs, atMs, throughput } = series
  const overTime = measurements.figures({})?.overTime()
  const stalls = typeof overTime === 'object' ? overTime.stalls : []
  const isStalled = (index: number): boolean => {
    const fromMs = originMs + (atMs[index] ?? 0)
    return stalls.some(({ startMs, ms }) => startMs < fromMs + bucketMs && startMs + ms > fromMs)
  }
  const first = Math.max(0, atMs.length - Math.ceil(WINDOW_MS / bucketMs))
  let samples = 0
  let seconds = 0
  let emptyMs = 0
  let longestMs = 0
  for (let index = first; index < atMs.length; index++) {
    const rate = throughput[index] ?? 0
    const isEmpty = rate === 0 && !isStalled(index)
    emptyMs = isEmpty ? (emptyMs === 0 ? 2 * bucketMs : emptyMs + bucketMs) : 0
    longestMs = Math.max(longestMs, emptyMs)
    if (rate === 0 && !isEmpty) continue
    samples += (rate * bucketMs) / 1000
    seconds += bucketMs / 1000
  }
  return Math.max(
    atMs.length < FIRST_POINTS ? LEAST_AT_FIRST_MS : 0,
    MEAN_GAPS * 1000 * (seconds / samples),
    LONGEST_PAUSES * longestMs
  )
}
