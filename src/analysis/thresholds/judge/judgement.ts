import type { ON_STALL } from '../../../contract/vocabulary.js'
import type { Stall } from '../../results/stalls/find-stalls.js'
import type { Scope } from '../../results/figures/measurements.js'
import { factsOf } from '../metrics.js'
import { isAbsoluteThreshold, isBaselineThreshold } from '../grammar/threshold.js'
import type { AbsoluteThreshold, Threshold, ToolThreshold, Operator } from '../grammar/threshold.js'

export interface Judgement {
  readonly threshold: Threshold | ToolThreshold
  readonly verdict: 'passed' | 'failed' | 'inconclusive'
  /** In base units, of the worst scope; only if the verdict is based on it. */
  readonly actual?: number | undefined
  /** As a share of the limit: 0.1 is 10 % below it, -0.55 over it by 55 %; never positive with `==`. Undefined for a limit of 0 not met. */
  readonly margin?: number | undefined
  /** The worst scope, or the first without a number, if a selector matched. */
  readonly scope?: Scope
  readonly scopesChecked: number
  readonly reason: string
  /** Why a line that holds does not count: its times come from failures, for which another line is broken. */
  readonly doubt?: string
  /** What must be said of a line that holds: it breaks over time, and that is a warning only. */
  readonly warning?: string
  readonly comparison?: Comparison
  /** For a percentile, `median` or `apdex` in a scope with stalls: what users who arrived at any moment would have seen at best. */
  readonly overTime?: OverTimeFigure
}

export type OnStall = (typeof ON_STALL)[number]

/** A figure over time beside the same by samples, in base units. Judged by the worse one, `actual` is that one too. */
export interface OverTimeFigure {
  readonly value: number
  readonly bySamples: number
  readonly longest: Stall
  /** What it does to a line that holds by samples and breaks over time, by `on-stall`; `none` where that is not so. */
  readonly effect: 'fails' | 'warns' | 'ignored' | 'none'
}

/** What comparing with the baseline found. Only `holds` and `broken` are a judgement. */
export type ComparisonOutcome = 'holds' | 'broken' | 'unsure' | 'no baseline' | 'not comparable'

/**
 * How a line compares with its baseline, in its worst scope. `changePct`, `interval` and `resolutionPct` are percentages for times
 * and throughput, percentage points for `error_rate` and hundredths for `apdex`; their sign is that of the figure itself.
 */
export interface Comparison {
  readonly outcome: ComparisonOutcome
  /** The figure that the baseline expects, in base units. */
  readonly base?: number | undefined
  /** How many runs (the newest ones), or rounds, that is the mean of. */
  readonly baseRuns: number
  /** How many earlier runs there are, if that is known; how much runs vary is known from all of them. */
  readonly knownBaseRuns?: number
  /** The limit that follows from it, in base units. */
  readonly limit?: number | undefined
  readonly changePct?: number | undefined
  readonly interval?: readonly [low: number, high: number] | undefined
  /** The smallest change that these runs can find nine times out of ten. */
  readonly resolutionPct?: number | undefined
  readonly p?: number | undefined
  /** What an outcome that is not a judgement does to the gate: `fail` makes it inconclusive. */
  readonly ifNotJudged: 'warn' | 'fail' | 'pass'
}

export function leaveUndecided(threshold: Threshold, reason: string): Judgement {
  return {
    threshold,
    verdict: 'inconclusive',
    actual: undefined,
    margin: undefined,
    scopesChecked: 0,
    reason
  }
}

export type Judged = Pick<Judgement, 'threshold' | 'actual' | 'comparison'>

/** The line with its limit as a number; for lines that name `baseline`, the limit that followed from it. Undefined if there is none. */
export function asAbsolute(judged: Pick<Judged, 'threshold' | 'comparison'>): AbsoluteThreshold | undefined {
  const { threshold, comparison } = judged
  if (isAbsoluteThreshold(threshold)) return threshold
  if (comparison?.limit === undefined || !isBaselineThreshold(threshold)) return undefined
  return { ...threshold, value: comparison.limit, unit: factsOf(threshold).units[0] ?? '' }
}

/** Averages and rates have rounding noise in their last bits; real differences are far larger than this. */
const NOISE = 1e-12

/** Negative if the value is below the limit, 0 if they are equal except for rounding noise. */
export function compareToLimit(value: number, limit: number): number {
  const difference = value - limit
  const isNoise = Math.abs(difference) <= NOISE * Math.max(Math.abs(value), Math.abs(limit))
  return isNoise ? 0 : difference
}

/** Whether the value meets the threshold. Anything but a number never does. */
export function holds(
  value: number,
  { operator, value: limit }: Pick<AbsoluteThreshold, 'operator' | 'value'>
): boolean {
  const difference = compareToLimit(value, limit)
  const isHeld: Record<Operator, boolean> = {
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
    '==': difference === 0
  }
  return isHeld[operator]
}

/** Distance to the limit in base units: positive if it holds, negative if it is exceeded. */
export function measureRoom(value: number, { operator, value: limit }: AbsoluteThreshold): number {
  const difference = compareToLimit(value, limit)
  if (operator === '==') return difference === 0 ? 0 : -Math.abs(difference)
  const room = operator === '<' || operator === '<=' ? -difference : difference
  return room === 0 ? 0 : room
}
