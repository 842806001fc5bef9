import { isBaselineThreshold } from '../analysis/thresholds/grammar/threshold.js'
import { formatActual, formatChange, formatMargin, formatValue } from '../analysis/thresholds/format.js'
import type { Comparison, ComparisonOutcome, Judgement } from '../analysis/thresholds/judge/judgement.js'
import type { Metric } from '../analysis/thresholds/metrics.js'
import type { ErrorCount, Measurements, Scope } from '../analysis/results/figures/measurements.js'
import type { BaselineFacts, NodeFacts, Outcome } from '../analysis/outcome.js'
import { shortenCommit } from './escape.js'
import { count } from '../contract/text.js'
import { nameLabel } from './page/numbers.js'
import { overTimeCells } from './stalls.js'

const NONE = '–'
/** In the place of an empty text. */
export const NO_MESSAGE = 'no message'

export type JudgementRow = ReturnType<typeof rowOf>

const ORDER = ['failed', 'inconclusive', 'passed']

export function judgementRows(judgements: readonly Judgement[], baseline?: BaselineFacts): JudgementRow[] {
  return worstFirst(judgements).map((judgement) => rowOf(judgement, baseline))
}

/** Broken ones first, as people look for them. */
export function worstFirst(judgements: readonly Judgement[]): Judgement[] {
  return [...judgements].sort((a, b) => rank(a) - rank(b))
}

function rank({ verdict, threshold }: Judgement): number {
  return ORDER.indexOf(verdict) * 2 + (threshold.level === 'warn' ? 1 : 0)
}

function rowOf(judgement: Judgement, baseline: BaselineFacts | undefined) {
  const comparison = comparisonCells(judgement, baseline)
  const overTime = overTimeCells(judgement)
  return {
    threshold: lineOf(judgement),
    actual: formatActual(judgement) || NONE,
    margin: formatMargin(judgement) || NONE,
    verdict: wordOf(judgement),
    reason: judgement.reason,
    /** Only of a line that names `baseline`. */
    ...(comparison && { comparison }),
    /** Only where the figure over time is worse than the one by samples. */
    ...(overTime && { overTime })
  }
}

/** The line as it was written. */
export function lineOf({ threshold: { level, text } }: Judgement): string {
  return level === 'warn' ? `warn: ${text}` : text
}

/** The verdict; of a line that names `baseline`, its outcome. */
export function wordOf({ verdict, threshold, comparison }: Judgement): string {
  const isWarning = verdict === 'failed' && threshold.level === 'warn'
  if (comparison === undefined) return isWarning ? 'warning' : verdict
  return isWarning ? `warning: ${comparison.outcome}` : comparison.outcome
}

export type ComparisonCells = NonNullable<ReturnType<typeof comparisonCells>>

/** Outcomes that are not a judgement share a sign, never the one of a line that holds. */
export const OUTCOME_SIGNS: Readonly<Record<ComparisonOutcome, string>> = {
  ...{ holds: '✅', broken: '❌', unsure: '⚠️', 'no baseline': '⚠️', 'not comparable': '⚠️' }
}

/** Undefined for a line with a limit of its own. */
export function comparisonCells(judgement: Judgement, baseline?: BaselineFacts) {
  const { comparison, threshold } = judgement
  if (comparison === undefined || !isBaselineThreshold(threshold)) return undefined
  const { outcome, base } = comparison
  const isOnlyWarned = outcome === 'broken' && threshold.level === 'warn'
  return {
    outcome,
    /** It never appears without the word. */
    sign: isOnlyWarned ? OUTCOME_SIGNS.unsure : OUTCOME_SIGNS[outcome],
    base: base === undefined ? NONE : formatValue(threshold.metric, base),
    /** How many runs that is based on, and the commit of the newest one, which is untrusted text. */
    baseFrom: base === undefined ? '' : describeBase(comparison, baseline),
    head: formatActual(judgement) || NONE,
    change: describeChange(threshold.metric, comparison)
  }
}

function describeBase({ baseRuns, knownBaseRuns = baseRuns }: Comparison, baseline?: BaselineFacts): string {
  const known =
    baseline?.kind === 'side-by-side'
      ? `mean of ${count(knownBaseRuns, 'round')}`
      : count(knownBaseRuns, 'run')
  const used = baseRuns === knownBaseRuns ? known : `newest ${baseRuns} of ${known}`
  return baseline?.commit === undefined ? used : `${used}, ${shortenCommit(baseline.commit)}`
}

/** With its interval: `+12.3 % (+2.1 to +22.5)`. */
export function describeChange(
  metric: Metric,
  { changePct, interval }: Pick<Comparison, 'changePct' | 'interval'>
): string {
  if (changePct === undefined) return NONE
  const change = formatChange(metric, changePct)
  const [low, high] = (interval ?? []).map((end) => formatChange(metric, end).replace(/ .*$/, ''))
  return high === undefined ? change : `${change} (${low} to ${high})`
}

/** The comparisons where no line asked for one: with something to compare, and not put as judgements. */
export function shownRows({ shownComparisons = [], judgements, baseline }: Outcome) {
  if (judgements.some(({ comparison }) => comparison !== undefined)) return []
  return judgementRows(shownComparisons, baseline).flatMap(({ threshold, comparison }) => {
    if (comparison === undefined || comparison.baseFrom === '') return []
    return [{ threshold, comparison, finding: FINDINGS[comparison.outcome] ?? comparison.outcome }]
  })
}

export type ShownRow = ReturnType<typeof shownRows>[number]

/** A comparison that nobody asked for is not put as a judgement. */
export const FINDINGS: Readonly<Record<string, string>> = { holds: 'would hold', broken: 'would be broken' }

