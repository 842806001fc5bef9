import { isAbsoluteThreshold } from '../grammar/threshold.js'
import { OF_ASIDE } from '../../results/counts/error-table.js'
import type { ErrorCount, Figures, Measurements, Source, Scope } from '../../results/figures/measurements.js'
import { factsOf, type Metric, type NamedMetric } from '../metrics.js'
import { formatValue } from '../format.js'
import { shorten } from '../../../contract/text.js'
import { compareToLimit, type OnStall, type OverTimeFigure, type Judgement } from './judgement.js'
import { quote } from '../quoting.js'

const SHOWN_GAPS = 3
const SHOWN_HEADER = 200
/** Services round, and some count in their own way; what is further above is not made of these samples. */
const MOST_ABOVE_SAMPLES = 0.1

export interface Evidence {
  readonly apdex: { readonly score: number; readonly targetMs: number | undefined } | undefined
  readonly apdexProblem?: string
  readonly measurements: Measurements | undefined
  /** Why there are no measurements, or why they are incomplete. */
  readonly measurementsProblem?: string
  /** The samples that the measurements leave out, together with the others. */
  readonly warmUp?: { readonly whole: Measurements }
  /** `fail` by default. */
  readonly onStall?: OnStall
}

/** A number, or why there is none. A doubtful number can break a threshold but not satisfy it. */
export type Reading =
  | { readonly actual: number; readonly doubt?: string; readonly overTime?: OverTimeReading }
  | { readonly missing: string }

export interface OverTimeReading {
  readonly figure: OverTimeFigure
  readonly isJudged: boolean
  /** Both figures and the limit; empty if the figure over time is not the worse one. */
  readonly words: string
}

/** The service's own figure: not trusted if complete CSVs have no samples, or if it is far above what these give. */
export function readServiceApdex(evidence: Evidence): Reading {
  const { apdex, apdexProblem, measurements } = evidence
  if (!apdex) return { missing: apdexProblem ?? 'the service gave none' }
  if (!isPossible('apdex', apdex.score))
    return { missing: `the service gave ${apdex.score}, which is not a valid apdex` }
  if (measurements && measurements.sources.length > 0 && !measurements.figures({})) {
    const isWhole = measurements.sources.every(
      (source) => source.problems.length === 0 && source.shape !== 'unknown'
    )
    if (isWhole) return { missing: 'the service gave one, but there are no samples in the CSVs' }
  }
  const overall = describeGaps(evidence) === undefined ? measurements?.figures({}) : undefined
  const doubt = doubtServiceApdex(apdex, overall)
  return { actual: apdex.score, ...(doubt !== undefined && { doubt }) }
}

/** Why a service's apdex is not believed, where all rows that it is made of are there. A lower one is. */
export function doubtServiceApdex(
  { score, targetMs }: { readonly score: number; readonly targetMs: number | undefined },
  overall: Figures | undefined
): string | undefined {
  const own = isTarget(targetMs) ? overall?.apdex(targetMs) : undefined
  if (own === undefined || compareToLimit(score - own, MOST_ABOVE_SAMPLES) <= 0) return undefined
  return `it is ${formatValue('apdex', own)} by the samples, with the same target of ${targetMs ?? ''} ms, so the service's figure is not trusted`
}

/** Why the measurements cannot support a verdict; undefined if they are complete. */
export function describeGaps({ measurements, measurementsProblem }: Evidence): string | undefined {
  if (!measurements) return measurementsProblem ?? 'there are no measurements'
  const gaps = measurements.sources.flatMap((source) => describeSourceGap(source) ?? [])
  if (measurementsProblem !== undefined) gaps.unshift(measurementsProblem)
  if (gaps.length === 0) return undefined
  const rest = gaps.length - SHOWN_GAPS
  return gaps.slice(0, SHOWN_GAPS).join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

function describeSourceGap({ grid, region, shape, header, rows, problems }: Source): string | undefined {
  const subject = `the CSV of grid ${shorten(grid)} (${shorten(region)})`
  if (shape === 'unknown') {
    const found = header === '' ? 'it has no header' : `its header is "${shorten(header, SHOWN_HEADER)}"`
    return [`${subject} has an unknown format: ${found}`, ...problems].join(', ')
  }
  if (problems.length > 0) return `${subject} is incomplete: ${problems.join(', ')}`
  // A grid without rows did not take part in the load that the threshold is about.
  return rows === 0 ? `${subject} has no rows` : undefined
}

export function readFigure(
  threshold: NamedMetric,
  figures: Figures | undefined,
  evidence: Evidence
): Reading {
  if (!figures || !(figures.samples > 0)) return { missing: 'there are no samples' }
  if (threshold.metric === 'apdex' && !isTarget(evidence.apdex?.targetMs))
    return { missing: "the target is unknown: it is the number in brackets in the service's apdex" }
  const { percentile } = threshold
  const actual = factsOf(threshold).read(figures, { percentile, targetMs: evidence.apdex?.targetMs })
  if (actual === undefined) {
    const why = threshold.metric === 'throughput' ? explainNoRate(figures, evidence) : undefined
    return { missing: why ?? 'not available in this CSV' }
  }
  return isPossible(threshold.metric, actual)
    ? { actual }
    : { missing: `the result is ${actual}, which is impossible` }
}

function explainNoRate({ isAside }: Figures, { measurements }: Evidence): string | undefined {
  if (isAside) return 'samples of setUp and tearDown thread groups are outside the time of the load'
  return measurements?.areClocksApart
    ? 'the clocks of the grids differ, so the time that all of them took together is unknown'
    : undefined
}

function isPossible(metric: Metric, actual: number): boolean {
  return Number.isFinite(actual) && actual >= 0 && actual <= (factsOf({ metric }).largest ?? Infinity)
}

function isTarget(targetMs: number | undefined): targetMs is number {
  return targetMs !== undefined && targetMs > 0 && Number.isFinite(targetMs)
}

/** More than half of the samples. */
export function mostlyFailed({ samples, failures }: Pick<Figures, 'samples' | 'failures'>): boolean {
  return failures * 2 > samples
}

/** `so response times say little` */
export function sayLittle(line: Pick<NamedMetric, 'metric' | 'name'>): string {
  return factsOf(line).isTime ? 'response times say little' : `${line.name} says little`
}

/** Whether the gate already fails because of its failures, so that nothing depends on meaningless figures. */
export function failsForFailures(judgements: readonly Judgement[]): boolean {
  return judgements.some(
    ({ verdict, threshold }) =>
      verdict === 'failed' &&
      threshold.level === 'fail' &&
      isAbsoluteThreshold(threshold) &&
      factsOf(threshold).showsFailures
  )
}

/** Why a figure of a scope proves nothing: it is that of failed requests. Undefined if it is fine. */
export function doubtFailed(line: NamedMetric, measurements: Measurements, scope: Scope): string | undefined {
  const figures = measurements.figures(scope)
  if (!factsOf(line).needsSuccess || figures === undefined || !mostlyFailed(figures)) return undefined
  const isOfFigures = ({ message }: ErrorCount): boolean =>
    figures.isAside === true || !message.endsWith(OF_ASIDE)
  const first = measurements.errors(scope).find(isOfFigures)
  const words = first && [first.code, first.message].filter((text) => text.trim() !== '').map(quote)
  const most = words === undefined || words.length === 0 ? '' : `, most often with ${words.join(' ')}`
  return `${figures.failures} of ${figures.samples} samples failed${most}, so ${sayLittle(line)}`
}
