import { mergeScans } from '../../analysis/results/figures/merge.js'
import { LiveReadingError } from './live-csv.js'
import { WINDOW_MS, type LiveGrid } from './live-grid.js'

/** How many windows in a row must be broken. */
export const WINDOWS = 6

/** When a run may be judged, in ms from its first sample. */
export interface LiveTimes {
  readonly durationMs: number
  /** What happens before is not judged by windows: the load is still growing, or the server is cold. */
  readonly settledAfterMs: number
  /** 0 if there is none; never longer than that. */
  readonly warmUpMs?: number
}

export type LiveEvidence = NonNullable<ReturnType<typeof gatherEvidence>>

/** Undefined as long as nothing can be judged: every grid must have rows. Throws if a row could not be read. */
export function gatherEvidence(grids: readonly LiveGrid[], times: LiveTimes) {
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
  return {
    /** The samples so far that count: without those of the warm-up. */
    total,
    whole,
    /** Whether there are rows of transaction controllers, whose part in the overall figures is only known at the end. */
    hasTransactions: scans.some(({ hasTransactions }) => hasTransactions),
    /** The last six windows in which all grids are complete, oldest first; empty before there are as many that may be judged. */
    windows: Array.from({ length: first > end - WINDOWS ? 0 : WINDOWS }, (_, index) =>
      mergeScans(grids.flatMap((grid) => grid.scanWindow(end - WINDOWS + index) ?? []))
    ),
    /** Whether a sample of the warm-up is among them. */
    hasEarlyInWindows: grids.some((grid) => grid.lastEarlyEndMs >= (end - WINDOWS) * WINDOW_MS),
    /** From the first start to the time up to which every grid is complete. */
    elapsedMs: settledMs - startMs,
    durationMs: times.durationMs
  }
}