export function showFigure(metric: Metric, value: number | undefined): string {
  return value === undefined ? NONE : formatValue(metric, value)
}

/** The figures of each label, the slowest first. Some CSVs have no individual response times: then by their means. */
export function slowestLabels(measurements: Measurements) {
  return measurements.labels
    .flatMap((label) => {
      const figures = measurements.figures({ label })
      const timeMs = figures?.percentileMs(95) ?? figures?.meanMs
      return figures === undefined ? [] : [{ label: nameLabel(label), figures, timeMs }]
    })
    .sort((a, b) => (b.timeMs ?? 0) - (a.timeMs ?? 0))
}

export type LabelFigures = ReturnType<typeof slowestLabels>[number]

/** The most frequent errors, with their share of all failed samples; the rest, if any, as the last row, without a label. */
export function errorRows(measurements: Measurements | undefined, mostRows: number, scope: Scope = {}) {
  const errors = topErrors(measurements, mostRows, scope)
  const failures = errors.reduce((sum, { count }) => sum + count, 0)
  return errors.map(({ label, code, message, count }) => ({
    ...{ count, share: count / failures, code },
    message: message || NO_MESSAGE,
    label: label === undefined ? '' : nameLabel(label)
  }))
}

/** At most the given number of errors, plus one row for all the others. */
export function topErrors(
  measurements: Measurements | undefined,
  most: number,
  scope: Scope = {}
): readonly ErrorCount[] {
  const all = measurements?.errors(scope) ?? []
  const named = all.filter(({ label }) => label !== undefined)
  if (named.length <= most) return all
  const shown = named.slice(0, most)
  const sum = (errors: readonly ErrorCount[]): number => errors.reduce((total, { count }) => total + count, 0)
  return [...shown, { label: undefined, code: '', message: 'other errors', count: sum(all) - sum(shown) }]
}

export const EVERY_REGION_IS_HERE =
  'Every region is this machine: its processes generated the load of all grids. To run grids on clusters, set regions.'

const HERE = 'this machine'
/** Less is noise: the kernel throttles in whole periods of 100 ms. */
const LEAST_STARVED = 0.01

/** The nodes that are worth a table: a single one on this machine says nothing that is not known. */
export function nodesToShow(nodes: readonly NodeFacts[] = []): readonly NodeFacts[] {
  const isOrdinary = nodes.every(
    ({ place, lost, throttled }) => place === HERE && lost === null && !isStarved(throttled)
  )
  return nodes.length === 1 && isOrdinary ? [] : nodes
}

/** Where only some are shown, those with something to say come first. */
export function nodeRows(nodes: readonly NodeFacts[], most: number) {
  const startsMs = nodes.flatMap(({ startedMs }) => startedMs ?? [])
  const firstMs = startsMs.reduce((first, ms) => Math.min(first, ms), Infinity)
  const shown = nodes.length <= most ? nodes : [...nodes].sort(byWeight).slice(0, most)
  const nameOf = namerOf(nodes)
  return shown.map((node) => ({
    name: nameOf(node),
    place: node.place,
    start: node.startedMs === null ? NONE : formatStart(node.startedMs - firstMs),
    rows: counted(node.rows),
    threads: counted(node.threads),
    cpuLimit: node.cpuLimit === null ? NONE : String(Number(node.cpuLimit.toFixed(3))),
    restarts: counted(node.restarts),
    throttled: describeThrottling(node.throttled),
    isStarved: isStarved(node.throttled),
    lost: node.lost ?? ''
  }))
}

/** One sentence if load generators had to wait for their own CPU. */
export function describeStarved(nodes: readonly NodeFacts[] = []): string[] {
  const starved = nodes.filter(({ throttled }) => isStarved(throttled))
  const worst = starved.reduce<NodeFacts | undefined>(
    (most, node) => ((node.throttled ?? 0) > (most?.throttled ?? 0) ? node : most),
    undefined
  )
  if (worst === undefined) return []
  const others = starved.length === 1 ? '' : ` (and ${starved.length - 1} more)`
  return [
    `The node ${namerOf(nodes)(worst)}${others} was ${describeThrottling(worst.throttled)}. Give it more CPU in the instance types of its region, or spread the threads over more nodes.`
  ]
}

function isStarved(throttled: number | null): boolean {
  return (throttled ?? 0) >= LEAST_STARVED
}

function describeThrottling(throttled: number | null): string {
  if (throttled === null) return NONE
  if (!isStarved(throttled)) return 'no'
  return `throttled ${Math.round(throttled * 100)} % of the time: a starved load generator measures itself`
}

/** The grid is part of a name only where the region has several. */
function namerOf(nodes: readonly NodeFacts[]): (node: NodeFacts) => string {
  const gridsOf = new Map<string, Set<string>>()
  for (const { region, grid } of nodes) gridsOf.set(region, (gridsOf.get(region) ?? new Set()).add(grid))
  return ({ region, grid, number }) =>
    [region, ...((gridsOf.get(region)?.size ?? 0) > 1 ? [grid] : []), number].join(' / ')
}

function byWeight(one: NodeFacts, other: NodeFacts): number {
  const weigh = ({ lost, throttled }: NodeFacts): number => (lost === null ? 0 : 2) + (throttled ?? 0)
  return weigh(other) - weigh(one)
}

function formatStart(afterMs: number): string {
  return afterMs < 1000 ? `+${Math.round(afterMs)} ms` : `+${(afterMs / 1000).toFixed(1)} s`
}

function counted(value: number | null): string {
  return value === null ? NONE : formatValue('samples', value)
}
