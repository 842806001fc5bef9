import type { VerdictDocument } from '../../contract/verdict.js'
import type { CountedTimes, Scope } from '../results/figures/measurements.js'
import {
  isBaselineThreshold,
  type BaselineThreshold,
  type Threshold
} from '../thresholds/grammar/threshold.js'
import type { Judgement } from '../thresholds/judge/judgement.js'
import { factsOf } from '../thresholds/metrics.js'
import { describeMissing } from './judge-lines.js'
import { compareScope, type ComparedScope } from './judge/compare-scope.js'
import { LEAST_CHANGE_MS } from './judge/judge-scope.js'
import { sidesOf, type ComparedRun, type ComparisonEvidence, type Sides } from './judge/sides.js'
import { addUp, samplesNeeded } from './statistics/classify.js'
import { LEVEL, tQuantile } from './statistics/evidence-of-change.js'
import { asChangePct, fromScale, SCALES, toScale } from './statistics/scale.js'

type Documented = NonNullable<VerdictDocument['label_changes']>
export type LabelChange = Documented['rows'][number]

/** What changed by label, what costs users most time first. Information: it is never part of the verdict. */
export interface LabelChanges extends Documented {
  /** Of all samples, and of the first rows; only where both sides have single times. */
  readonly times: readonly ComparedTimes[]
}

type Times = Pick<CountedTimes, 'valuesMs' | 'counts'>

export interface ComparedTimes {
  /** Null for all samples. */
  readonly label: string | null
  readonly base: Times
  readonly head: Times
}

const MOST_ROWS = 200
/** Of new and gone labels, where there are more rows than that. */
const MOST_ONE_SIDED = 20
/** Of labels that fail more often than before, however little time they cost. */
const MOST_FAILING = 20
const MOST_TIMES = 10
/** One-sided, of all labels together. Where nothing changed, no label is called slower in at least 95 of 100 comparisons. */
const LEVEL_OF_ALL = 0.02
/** Of all rounds together: how much a figure varies from round to round is measured, so it may be one of few samples. */
const LEAST_PAIRED_SAMPLES = 40

const LINE = { line: 1, level: 'warn', selector: {}, operator: '<=', allowance: { ratio: 0.1 } } as const
const P95: BaselineThreshold = {
  ...{ ...LINE, text: 'p95 <= baseline + 10%', metric: 'percentile', name: 'p95', percentile: 95 }
}
const MEDIAN: BaselineThreshold = {
  ...{ ...LINE, text: 'median <= baseline + 10%', metric: 'median', name: 'median', percentile: 50 }
}
const MEAN: BaselineThreshold = { ...LINE, text: 'mean <= baseline + 10%', metric: 'mean', name: 'mean' }

/** Undefined where nothing can be compared. The judgements are those of the same evidence. */
export function compareLabels(
  evidence: ComparisonEvidence,
  settings: { readonly thresholds: readonly Threshold[]; readonly baseline: { readonly noise: number } },
  judgements: readonly Judgement[]
): LabelChanges | undefined {
  if (evidence.kind === 'none' || describeMissing(evidence) !== undefined) return undefined
  const sides = sidesOf(evidence)
  const { noise } = settings.baseline
  const line = chooseLine(settings.thresholds, sides)
  const least = sides.isPaired ? LEAST_PAIRED_SAMPLES : samplesNeeded(line)
  const { both, oneSided } = listLabels(sides)
  const level = Math.min(LEVEL, LEVEL_OF_ALL / Math.max(1, both.length))
  const mostCompared = MOST_ROWS - Math.min(oneSided.length, MOST_ONE_SIDED)
  const compared = heaviest(both, {
    most: mostCompared,
    line,
    sides,
    weigh: (tally) => Math.abs(lostTime(tally))
  })
    .map((tally): ComparedLabel => {
      const finding = compareScope(line, { label: tally.label }, sides, noise)
      if (!('change' in finding)) return { row: uncompared(tally, 'not comparable'), baseRuns: 1 }
      const change = changeOf(tally, finding, sides, { least, level })
      return { row: withoutPercent(asJudged(change, line, judgements)), baseRuns: finding.baseRuns }
    })
    .sort(byWeight)
  const most = MOST_ROWS - compared.length
  const isWhole = hasAllLabels(sides)
  const others = heaviest(oneSided, { most, line, sides, weigh: countSamples }).map((tally) =>
    uncompared(tally, tally.head.samples === 0 ? 'gone' : isWhole ? 'new' : 'not comparable')
  )
  const rows = [...compared.map(({ row }) => row), ...others]
  const overall = compareScope(line, {}, sides, noise)
  return {
    metric: line.name as LabelChanges['metric'],
    rows,
    leftOut: both.length + oneSided.length - rows.length,
    times: [
      ...poolSides(null, 'change' in overall ? overall.baseRuns : 1, sides),
      ...compared.slice(0, MOST_TIMES).flatMap(({ row, baseRuns }) => poolSides(row.label, baseRuns, sides))
    ]
  }
}

interface ComparedLabel {
  readonly row: LabelChange
  /** How many runs the base is the mean of; side by side it is all rounds. */
  readonly baseRuns: number
}

