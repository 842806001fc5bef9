import type { Stall } from '../results/stalls/find-stalls.js'
import type { OverTime } from '../results/stalls/over-time.js'
import type { Outcome } from './outcome.js'

export const MOST_STALLS = 20

/** The times in which users waited and nothing was answered. */
export interface StallsDocument {
  readonly count: number
  /** The longest ones, in order of time. */
  readonly longest: readonly StallDocument[]
}

export interface StallDocument {
  /** From the run's first start. */
  readonly atMs: number
  readonly ms: number
  /** How many users waited. */
  readonly waiting: number
}

type Measured = Partial<Pick<Outcome, 'measurements' | 'warmUp'>>

/** Null if they are not known. */
export function stallsDocument(outcome: Measured): StallsDocument | null {
  const overTime = overTimeOf(outcome)
  const runMs = startOf(outcome)
  if (overTime === undefined || runMs === undefined) return null
  const longest = longestFirst(overTime.stalls).slice(0, MOST_STALLS)
  return {
    count: overTime.stalls.length,
    longest: longest
      .sort((one, other) => one.startMs - other.startMs)
      .map(({ startMs, ms, waiting }) => ({ atMs: startMs - runMs, ms, waiting }))
  }
}

export function overTimeOf({ measurements }: Measured): OverTime | undefined {
  const overTime = measurements?.figures({})?.overTime()
  return typeof overTime === 'object' ? overTime : undefined
}

/** Times of a run are counted with its warm-up. */
function startOf({ measurements, warmUp }: Measured): number | undefined {
  return (warmUp?.whole ?? measurements)?.startMs
}

export function longestFirst(stalls: readonly Stall[]): Stall[] {
  return [...stalls].sort((one, other) => other.ms - one.ms)
}
