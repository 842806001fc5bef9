import type {
  ErrorCount,
  Measurements,
  Source,
  TimeSeries
} from '../analysis/results/figures/measurements.js'
import { formatActual } from '../analysis/thresholds/format.js'
import { asAbsolute, type Judgement, type OverTimeFigure } from '../analysis/thresholds/judge/judgement.js'
import {
  baselineFactsDocument,
  comparisonDocument,
  trendDocument,
  type BaselineFactsDocument,
  type ComparisonDocument,
  type TrendDocument
} from './baseline-document.js'
import { topErrors, worstFirst } from './rows.js'
import { metricsDocument, type MetricsDocument } from './figures-document.js'
import {
  type GridFacts,
  type NodeFacts,
  type Outcome,
  type RunFacts,
  type StoppedEarly,
  type Verdict,
  REHEARSAL
} from '../analysis/outcome.js'
import { bytesOf, cutToBytes } from './escape.js'
import { stallsDocument, type StallsDocument } from './stalls.js'
import { listSources } from './warm-up.js'

/** Raised when a reader of the old format would misread the new one. */
const SCHEMA = 1
/** A larger output breaks the environment of the next step. */
const MOST_OUTPUT_BYTES = 64 * 1024
const MOST_ERRORS = 1000
const MOST_TEXT_BYTES = 500

export interface ThresholdDocument extends Partial<ComparisonDocument> {
  readonly text: string
  readonly level: 'fail' | 'warn'
  readonly verdict: Judgement['verdict']
  /** In base units: ms, a ratio, per second, or plain. */
  readonly actual: number | null
  readonly actual_text: string | null
  /** Null for a line that names `baseline` when there is none. */
  readonly limit: number | null
  readonly margin: number | null
  readonly scope: Judgement['scope'] | null
  readonly reason: string
  /** The figure that users who arrived at any moment would have seen at best, in base units; only where there were stalls. */
  readonly over_time?: number
  /** The figure of the requests that were sent. */
  readonly by_samples?: number
  readonly stall_effect?: OverTimeFigure['effect']
}

/** How often samples failed for one reason; the label is null for all other reasons combined. */
export interface ErrorDocument extends Omit<ErrorCount, 'label'> {
  readonly label: string | null
}

export interface WarmUpDocument {
  readonly seconds: number
  readonly samples: number
  readonly failures: number
}

/** `verdict.json`, described by `schema/verdict.schema.json`. */
export interface VerdictDocument {
  readonly schema: number
  readonly verdict: Verdict
  readonly reason: string
  readonly rehearsal: boolean
  readonly note: string | null
  readonly 'run-id': string | null
  readonly 'run-url': string | null
  readonly status: string | null
  readonly run: RunFacts | null
  readonly apdex: number | null
  readonly 'apdex-target': number | null
  readonly summary: string | null
  readonly means: Readonly<Record<string, number>>
  readonly metrics: MetricsDocument
  readonly series: TimeSeries | null
  readonly sources: readonly Source[]
  readonly errors: readonly ErrorDocument[]
  readonly thresholds: readonly ThresholdDocument[]
  readonly grids: readonly GridFacts[]
  /** Where the load came from, if the service says so. */
  readonly nodes: readonly NodeFacts[]
  readonly warnings: readonly string[]
  readonly remote_errors: readonly string[]
  readonly notes: readonly string[]
  readonly baseline: BaselineFactsDocument | null
  /** Where no line names `baseline`: how such lines would have come out. Not part of the verdict. */
  readonly shown_comparisons: readonly ThresholdDocument[]
  readonly trend: TrendDocument | null
  /** What was left out of all figures; null without a warm-up. */
  readonly warm_up: WarmUpDocument | null
  /** When users waited and nothing was answered; null if that is not known. */
  readonly stalls: StallsDocument | null
  readonly stopped_early: StoppedEarly | null
  readonly 'saved-seconds': number | null
}

export function verdictDocument(outcome: Outcome): VerdictDocument {
  const { measurements, apdex, run } = outcome
  return {
    schema: SCHEMA,
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
    errors: topErrors(measurements, MOST_ERRORS).map(({ label, ...error }) => ({
      label: label ?? null,
      ...error
    })),
    thresholds: outcome.judgements.map(thresholdDocument),
    grids: outcome.grids,
    nodes: outcome.nodes ?? [],
    warnings: outcome.warnings,
    remote_errors: outcome.remoteErrors,
    notes: outcome.notes,
    baseline: outcome.baseline === undefined ? null : baselineFactsDocument(outcome.baseline),
    shown_comparisons: (outcome.shownComparisons ?? []).map(thresholdDocument),
    trend: trendDocument(outcome.trend),
    warm_up: warmUpDocument(outcome),
    stalls: stallsDocument(outcome),
    stopped_early: outcome.stoppedEarly ?? null,
    'saved-seconds': outcome.stoppedEarly?.savedSeconds ?? null
  }
}

function warmUpDocument({ warmUp }: Outcome): WarmUpDocument | null {
  if (warmUp === undefined) return null
  const { ms, samples, failures } = warmUp
  return { seconds: ms / 1000, samples, failures }
}

function thresholdDocument(judgement: Judgement): ThresholdDocument {
  const { threshold, verdict, actual, margin, scope, reason, comparison, overTime } = judgement
  return {
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
function shorten(document: ThresholdDocument): ThresholdDocument {
  const { text, actual_text, scope, reason } = document
  return {
    ...document,
    text: cutText(text),
    actual_text: actual_text === null ? null : cutText(actual_text),
    scope:
      scope === null || scope === undefined
        ? null
        : Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, cutText(String(value))])),
    reason: cutText(reason)
  }
}

function cutText(text: string): string {
  const kept = cutToBytes(text, MOST_TEXT_BYTES)
  return kept === text ? text : `${kept}…`
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
