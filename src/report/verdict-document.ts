import type {
  BothFigures,
  FiguresDocument,
  MetricsDocument,
  ThresholdDocument,
  VerdictDocument
} from '../contract/verdict.js'
import type { ErrorCount, Figures, Measurements, Scope } from '../analysis/results/figures/measurements.js'
import { formatActual } from '../analysis/thresholds/format.js'
import { asAbsolute, type Comparison, type Judgement } from '../analysis/thresholds/judge/judgement.js'
import { topErrors, worstFirst } from './rows.js'
import { factsOf, figureOf, METRIC_WORDS, metricNamed } from '../analysis/thresholds/metrics.js'
import { type BaselineFacts, type Outcome, REHEARSAL } from '../analysis/outcome.js'
import type { LabelChanges } from '../analysis/baseline/compare-labels.js'
import type { Band, Trend } from '../analysis/baseline/build-trend.js'
import { bytesOf, cutText } from './escape.js'
import { stallsDocument } from './stalls.js'
import { listSources } from './sentences.js'

/** A larger output breaks the environment of the next step. */
const MOST_OUTPUT_BYTES = 64 * 1024
const MOST_ERRORS = 1000
const MOST_TEXT_BYTES = 500

/** `verdict.json`; `schema/verdict.schema.json` says what its fields mean. */
export function verdictDocument(outcome: Outcome): VerdictDocument {
  const { measurements, apdex, run, warmUp } = outcome
  return {
    schema: 1,
    verdict: outcome.verdict,
    reason: outcome.reason,
    rehearsal: outcome.rehearsal,
    note: outcome.rehearsal ? REHEARSAL : null,
    'run-id': run?.id ?? null,
    'run-url': run?.url ?? null,
    status: run?.status ?? null,
    run: run ?? null,
    apdex: apdex?.score ?? null,
    'apdex-target': apdex?.targetMs ?? null,
    summary: outcome.summary ?? null,
    means: outcome.means,
    metrics: metricsDocument(measurements, apdex?.targetMs),
    series: measurements?.series ?? null,
    sources: listSources(outcome),
    errors: topErrors(measurements, MOST_ERRORS).map(({ label, ...error }: ErrorCount) => ({
      label: label ?? null,
      ...error
    })),
    details: outcome.details ?? null,
    thresholds: outcome.judgements.map(thresholdDocument),
    grids: outcome.grids,
    nodes: outcome.nodes ?? [],
    warnings: outcome.warnings,
    remote_errors: outcome.remoteErrors,
    notes: outcome.notes,
    baseline: outcome.baseline === undefined ? null : baselineFactsDocument(outcome.baseline),
    shown_comparisons: (outcome.shownComparisons ?? []).map(thresholdDocument),
    label_changes: outcome.labelChanges === undefined ? null : labelChangesDocument(outcome.labelChanges),
    trend: outcome.trend === undefined ? null : trendDocument(outcome.trend),
    warm_up: warmUp
      ? { seconds: warmUp.ms / 1000, samples: warmUp.samples, failures: warmUp.failures }
      : null,
    stalls: stallsDocument(outcome),
    stopped_early: outcome.stoppedEarly ?? null,
    'saved-seconds': outcome.stoppedEarly?.savedSeconds ?? null
  }
}

/** A list of numbers, one below the other, as `JSON.stringify` writes it: no line of a string looks like it. */
const NUMBERS = /\[\n\s+(?:(?:-?[\d.]+(?:e[+-]\d+)?|null),?\s+)+\]/g

/** The document as text for people and machines: lists of numbers are on one line. */
export function printVerdict(outcome: Outcome): string {
  const text = JSON.stringify(verdictDocument(outcome), null, 2)
  return `${text.replace(NUMBERS, (list) => list.replace(/\s+/g, '').replaceAll(',', ', '))}\n`
}

/** In base units: ms, a ratio, per second, or plain. */
function thresholdDocument(judgement: Judgement): ThresholdDocument {
  const { threshold, verdict, actual, margin, scope, reason, comparison, overTime } = judgement
  const document = {
    text: threshold.text,
    level: threshold.level,
    verdict,
    actual: actual ?? null,
    actual_text: formatActual(judgement) || null,
    limit: asAbsolute(judgement)?.value ?? null,
    margin: margin ?? null,
    scope: scope ?? null,
    reason,
    ...(comparison && comparisonDocument(comparison)),
    ...(overTime && {
      over_time: overTime.value,
      by_samples: overTime.bySamples,
      stall_effect: overTime.effect
    })
  }
  // One that names no baseline has a limit.
  return document as ThresholdDocument
}

function comparisonDocument(comparison: Comparison) {
  const { outcome, base, baseRuns, changePct, resolutionPct, p } = comparison
  const interval = comparison.interval?.every(Number.isFinite) ? comparison.interval : undefined
  return nulls({ outcome, base, baseRuns, changePct, interval, resolutionPct, p })
}

export function baselineFactsDocument(facts: BaselineFacts) {
  const { state, kind, branch, commit, runs, reason, notes, fingerprint } = facts
  return nulls({ state, kind, branch, commit, runs, reason, notes, fingerprint })
}