/** The first of these times that a line names, else p95; the mean where there are no single times. */
function chooseLine(thresholds: readonly Threshold[], { head }: Sides): BaselineThreshold {
  const named = thresholds.filter(isBaselineThreshold).flatMap((line) => asCompared(line) ?? [])
  const hasTimes = head.some((run) => run.figures({})?.percentileMs(50) !== undefined)
  return hasTimes ? (named[0] ?? P95) : MEAN
}

/** The line by whose time labels can be compared, if this one is about the same time. */
function asCompared({ metric, percentile }: BaselineThreshold): BaselineThreshold | undefined {
  if (metric === 'mean') return MEAN
  return percentile === 50 ? MEDIAN : percentile === 95 ? P95 : undefined
}

/** By whether both sides have them. Labels that older base runs alone have were removed before, by others. */
function listLabels({ isPaired, base, head }: Sides): { both: string[]; oneSided: string[] } {
  const namesIn = (runs: readonly ComparedRun[]) => new Set(runs.flatMap(({ labels }) => labels))
  const [inHead, inBase] = [namesIn(head), namesIn(base)]
  const gone = [...(isPaired ? inBase : namesIn(base.slice(-1)))].filter((label) => !inHead.has(label))
  const fresh = [...inHead].filter((label) => !inBase.has(label))
  return { both: [...inHead].filter((label) => inBase.has(label)), oneSided: [...fresh, ...gone] }
}

/** A document that was too large has lost labels: then nobody knows which ones are new. */
function hasAllLabels({ isPaired, base }: Sides): boolean {
  const newest = base.at(-1)
  if (isPaired || newest === undefined) return true
  const samplesIn = (scope: Scope): number => newest.figures(scope)?.samples ?? 0
  return newest.labels.reduce((sum, label) => sum + samplesIn({ label }), 0) >= samplesIn({})
}

interface Side {
  readonly samples: number
  readonly failures: number
  readonly figure: number | undefined
}

interface Tally {
  readonly label: string
  readonly base: Side
  readonly head: Side
}

interface Choice {
  readonly most: number
  readonly line: BaselineThreshold
  readonly sides: Sides
  readonly weigh: (tally: Tally) => number
}

const FEW_ROUNDS = 3

/** The labels that matter most, in that order. Where there are too many, a few rounds say which ones these are. */
function heaviest(labels: readonly string[], { most, line, sides, weigh }: Choice): Tally[] {
  const sort = (tallies: readonly Tally[]) => tallies.toSorted((a, b) => weigh(b) - weigh(a)).slice(0, most)
  const few = { ...sides, base: sides.base.slice(-FEW_ROUNDS), head: sides.head.slice(-FEW_ROUNDS) }
  const choose = (tallies: readonly Tally[]): string[] => {
    const failing = tallies.filter((tally) => addedFailures(tally) > 0)
    const worst = failing.sort((a, b) => addedFailures(b) - addedFailures(a)).slice(0, MOST_FAILING)
    return [...new Set([...worst, ...sort(tallies)].map(({ label }) => label))].slice(0, most)
  }
  const chosen = labels.length <= most ? labels : choose(labels.map((label) => tallyLabel(label, line, few)))
  return sort(chosen.map((label) => tallyLabel(label, line, sides)))
}

/** Of recorded runs, the newest one that has the label. */
function tallyLabel(label: string, line: BaselineThreshold, { isPaired, base, head }: Sides): Tally {
  const newest = isPaired ? base : [base.findLast((run) => run.figures({ label })) ?? []].flat()
  return { label, base: tallyRuns(newest, line, label), head: tallyRuns(head, line, label) }
}

function tallyRuns(runs: readonly ComparedRun[], line: BaselineThreshold, label: string): Side {
  let [samples, failures, sum] = [0, 0, 0]
  const known: number[] = []
  for (const run of runs) {
    const figures = run.figures({ label })
    if (figures === undefined) continue
    samples += figures.samples
    failures += figures.failures
    const figure = factsOf(line).read(figures, line)
    const y = toScale(SCALES.time, figure)
    if (figure === undefined || y === undefined) continue
    known.push(figure)
    sum += y
  }
  const [first] = known
  const isSame = known.every((figure) => figure === first)
  return { samples, failures, figure: isSame ? first : fromScale(SCALES.time, sum / known.length) }
}

function countSamples({ base, head }: Tally): number {
  return base.samples + head.samples
}

/** More than there would be at the error rate of the base. */
function addedFailures({ base, head }: Tally): number {
  return head.failures - (rateOf(base) ?? 0) * head.samples
}

/** What all users together wait longer. */
function lostTime({ base, head }: Tally): number {
  return head.figure === undefined || base.figure === undefined
    ? 0
    : (head.figure - base.figure) * head.samples
}

function uncompared({ label, base, head }: Tally, outcome: LabelChange['outcome']): LabelChange {
  return {
    label,
    ...{ base: base.figure ?? null, head: head.figure ?? null, changePct: null, interval: null, outcome },
    samples: { base: base.samples, head: head.samples },
    errorRate: { base: rateOf(base), head: rateOf(head) }
  }
}

