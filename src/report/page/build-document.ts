import { isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { Measurements, Scope, TimeSeries } from '../../analysis/results/figures/measurements.js'
import { asAbsolute, type Judgement } from '../../analysis/thresholds/judge/judgement.js'
import { matchesPattern } from '../../analysis/thresholds/judge/scopes.js'
import { factsOf, metricNamed } from '../../analysis/thresholds/metrics.js'
import {
  baselineSentences,
  countNotJudged,
  explainEarlyStop,
  reasonBelowHeading,
  formatTime,
  listSources,
  warmUpSentence,
  listWarnings
} from '../sentences.js'
import {
  errorRows,
  judgementRows,
  wordOf,
  worstFirst,
  EVERY_REGION_IS_HERE,
  nodeRows,
  nodesToShow
} from '../rows.js'
import { safeLink, shortenCommit } from '../escape.js'
import type { FiguresDocument } from '../../contract/verdict.js'
import { figuresDocument } from '../verdict-document.js'
import { REHEARSAL, type Outcome, type RunFacts, type Verdict } from '../../analysis/outcome.js'
import type { WarmUpFacts } from '../../analysis/outcome.js'
import { boundTrend } from '../trend-points.js'
import { describeStalls, placeStalls } from '../stalls.js'
import type { RunLinks } from './served/run-links.js'
import { makeEdges, makeHistogram, makeSpark, makeZones } from './distribution.js'
import { labelChangesPart } from './label-changes.js'
import { formatElapsed, bucketStart, findOrigin } from './numbers.js'

/** A browser easily shows this many rows; those with the fewest samples are left out and counted. */
const MOST_LABELS = 5_000
/** Rows of all regions and grids together: computing their figures takes time. */
const MOST_PART_LABELS = 2_000
const MOST_NODES = 500
const MOST_ERRORS = 20
const MOST_SHOWN_COMPARISONS = 10
/** JSON has no infinity. */
const FARTHEST = 1e9

/** The status of a run that has no verdict, or not yet. */
export type RunStatus = 'queued' | 'running' | 'stopping' | 'finished' | 'problem'

/** A service that judges leaves comparisons with a baseline to the gate. */
export type Headline = Verdict | RunStatus | 'left to the gate'

/** An outcome, or what is known about a run without a verdict. */
export type Shown = Omit<Outcome, 'verdict' | 'means'> & { readonly verdict: Headline }

export interface Live {
  /** Since the first sample; null until there is one. */
  readonly elapsedMs: number | null
  /** Null if its duration is unknown. */
  readonly durationMs: number | null
  /** Null until there are samples. */
  readonly now: {
    /** For throughput and failures. */
    readonly windowMs: number
    readonly throughput: number
    readonly failures: number
    /** The last point of the chart, which is this wide. */
    readonly bucketMs: number
    readonly p95Ms: number | null
  } | null
  /** For how long nothing has been answered, in words; null while that is nothing unusual. */
  readonly quiet: string | null
}

/** Everything the page shows, as its embedded data and as the updates of an open page; `live` only while the run is in progress. */
export type PageDocument = ReturnType<typeof buildPageDocument> & {
  readonly live?: Live
  /** Of a service's page only. */
  readonly links?: RunLinks
}

export function buildPageDocument(outcome: Shown) {
  const { measurements, run, apdex } = outcome
  const shownNodes = nodesToShow(outcome.nodes)
  const nodes = nodeRows(shownNodes, MOST_NODES)
  return {
    headline: outcome.verdict,
    reason: reasonBelowHeading(outcome),
    rehearsal: outcome.rehearsal ? REHEARSAL : null,
    warnings: listWarnings(outcome),
    notes: [
      ...(outcome.stoppedEarly === undefined ? [] : [explainEarlyStop(outcome.stoppedEarly)]),
      ...outcome.notes
    ],
    run: run === undefined ? null : describeRun(run, outcome),
    apdex: apdex ?? null,
    summary: outcome.summary ?? null,
    thresholds: thresholdRows(outcome.judgements, outcome.baseline),
    /** How many of them the baseline gave no judgement on. */
    notJudged: countNotJudged(outcome.judgements),
    /** Where none of them names a baseline: the comparison to show. */
    shownComparisons: thresholdRows(outcome.shownComparisons ?? [], outcome.baseline)
      .filter(({ comparison }) => comparison !== undefined && comparison.baseFrom !== '')
      .slice(0, MOST_SHOWN_COMPARISONS),
    baselineSentences: baselineSentences(outcome.baseline),
    labelChanges: labelChangesPart(outcome),
    trend: boundTrend(outcome.trend) ?? null,
    stoppedEarly: outcome.stoppedEarly ?? null,
    errors: errorRows(measurements, MOST_ERRORS),
    /** From a second reading of the CSVs, without the warm-up; null if there was none. */
    details: describeDetails(outcome),
    ...describeTimes(outcome),
    /** First all samples, then each region and each grid if there are several. */
    views: measurements === undefined ? [] : listViews(measurements, outcome),
    grids: outcome.grids.map((grid) => ({ ...grid, lostNodes: countLost(outcome.nodes, grid.gridId) })),
    nodes,
    nodesLeftOut: shownNodes.length - nodes.length,
    placeNote: outcome.isAllHere ? EVERY_REGION_IS_HERE : null,
    sources: listSources(outcome)
  }
}

/** The charts show the whole run; where its warm-up has no place on their axis, only what counts. */
function describeTimes(outcome: Shown) {
  const { measurements, warmUp } = outcome
  const aligned = warmUp && alignCounted(warmUp, measurements)
  const shown = aligned === undefined ? measurements : warmUp?.whole
  const sentence = warmUpSentence(outcome)
  const stalls = describeStalls(outcome)
  return {
    /** Epoch ms at the start of the axis; null where it has no time of day, as several runs are laid end to end. */
    startMs: (shown && findOrigin(shown)) ?? null,
    /** Where each of them but the first begins. */
    seamsMs: shown?.seamsMs ?? [],
    series: shown?.series ?? null,
    warmUp:
      sentence === undefined
        ? null
        : // Where it ends on the axis of the series, and what counts in its buckets; null if it is not among what the series shows.
          { sentence, untilMs: aligned?.untilMs ?? null, counted: aligned?.counted ?? null },
    stalls: stalls === undefined ? null : { ...stalls, bands: placeStalls(outcome, shown) }
  }
}

export type PageDetails = NonNullable<ReturnType<typeof describeDetails>>

function describeDetails(outcome: Shown) {
  const { details, measurements, apdex, warmUp, judgements } = outcome
  const all = measurements?.figures({})
  if (details === undefined || measurements === undefined || all === undefined) return null
  const { minMs = 1, maxMs = 1 } = all
  const edges = makeEdges(minMs, maxMs)
  const whole = warmUp && alignCounted(warmUp, measurements) && placeSeries(warmUp.whole)
  const counted = placeSeries(measurements)
  return {
    /** Where the axis of these series begins on that of the page's series: later by a warm-up. */
    offsetMs: whole && counted ? counted.originMs - whole.originMs : 0,
    overall: details.overall,
    labels: details.labels.flatMap(({ label, why, series }) => {
      const figures = measurements.figures({ label })
      if (figures === undefined) return []
      return [
        {
          ...{ label, why, series },
          figures: shorten(figuresDocument(figures, apdex?.targetMs)),
          /** On the edges of all samples. */
          histogram: makeHistogram(figures, edges) ?? null,
          zones: (apdex && makeZones(figures, apdex.targetMs)) ?? null,
          limits: limitsOf(judgements, { kind: 'label', name: label }),
          errors: errorRows(measurements, MOST_ERRORS, { label })
        }
      ]
    }),
    failures: details.failures
  }
}

function countLost(nodes: Shown['nodes'] = [], gridId: string): number {
  return nodes.filter(({ grid, lost }) => grid === gridId && lost !== null).length
}

function describeRun(run: RunFacts, { trend, baseline }: Pick<Shown, 'trend' | 'baseline'>) {
  const short = (commit = '') => (commit === '' ? undefined : shortenCommit(commit))
  const { startedMs, stoppedMs, durationSeconds } = run
  const facts: [string, string | undefined][] = [
    ['Status', run.status],
    ['Tool', run.tool],
    ['Threads', run.threads?.toString()],
    ['Requested duration', durationSeconds === undefined ? undefined : formatElapsed(durationSeconds)],
    ['Started by', run.user],
    ['Started', startedMs === undefined ? undefined : formatTime(startedMs)],
    ['Stopped', stoppedMs === undefined ? undefined : formatTime(stoppedMs)],
    ['Commit', short(trend?.points.find(({ isHead }) => isHead)?.commit)],
    ['Base commit', short(baseline?.commit)]
  ]
  return {
    id: run.id,
    url: safeLink(run.url) ?? null,
    name: run.name ?? null,
    facts: facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  }
}

export type ThresholdRow = ReturnType<typeof thresholdRows>[number]

function thresholdRows(judgements: readonly Judgement[], baseline: Shown['baseline']) {
  const ordered = worstFirst(judgements)
  return judgementRows(ordered, baseline).map((row, i) => {
    const judgement = ordered[i]
    const actual = judgement?.actual
    const limit = judgement && asAbsolute(judgement)?.value
    const hasRatio = limit !== undefined && actual !== undefined && limit > 0
    return {
      ...row,
      /** The actual value as a multiple of the limit; null if there is none. */
      ratio: hasRatio ? actual / limit : null,
      change: (judgement && changeOf(judgement)) ?? null
    }
  })
}

/** In the units of a comparison; undefined if nothing was compared. */
function changeOf({ comparison, threshold }: Judgement) {
  if (comparison?.changePct === undefined || !isBaselineThreshold(threshold)) return undefined
  const { changePct, interval, base, limit } = comparison
  const [low, high] = interval ?? [changePct, changePct]
  const { baseline: rule } = factsOf(threshold)
  const isShare = typeof rule === 'object' && !rule.units.includes('%')
  const distance = base === undefined || limit === undefined ? undefined : limit - base
  const limitPct =
    distance === undefined || base === undefined ? NaN : (isShare ? distance : distance / base) * 100
  const finite = (value: number): number => Math.max(-FARTHEST, Math.min(FARTHEST, value))
  return {
    pct: changePct,
    low: finite(low),
    high: finite(high),
    /** The change that the threshold allows; null if it is unknown. */
    limitPct: Number.isFinite(limitPct) ? limitPct : null
  }
}

interface Part {
  readonly kind: 'all' | 'region' | 'grid'
  readonly name: string
}

export type View = NonNullable<ReturnType<typeof makeView>>
export type LabelRow = View['labels'][number]
export type Limit = View['limits'][number]

function listViews(measurements: Measurements, outcome: Shown): View[] {
  const { regions, grids } = measurements
  const parts: Part[] = [
    ...(regions.length > 1 ? regions.map((name) => ({ kind: 'region' as const, name })) : []),
    ...(grids.length > 1 ? grids.map((name) => ({ kind: 'grid' as const, name })) : [])
  ]
  const labelled = labelsBySamples(measurements).slice(0, MOST_LABELS)
  const all = makeView(measurements, outcome, { kind: 'all', name: 'all samples', labels: labelled })
  if (all === undefined) return []
  const most = Math.ceil(MOST_PART_LABELS / Math.max(1, parts.length))
  const labels = all.labels.slice(0, most).map(({ label }) => label)
  return [all, ...parts.flatMap((part) => makeView(measurements, outcome, { ...part, labels }) ?? [])]
}

function labelsBySamples(measurements: Measurements): string[] {
  return measurements.labels
    .map((label) => ({ label, samples: measurements.figures({ label })?.samples ?? 0 }))
    .sort((a, b) => b.samples - a.samples)
    .map(({ label }) => label)
}

function makeView(
  measurements: Measurements,
  { apdex, judgements }: Shown,
  { kind, name, labels }: Part & { labels: readonly string[] }
) {
  const scope: Scope = kind === 'all' ? {} : { [kind]: name }
  const figures = measurements.figures(scope)
  if (figures === undefined) return undefined
  // That of all samples, so that the charts of different views are comparable.
  const { minMs = 1, maxMs = 1 } = measurements.figures({}) ?? figures
  const rows = labels.flatMap((label) => {
    const found = measurements.figures({ ...scope, label })
    if (found === undefined) return []
    const documented = shorten(figuresDocument(found, apdex?.targetMs))
    // Some samples are of setUp and tearDown groups, and not in the charts.
    const isAside = found.isAside ? 1 : null
    return [{ label, ...documented, isAside, spark: makeSpark(found, [minMs, maxMs]) }]
  })
  return {
    kind,
    name,
    figures: shorten(figuresDocument(figures, apdex?.targetMs)),
    histogram: makeHistogram(figures, makeEdges(minMs, maxMs)) ?? null,
    zones: (apdex && makeZones(figures, apdex.targetMs)) ?? null,
    limits: limitsOf(judgements, { kind, name }),
    labels: rows.sort((a, b) => b.samples - a.samples),
    /** How many labels with fewer samples are left out. */
    labelsLeftOut: measurements.labels.length - labels.length
  }
}

function limitsOf(
  judgements: readonly Judgement[],
  { kind, name }: { kind: Part['kind'] | 'label'; name: string }
) {
  const aboutView = judgements.filter(({ threshold }) => {
    if ('isToolLine' in threshold) return false
    const { selector } = threshold
    const keys = Object.keys(selector)
    if (!factsOf(threshold).isTime) return false
    if (kind === 'all') return keys.length === 0
    const pattern = selector[kind]
    return keys.length === 1 && pattern !== undefined && matchesPattern(pattern, name)
  })
  return aboutView.flatMap((judgement) => {
    const limit = asAbsolute(judgement)
    if (limit === undefined) return []
    // Beside the label's own charts, its name says nothing new.
    const text = kind === 'label' ? limit.text.replace(/\{.*\}/, '') : limit.text
    return [{ text, name: limit.name, ms: limit.value, verdict: wordOf(judgement) }]
  })
}

/** Five digits are more than anyone sees, and a third of the bytes. What is displayed truncated, as an apdex is, stays as it is. */
function shorten(figures: FiguresDocument): FiguresDocument {
  const entries = Object.entries(figures).map(([name, value]: [string, number | null]) => {
    const line = metricNamed(name)
    const isExact =
      value === null || Number.isInteger(value) || (line && factsOf(line).decimals !== undefined)
    return [name, isExact ? value : Number(value.toPrecision(5))]
  })
  return Object.fromEntries(entries) as FiguresDocument
}

/** Lists as long as those of the series; null where nothing counts. */
type CountedSeries = Readonly<
  Record<Exclude<keyof TimeSeries, 'bucketMs' | 'atMs'>, readonly (number | null)[]>
>

/** What counts, in the buckets of the whole run's series. Undefined without a common axis: runs laid end to end have a warm-up each. */
export function alignCounted(
  { ms, whole, startMs = whole.startMs }: WarmUpFacts,
  counted: Measurements | undefined
): { untilMs: number; counted: CountedSeries } | undefined {
  const all = placeSeries(whole)
  if (all === undefined || startMs === undefined) return undefined
  const untilMs = startMs + ms - all.originMs
  const part = counted && placeSeries(counted)
  if (counted === undefined || part === undefined) return { untilMs, counted: cutAt(all.series, Infinity) }
  const { bucketMs, atMs } = all.series
  const fromMs = bucketStart(counted.startMs ?? Infinity, all.series) - all.originMs
  const shift = (part.originMs - all.originMs) / bucketMs
  if (part.series.bucketMs !== bucketMs) return { untilMs, counted: cutAt(all.series, fromMs) }
  const counts = mapLists((name) => atMs.map((_, i) => part.series[name][i - shift] ?? null))
  return { untilMs, counted: counts }
}

function placeSeries(measurements: Measurements) {
  const { series } = measurements
  const originMs = findOrigin(measurements)
  return series === undefined || originMs === undefined ? undefined : { series, originMs }
}

/** Everything from the first bucket with anything that counts, where the buckets of both do not fit together. */
function cutAt(series: TimeSeries, fromMs: number): CountedSeries {
  return mapLists((name) => series[name].map((value, i) => ((series.atMs[i] ?? 0) >= fromMs ? value : null)))
}

function mapLists(listOf: (name: keyof CountedSeries) => (number | null)[]): CountedSeries {
  const names = ['throughput', 'failures', 'p50Ms', 'p95Ms', 'p99Ms', 'activeThreads'] as const
  return Object.fromEntries(names.map((name) => [name, listOf(name)])) as unknown as CountedSeries
}
