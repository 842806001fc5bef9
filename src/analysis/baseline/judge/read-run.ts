import type { Scope } from '../../results/figures/measurements.js'
import { factsOf } from '../../thresholds/metrics.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { doubtServiceApdex, mostlyFailed, sayLittle } from '../../thresholds/judge/evidence.js'
import type { ComparedRun } from './sides.js'
import { addUp, type Counted } from '../statistics/classify.js'
import { scaleOf, toScale } from '../statistics/scale.js'
import { formatValue } from '../../thresholds/format.js'

/** A line's figure in one run, on the scale where up is worse. */
export interface Reading extends Counted {
  readonly y: number
  /** In base units. */
  readonly figure: number
  readonly doubt?: string
  readonly recorded?: ComparedRun['recorded']
}

/** Undefined if the run cannot give the figure. `targetMs` is that of the apdex. */
export function readRun(
  threshold: BaselineThreshold,
  run: ComparedRun,
  scope: Scope,
  targetMs: number | undefined
): Reading | undefined {
  const figures = run.figures(scope)
  if (figures?.samples === 0) return undefined
  const isApdex = threshold.metric === 'apdex'
  const figure = isApdex
    ? readApdex(run, scope, targetMs)
    : figures && factsOf(threshold).read(figures, threshold)
  const y = toScale(scaleOf(threshold.metric), figure)
  if (figure === undefined || y === undefined) return undefined
  // A service's apdex may come without CSVs; it is of all samples, however many these are.
  const counted = { samples: figures?.samples ?? Infinity, failures: figures?.failures ?? 0 }
  // Only runs whose rows are all there are compared.
  const doubt = isApdex && isOverall(scope) && run.apdex ? doubtServiceApdex(run.apdex, figures) : undefined
  const { recorded } = run
  return { y, figure, ...counted, ...(recorded && { recorded }), ...(doubt !== undefined && { doubt }) }
}

function readApdex(run: ComparedRun, scope: Scope, targetMs: number | undefined): number | undefined {
  if (run.apdex === undefined || run.apdex.targetMs !== targetMs) return undefined
  return isOverall(scope) ? run.apdex.score : run.figures(scope)?.apdex(targetMs)
}

function isOverall(scope: Scope): boolean {
  return Object.keys(scope).length === 0
}

export function hasSamples(run: ComparedRun, scope: Scope): boolean {
  return (run.figures(scope)?.samples ?? 0) > 0
}

/** A base fails more often than the head by more than this and at least so many times as often: its figures are those of failures. */
const FURTHER_FAILURES_OF_BASE = 0.01
const TIMES_AS_MANY = 2
/** A head may: its failures are a finding, but from here on they make up for others that got slower. */
const FURTHER_FAILURES_OF_HEAD = 0.05

/** Whether the line cannot be compared with this base: a fast failure is not a fast response, and a timeout is not a slow one. */
export function isNoBase(line: BaselineThreshold, base: Reading, head: Counted): boolean {
  if (!factsOf(line).needsSuccess) return false
  return base.doubt !== undefined || mostlyFailed(base) || failsMore(base, head)
}

function failsMore(base: Counted, head: Counted): boolean {
  const [before, now] = [rateOf(base), rateOf(head)]
  return before - now > FURTHER_FAILURES_OF_BASE && before >= TIMES_AS_MANY * now
}

/** What was left out of the base, in a clause; `of` is how many there are, and `what` what they are called. */
export function describeLeftOut(
  left: readonly { readonly base: Reading; readonly head: Counted }[],
  of: number,
  what: 'recorded runs' | 'rounds'
): string {
  const share = `${left.length} of ${of} ${what} ${left.length === 1 ? 'is' : 'are'} left out`
  const failing = left.filter(({ base, head }) => mostlyFailed(base) || failsMore(base, head))
  const [first] = left
  if (failing.length === 0)
    return `${share}, as the apdex of the base is not trusted: ${first?.base.doubt ?? ''}`
  const [before, now] = [failing.map(({ base }) => base), failing.map(({ head }) => head)].map((side) =>
    formatValue('error_rate', rateOf(addUp(side)))
  )
  return `${share}, as more samples of the base failed (${before ?? ''}, and ${now ?? ''} of the head's)`
}

/** Why the head's figure says little: most samples of a run or round failed, or its apdex is not believed. */
export function doubtHead(
  line: BaselineThreshold,
  readings: readonly Reading[],
  what: 'runs' | 'rounds'
): string | undefined {
  if (!factsOf(line).needsSuccess) return undefined
  const failed = readings.filter(mostlyFailed)
  const doubts = readings.flatMap(({ doubt }) => doubt ?? [])
  if (failed.length === 0) return doubts[0]
  const { samples, failures } = addUp(failed)
  const where = failed.length === readings.length ? '' : ` in ${failed.length} of ${readings.length} ${what}`
  return `${failures} of ${samples} samples failed${where}, so ${sayLittle(line)}`
}

/** Requests that fail at once make up for others that got slower. */
export function describeUneven(
  line: BaselineThreshold,
  base: readonly Counted[],
  head: readonly Counted[]
): string | undefined {
  const before = rateOf(addUp(base))
  const now = Math.max(...head.map(rateOf))
  if (!factsOf(line).needsSuccess || !(now - before > FURTHER_FAILURES_OF_HEAD)) return undefined
  const rate = (share: number): string => formatValue('error_rate', share)
  return `${rate(now)} of the samples failed and ${rate(before)} of the baseline's, so ${sayLittle(line)}`
}

function rateOf({ samples, failures }: Counted): number {
  return failures / samples
}
