import { mergeScans } from '../../results/scan/scanner.js'
import type { Measurements } from '../../results/figures/measurements.js'
import { boundRest } from './bound-rest.js'
import { LiveReadingError } from './live-csv.js'
import { WINDOW_MS } from './live-grid.js'
import type { LiveGrid } from './live-grid.js'

/** How many windows in a row must be broken. */
export const WINDOWS = 6

/** When a run may be judged, in ms from its first sample. */
export interface LiveTimes {
  readonly durationMs: number
  /** What happens before is not judged by windows: the load is still growing, or the server is cold. */
  readonly settledAfterMs: number
  /** 0 if there is none; never longer than that. */
  readonly warmUpMs?: number
  /** How many were requested, in all grids together. */
  readonly threads?: number | undefined
  /** Of the largest grid. */
  readonly nodes?: number
}

/** What is known of a run that has not ended. */
export interface LiveEvidence {
  /** The samples so far that count: without those of the warm-up. */
  readonly total: Measurements
  /** All samples so far. */
  readonly whole: Measurements
  /** Whether there are rows of transaction controllers, whose part in the overall figures is only known at the end. */
  readonly hasTransactions: boolean
  /** The last six windows in which all grids are complete, oldest first; empty before there are as many that may be judged. */
  readonly windows: readonly Measurements[]
  /** Whether a sample of the warm-up is among them. */
  readonly hasEarlyInWindows: boolean
  /** From the first start to the first one that counts. */
  readonly countedAfterMs: number
  /** From the first start to the time up to which every grid is complete. */
  readonly elapsedMs: number
  readonly durationMs: number
  /** More samples than the rest of the run can have; Infinity while that is unknown. */
  readonly mostMore: number
}

/** Undefined as long as nothing can be judged: every grid must have rows. Throws if a row could not be read. */
export function gatherEvidence(grids: readonly LiveGrid[], times: LiveTimes): LiveEvidence | undefined {
  const settledMs = Math.min(...grids.map((grid) => grid.settledMs))
  if (!Number.isFinite(settledMs)) return undefined
  const scans = grids.map((grid) => grid.scan())
  const whole = mergeScans(scans)
  const total =
    (times.warmUpMs ?? 0) > 0 ? mergeScans(grids.flatMap((grid) => grid.scanCounted() ?? [])) : whole
  const problem = whole.sources.flatMap(({ problems }) => problems)[0]
  if (problem !== undefined) throw new LiveReadingError(problem)
  const { startMs } = whole
  if (startMs === undefined) return undefined
  const end = Math.floor(settledMs / WINDOW_MS)
  const first = Math.ceil((startMs + times.settledAfterMs) / WINDOW_MS)
  for (const grid of grids) grid.forgetBefore(end - WINDOWS)
  const elapsedMs = settledMs - startMs
  const isSettled = end > first && elapsedMs < times.durationMs
  const early = grids.map((grid) => grid.early)
  const rate = highestRate(grids, end)
  return {
    total,
    whole,
    hasTransactions: scans.some(({ hasTransactions }) => hasTransactions),
    windows: range(first > end - WINDOWS ? end : end - WINDOWS, end).map((window) =>
      mergeScans(grids.flatMap((grid) => grid.scanWindow(window) ?? []))
    ),
    hasEarlyInWindows: early.some(({ lastEndMs }) => lastEndMs >= (end - WINDOWS) * WINDOW_MS),
    countedAfterMs: (total.startMs ?? startMs) - startMs,
    elapsedMs,
    durationMs: times.durationMs,
    // What is taken for the warm-up may count in the end.
    mostMore: isSettled
      ? boundRest({ times, elapsedMs, rate, scans, total: whole }) +
        early.reduce((sum, { rows }) => sum + rows, 0)
      : Infinity
  }
}

/** Per second, of all grids together. Only windows with rows are looked at: one row with a wrong time may be decades from the others. */
function highestRate(grids: readonly LiveGrid[], end: number): number {
  const rows = new Map<number, number>()
  for (const grid of grids)
    for (const [window, count] of grid.rowsByWindow)
      if (window < end) rows.set(window, (rows.get(window) ?? 0) + count)
  return [...rows.values()].reduce((most, count) => Math.max(most, count), 0) / (WINDOW_MS / 1000)
}

function range(from: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index)
}