/** Six digits are more than anyone reads. */
function labelChangesDocument({ metric, rows, leftOut }: LabelChanges): VerdictDocument['label_changes'] {
  const round = (value: number | null): number | null =>
    value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(6))
  return {
    metric,
    rows: rows.map((row) => ({
      ...row,
      ...{ base: round(row.base), head: round(row.head), changePct: round(row.changePct) },
      interval: row.interval && [round(row.interval[0]) ?? 0, round(row.interval[1]) ?? 0]
    })),
    leftOut
  }
}

function trendDocument({ branch, points, bands }: Trend) {
  const { p95Ms, throughput, errorRate } = bands
  const known = (band: Band | undefined): Band | undefined =>
    band !== undefined && Object.values(band).every(Number.isFinite) ? band : undefined
  return {
    branch,
    points: points.map((point) => nulls({ ...point })),
    bands: nulls({ p95Ms: known(p95Ms), throughput: known(throughput), errorRate: known(errorRate) })
  }
}

/** The `metrics` output: everything, or as many labels as fit. */
export function metricsOutput(measurements: Measurements | undefined, targetMs: number | undefined): string {
  const metrics = metricsDocument(measurements, targetMs)
  const whole = JSON.stringify(metrics)
  if (bytesOf(whole) <= MOST_OUTPUT_BYTES) return whole
  const { labels, ...rest } = metrics
  const isRoomy = bytesOf(JSON.stringify(rest)) <= MOST_OUTPUT_BYTES / 2
  const base = isRoomy ? rest : { ...rest, regions: [], grids: [] }
  return fitList(labels, (kept) => ({ ...base, labels: kept, truncated: true }))
}

/** The `thresholds` output: a list, or as much of it as fits, broken ones first, in an object that says so. */
export function thresholdsOutput(judgements: readonly Judgement[]): string {
  const whole = JSON.stringify(judgements.map(thresholdDocument))
  if (bytesOf(whole) <= MOST_OUTPUT_BYTES) return whole
  return fitList(worstFirst(judgements).map(thresholdDocument).map(shorten), (kept) => ({
    truncated: true,
    thresholds: kept
  }))
}

/** A label may be a megabyte long, and the threshold that it breaks must still be in the list. */
function shorten(document: ReturnType<typeof thresholdDocument>): object {
  const { text, actual_text, scope, reason } = document
  return {
    ...document,
    text: cutText(text, MOST_TEXT_BYTES),
    actual_text: actual_text === null ? null : cutText(actual_text, MOST_TEXT_BYTES),
    scope:
      scope &&
      Object.fromEntries(
        Object.entries(scope).map(([name, value]) => [name, cutText(String(value), MOST_TEXT_BYTES)])
      ),
    reason: cutText(reason, MOST_TEXT_BYTES)
  }
}

/** The longest prefix of a list whose document fits, by binary search. */
function fitList<T>(list: readonly T[], documentOf: (kept: readonly T[]) => unknown): string {
  let fits = 0
  let tooMany = list.length + 1
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2)
    if (bytesOf(JSON.stringify(documentOf(list.slice(0, middle)))) <= MOST_OUTPUT_BYTES) fits = middle
    else tooMany = middle
  }
  return JSON.stringify(documentOf(list.slice(0, fits)))
}

const NAMES = [...METRIC_WORDS, 'p90', 'p95', 'p99'] as const

/** JSON has neither undefined nor infinity. */
function nulls<T extends object>(fields: T) {
  const isUnknown = (value: unknown): boolean =>
    value === undefined || (typeof value === 'number' && !Number.isFinite(value))
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isUnknown(value) ? null : (value as unknown)])
  ) as { readonly [K in keyof T]: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] }
}

/** Labels with the most samples come first, so that truncation keeps what matters most. */
export function metricsDocument(measurements?: Measurements, targetMs?: number): MetricsDocument {
  const scoped = (scopes: readonly Scope[] = []) =>
    scopes.flatMap((scope) => {
      const figures = measurements?.figures(scope)
      return figures === undefined ? [] : [{ ...scope, ...bothFigures(figures, targetMs) }]
    })
  return {
    overall: scoped([{}])[0] ?? null,
    labels: scoped(measurements?.labels.map((label) => ({ label }))).sort((a, b) => b.samples - a.samples),
    regions: scoped(measurements?.regions.map((region) => ({ region }))),
    grids: scoped(measurements?.grids.map((grid) => ({ grid })))
  }
}

/** One scope's figures; null for what the CSVs do not contain. */
export function figuresDocument(figures: Figures, targetMs: number | undefined): FiguresDocument {
  return Object.fromEntries(
    NAMES.map((name) => [name, figureOf(name, figures, targetMs) ?? null])
  ) as unknown as FiguresDocument
}

/** With the same for users who arrived at any moment, at best, if that is known. */
function bothFigures(figures: Figures, targetMs: number | undefined): BothFigures {
  const overTime = figures.overTime()
  const bySamples = figuresDocument(figures, targetMs)
  const entries = NAMES.flatMap((name): [string, number | null][] => {
    const line = metricNamed(name)
    const { readOverTime } = line ? factsOf(line) : {}
    return typeof overTime === 'object' && readOverTime
      ? [[name, readOverTime(overTime, { ...line, targetMs }) ?? null]]
      : []
  })
  return {
    ...bySamples,
    ...(typeof overTime === 'object' && {
      over_time: Object.fromEntries(entries) as unknown as BothFigures['over_time'] & object
    })
  }
}
