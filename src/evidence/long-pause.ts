import { formatMoment } from '../thresholds/stall-words.js'
import { formatDuration } from '../values/durations.js'
import type { Measurements } from '../results/figures/measurements.js'
import { type Results, wholeOf } from './reached-load.js'

/** A longer pause is told, if it is not one of many. */
const TOLD_SHARE = 0.1
const LEAST_TIMES_OTHERS = 10
/** A longer one leaves too little of the run. */
const MOST_SHARE = 0.5

interface LongPause {
  readonly warning?: string
  /** Why what was measured is not a run of this length. */
  readonly gap?: string
}

/**
 * A long time in the middle of a grid's load in which nothing was in flight: nobody asked, so nobody knows what the answers would have
 * been. Each grid by itself, for they may well start one after the other.
 */
export function findLongPause(results: Pick<Results, 'measurements' | 'warmUp'> | undefined): LongPause {
  const whole = results && wholeOf(results)
  const pauses = (whole?.grids ?? []).map((grid) => (whole === undefined ? {} : findInGrid(whole, grid)))
  return (
    pauses.find(({ gap }) => gap !== undefined) ?? pauses.find(({ warning }) => warning !== undefined) ?? {}
  )
}

function findInGrid(measurements: Measurements, grid: string): LongPause {
  const { startMs, grids } = measurements
  const figures = measurements.figures({ grid })
  const overTime = figures?.overTime()
  if (startMs === undefined || figures === undefined || typeof overTime !== 'object') return {}
  const { silences, spanMs } = overTime
  const [longest, second] = silences
  // Of a few requests, each is far from the next.
  const usualMs = Math.max(second?.ms ?? 0, spanMs / figures.samples)
  if (
    longest === undefined ||
    longest.ms <= TOLD_SHARE * spanMs ||
    longest.ms <= LEAST_TIMES_OTHERS * usualMs
  )
    return {}
  const by = grids.length === 1 ? '' : ` by grid ${grid}`
  const told = `No request was sent${by} for ${formatDuration(longest.ms)} of the ${formatDuration(spanMs)} from the first request to the last, at ${formatMoment(longest.startMs - startMs)}, and none was in flight, so the figures say nothing about that time.`
  return longest.ms > MOST_SHARE * spanMs
    ? { gap: `${told} Check what the plan waits for, and that all results are of this run.` }
    : { warning: `${told} Check what the plan waited for.` }
}
