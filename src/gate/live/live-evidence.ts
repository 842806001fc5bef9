import { mergeScans } from '../../analysis/results/figures/merge.js'
import type { Measurements, Scope } from '../../analysis/results/figures/measurements.js'
import { holds, measureRoom, type Judgement } from '../../analysis/thresholds/judge/judgement.js'
import { readFigure } from '../../analysis/thresholds/judge/evidence.js'
import { findScopes } from '../../analysis/thresholds/judge/scopes.js'
import { namedScope, shareOfLimit } from '../../analysis/thresholds/judge/judge.js'
import type { AbsoluteThreshold } from '../../analysis/thresholds/grammar/threshold.js'
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
  /** From the first start to the time up to which every grid is complete. */
  readonly elapsedMs: number
  readonly durationMs: number
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
  return {
    total,
    whole,
    hasTransactions: scans.some(({ hasTransactions }) => hasTransactions),
    windows: range(first > end - WINDOWS ? end : end - WINDOWS, end).map((window) =>
      mergeScans(grids.flatMap((grid) => grid.scanWindow(window) ?? []))
    ),
    hasEarlyInWindows: grids.some((grid) => grid.lastEarlyEndMs >= (end - WINDOWS) * WINDOW_MS),
    elapsedMs: settledMs - startMs,
    durationMs: times.durationMs
  }
}

function range(from: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index)
}

/** A line that ends the run, in one scope. */
export interface Breach {
  readonly threshold: AbsoluteThreshold
  readonly scope: Scope
  readonly actual: number
  /** What happened, as the rest of a sentence. */
  readonly words: string
  /** Whether the line stays broken whatever the rest of the run brings. */
  readonly isFinal: boolean
}

/** Where the line is broken so far, and by which figure. */
export function* findBroken(
  threshold: AbsoluteThreshold,
  { total }: LiveEvidence
): Generator<{ readonly scope: Scope; readonly actual: number }> {
  for (const { scope, figures } of findScopes(threshold.selector, total)) {
    const reading = readFigure(threshold, figures, { apdex: undefined, measurements: total })
    if ('actual' in reading && !holds(reading.actual, threshold)) yield { scope, actual: reading.actual }
  }
}

/** The judgement on the line that ended the run. */
export function judgementOf({ threshold, scope, actual }: Breach, reason: string): Judgement {
  return {
    threshold,
    verdict: 'failed',
    actual,
    margin: shareOfLimit(measureRoom(actual, threshold), threshold.value),
    ...namedScope(scope),
    scopesChecked: 1,
    reason
  }
}