function rateOf({ samples, failures }: Pick<Side, 'samples' | 'failures'>): number | null {
  return samples === 0 ? null : failures / samples
}

interface Rule {
  /** How many samples a label needs on either side. */
  readonly least: number
  /** One-sided: the more labels are compared, the more evidence each one needs. */
  readonly level: number
}

function changeOf(tally: Tally, finding: ComparedScope, sides: Sides, { least, level }: Rule): LabelChange {
  const { change, base, head, baseRuns, samples, doubt, unevenFailures } = finding
  // The base is the mean of the newest runs.
  const newest = sides.base.flatMap((run) => run.figures({ label: tally.label }) ?? []).slice(-baseRuns)
  const from = sides.isPaired ? tally.base : addUp(newest)
  const plain = uncompared({ ...tally, base: { ...tally.base, ...from } }, 'not comparable')
  const reach = tQuantile(1 - level, change.dof) * change.se
  const unclear = (doubt ?? unevenFailures) === undefined ? 'no clear change' : 'not comparable'
  const outcome = samples < least ? unclear : classify(finding, reach)
  if (outcome === 'not comparable') return plain
  const [low, high] = [change.delta - reach, change.delta + reach].map((y) => asChangePct(SCALES.time, y))
  const isKnown = samples >= least && low !== undefined && high !== undefined && Number.isFinite(high)
  return {
    ...plain,
    ...{ base, head, outcome },
    changePct: asChangePct(SCALES.time, change.delta),
    interval: isKnown ? [low, high] : null
  }
}

/** Where a line judges the label by the same figure, its interval is shown: nobody should have to choose between two. */
function asJudged(row: LabelChange, line: BaselineThreshold, judgements: readonly Judgement[]): LabelChange {
  const judged = judgements.find(({ threshold, scope = {}, comparison }) => {
    const isSameFigure = isBaselineThreshold(threshold) && asCompared(threshold) === line
    const isSameScope = scope.label === row.label && Object.keys(scope).length === 1
    return isSameFigure && isSameScope && comparison?.changePct === row.changePct
  })
  const { interval, outcome } = judged?.comparison ?? {}
  if (interval?.every(Number.isFinite) !== true) return row
  return { ...row, interval: [...interval], outcome: outcome === 'broken' ? 'slower' : row.outcome }
}

/** Tools write whole milliseconds: of less than one of them, nobody knows how many times as long a request takes. */
function withoutPercent(row: LabelChange): LabelChange {
  return row.base === null || row.base >= 1 ? row : { ...row, changePct: null, interval: null }
}

/** Requests that fail are no faster ones, and one bad run of the branch makes none faster either. */
function classify(
  { change: { delta }, base, head, doubt, unevenFailures, beforeStep }: ComparedScope,
  reach: number
): LabelChange['outcome'] {
  const isMeasurable = Math.abs(head - base) >= LEAST_CHANGE_MS
  if (isMeasurable && delta - reach > 0) return 'slower'
  if (doubt !== undefined || unevenFailures !== undefined) return 'not comparable'
  return isMeasurable && delta + reach < 0 && beforeStep === undefined ? 'faster' : 'no clear change'
}

/** Clear changes first, and among those the ones that cost or save users most; requests that fail now come after those that got slower. */
function byWeight({ row: a }: ComparedLabel, { row: b }: ComparedLabel): number {
  return groupOf(a) - groupOf(b) || weightOf(b) - weightOf(a) || (a.label < b.label ? -1 : 1)
}

function groupOf({ outcome, errorRate }: LabelChange): number {
  if (outcome === 'slower') return 0
  if (outcome === 'not comparable' && (errorRate.head ?? 0) > (errorRate.base ?? 0)) return 1
  return outcome === 'faster' ? 2 : 3
}

function weightOf(row: LabelChange): number {
  const { outcome, base, head, samples, errorRate } = row
  if (outcome === 'not comparable') return (errorRate.head ?? 0) * samples.head
  const lost = ((head ?? 0) - (base ?? 0)) * samples.head
  return outcome === 'faster' ? -lost : lost
}

/** How long requests took on both sides; empty unless both have single times. */
function poolSides(label: string | null, baseRuns: number, sides: Sides): ComparedTimes[] {
  const scope = label === null ? {} : { label }
  const base = poolTimes(sides.isPaired ? sides.base : sides.base.slice(-baseRuns), scope)
  const head = poolTimes(sides.head, scope)
  return base === undefined || head === undefined ? [] : [{ label, base, head }]
}

function poolTimes(runs: readonly ComparedRun[], scope: Scope): Times | undefined {
  const pooled = new Map<number, number>()
  for (const run of runs) {
    const times = run.figures(scope)?.countTimes()
    times?.valuesMs.forEach((ms, i) => pooled.set(ms, (pooled.get(ms) ?? 0) + (times.counts[i] ?? 0)))
  }
  if (pooled.size === 0) return undefined
  const sorted = [...pooled].sort(([one], [other]) => one - other)
  return { valuesMs: sorted.map(([ms]) => ms), counts: sorted.map(([, count]) => count) }
}
