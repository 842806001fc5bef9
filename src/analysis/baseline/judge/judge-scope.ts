import { formatActual, formatValue, formatChange, formatSize } from '../../thresholds/format.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { formatMinute, shorten } from '../../../contract/text.js'
import { describeScope } from '../../thresholds/quoting.js'
import { classify, mostResolutionFor, LEAST_SAMPLES_BEYOND, type Doubt } from '../statistics/classify.js'
import { LEVEL, tQuantile } from '../statistics/evidence-of-change.js'
import { asChangePct, limitFor, limitOnScale, scaleOf } from '../statistics/scale.js'
import { asAbsolute, holds, measureRoom } from '../../thresholds/judge/judgement.js'
import type { Comparison, Judgement } from '../../thresholds/judge/judgement.js'
import { namedScope, shareOfLimit } from '../../thresholds/judge/judge.js'
import type { ComparedScope, ScopeFinding } from './compare-scope.js'
import type { ComparisonRules } from './sides.js'

/** Tools write whole milliseconds. */
export const LEAST_CHANGE_MS = 2
/** A base has 20 runs at most. */
const COUNTS = 'no one two three four five six seven eight nine ten eleven twelve'.split(' ')
/** From so many base runs on, further ones hardly help. */
const ENOUGH_BASE_RUNS = 10

interface JudgedScope<Finding = ScopeFinding> {
  readonly line: BaselineThreshold
  readonly finding: Finding
  readonly comparison: Comparison
  readonly because: Doubt | 'failed samples' | 'unconfirmed step' | undefined
  /** How much of the limit is left, on the scale where up is worse; negative if it is exceeded. */
  readonly room: number
}
type Judged = JudgedScope<ComparedScope>

/** `isSignificantBefore` is against the runs before a step that nothing confirms. */
export function judgeScope(
  line: BaselineThreshold,
  finding: ScopeFinding,
  rules: ComparisonRules,
  { isSignificant, isSignificantBefore }: { isSignificant: boolean; isSignificantBefore: boolean }
): JudgedScope {
  if (!('change' in finding)) {
    const empty = emptyComparison(finding.outcome, rules)
    const comparison = finding.isDoubtful ? { ...empty, ifNotJudged: 'fail' as const } : empty
    return { line, finding, comparison, because: undefined, room: -Infinity }
  }
  const { change, base, baseRuns, knownBaseRuns } = finding
  const scale = scaleOf(line.metric)
  const limit = limitOf(line, base, finding.head)
  const classified = classify(change, {
    hasEnoughSamples: hasEnoughSamples(finding),
    isOver: limit.isOver,
    isSignificant,
    mostResolution: mostResolutionFor(scale, limitWithFloor(line, base))
  })
  const isDoubtful = finding.doubt !== undefined && classified.outcome !== 'broken'
  const doubt = classified.outcome === 'holds' ? doubtHolding(line, finding, isSignificantBefore) : undefined
  const outcome = isDoubtful ? 'not comparable' : doubt === undefined ? classified.outcome : 'unsure'
  const [one = 0, other = 0] = change.interval.map((y) => asChangePct(scale, y))
  return {
    line,
    finding,
    because: isDoubtful ? 'failed samples' : 'because' in classified ? classified.because : doubt,
    room: limitOnScale(scale, base, line.allowance) - change.delta,
    comparison: {
      ...{ outcome, base, baseRuns, knownBaseRuns, limit: limit.value, p: change.p },
      changePct: asChangePct(scale, change.delta),
      interval: [Math.min(one, other), Math.max(one, other)],
      resolutionPct: asChangePct(scale, change.resolution),
      ifNotJudged: isDoubtful ? 'fail' : rules.onUnsure
    }
  }
}

function doubtHolding(
  line: BaselineThreshold,
  { unevenFailures, beforeStep, head }: ComparedScope,
  isSignificantBefore: boolean
): JudgedScope['because'] {
  if (unevenFailures !== undefined) return 'failed samples'
  if (beforeStep === undefined || !isSignificantBefore) return undefined
  return limitOf(line, beforeStep.base, head).isOver ? 'unconfirmed step' : undefined
}

/** How far the limit is from the base on the scale, but never closer than tools can measure. */
export function limitWithFloor({ metric, allowance }: BaselineThreshold, base: number): number {
  const scale = scaleOf(metric)
  const own = limitOnScale(scale, base, allowance)
  return scale.kind === 'time' ? Math.max(own, limitOnScale(scale, base, { amount: LEAST_CHANGE_MS })) : own
}

/** Only what is tested counts among the findings that could be chance. */
export function hasEnoughSamples({ samples, samplesNeeded }: ComparedScope): boolean {
  return samples >= samplesNeeded
}

export function emptyComparison(
  outcome: 'no baseline' | 'not comparable',
  { onMissing }: ComparisonRules
): Comparison {
  const figures = { base: undefined, limit: undefined, changePct: undefined, interval: undefined }
  return { outcome, ...figures, resolutionPct: undefined, p: undefined, baseRuns: 0, ifNotJudged: onMissing }
}

/** The limit in base units. Where it asks for less than tools can measure, it is as far as they can. */
function limitOf({ metric, allowance, operator }: BaselineThreshold, base: number, head: number) {
  const scale = scaleOf(metric)
  const own = limitFor(scale, base, allowance)
  const value = scale.kind === 'time' ? Math.max(own, base + LEAST_CHANGE_MS) : own
  return { value, isOver: !holds(head, { operator, value }) }
}

function explainScope(judged: JudgedScope): string {
  const { line, finding } = judged
  const subject = line.name + describeScope(finding.scope)
  if (!('change' in finding)) return `${subject} ${finding.words}`
  const compared = { ...judged, finding }
  const base = judged.because === 'unconfirmed step' ? '' : describeLoneBase(compared)
  const leftOut = finding.leftOut === undefined ? '' : `; ${finding.leftOut}`
  return `${subject} ${describeFigures(compared)}; ${describeOutcome(compared)}${base}${leftOut}`
}

/** `is 480 ms, +20 % against the baseline's 400 ms (10 runs; 98 % interval +12 % to +28 %)` */
function describeFigures({ line, finding, comparison }: Judged): string {
  const { head, base, headRuns, isPaired } = finding
  const { changePct = 0, interval: [low, high] = [0, 0] } = comparison
  const actual = formatActual({ threshold: line, actual: head, comparison })
  const confirmed = !isPaired && headRuns > 1 ? ` (mean of ${headRuns} runs)` : ''
  const [change, from, to] = [changePct, low, high].map((pct) => formatChange(line.metric, pct))
  return `is ${actual}${confirmed}, ${change ?? ''} against the baseline's ${formatValue(line.metric, base)} (${describeBaseRuns(line, finding)}; 98 % interval ${from ?? ''} to ${to ?? ''})`
}

function describeBaseRuns({ metric }: BaselineThreshold, finding: ComparedScope): string {
  const { baseRuns, knownBaseRuns, before, since, isPaired } = finding
  if (isPaired) return `means of ${baseRuns} rounds side by side`
  const known = `${knownBaseRuns} ${knownBaseRuns === 1 ? 'run' : 'runs'}`
  if (baseRuns === knownBaseRuns) return known
  const newest = `the newest ${baseRuns} of ${known}`
  if (before === undefined || baseRuns === 1) return newest
  const first = since && `, since ${since.commit.slice(0, 7)} (${formatMinute(since.atMs)})`
  return `${newest}${first ?? ''}; before: ${formatValue(metric, before)}`
}

function describeLoneBase({ line, finding, comparison }: Judged): string {
  const { baseRuns, knownBaseRuns, before, isPaired } = finding
  if (isPaired || baseRuns > 1) return ''
  if (before !== undefined)
    return `; the run before it differs: ${formatValue(line.metric, before)}, so the baseline is the newest run alone; another run on the baseline branch confirms it`
  return comparison.outcome === 'holds' && knownBaseRuns === 1 ? `; ${reachOfOneRun(line, finding)}` : ''
}

function reachOfOneRun({ metric }: BaselineThreshold, { change: { dof, se } }: ComparedScope): string {
  const found = asChangePct(scaleOf(metric), tQuantile(1 - LEVEL, dof) * se)
  return `with one base run only changes above about ${formatChange(metric, found)} can be found`
}

function describeOutcome({ line, finding, comparison, because }: Judged): string {
  // The part of the line that states the limit: `baseline + 10%`.
  const written = line.text.slice(Math.max(0, line.text.lastIndexOf('baseline')))
  const limit = `${line.operator} ${formatValue(line.metric, comparison.limit ?? NaN)} (${written})`
  switch (because) {
    case 'failed samples':
      return `but ${finding.doubt ?? finding.unevenFailures ?? ''}`
    case 'unconfirmed step':
      return `but ${describeStep(line, finding)}`
    case 'few samples':
      return describeFewSamples(line, finding)
    case 'not significant':
      return `it must be ${limit}, but the difference may be noise: ${describeReach(line, finding)}`
    case 'low resolution':
      return `${limit} is not exceeded, but a breach could go unnoticed: ${describeReach(line, finding)}`
    case undefined:
      return comparison.outcome === 'broken' ? `it must be ${limit}` : `within ${limit}`
  }
}

/** `the newest run of main is 100 % slower than the nine before it, and no second run confirms it; …` */
function describeStep({ metric, name }: BaselineThreshold, { beforeStep, head }: ComparedScope): string {
  if (beforeStep === undefined) return ''
  const { base, runs, size, branch = 'the baseline branch', change } = beforeStep
  const scale = scaleOf(metric)
  const by = formatSize(metric, asChangePct(scale, size))
  const others = COUNTS[runs] ?? String(runs)
  const step =
    scale.kind === 'time'
      ? `the newest run of ${shorten(branch)} is ${by} slower than the ${others} before it`
      : `the ${name} of the newest run of ${shorten(branch)} is ${by} ${scale.sign > 0 ? 'higher' : 'lower'} than that of the ${others} before it`
  const against = `against those, ${formatValue(metric, head)} is ${formatChange(metric, asChangePct(scale, change.delta))} (${formatValue(metric, base)})`
  return `${step}, and no second run confirms it; ${against}: run it again there, or wait for the next run`
}

function describeFewSamples({ name, percentile }: BaselineThreshold, finding: ComparedScope): string {
  const where = finding.isPaired ? 'all segments of one side together have' : 'a run has'
  const [samples, needed] = [finding.samples, finding.samplesNeeded].map((n) => formatValue('samples', n))
  const lack = `${where} only ${samples ?? ''} samples, and ${name} needs ${needed ?? ''}`
  if (percentile === undefined) return `${lack}: run longer`
  return `${lack} (${LEAST_SAMPLES_BEYOND} beyond it): run longer, or use a lower percentile`
}

function describeReach(line: BaselineThreshold, finding: ComparedScope): string {
  const { metric, allowance } = line
  const scale = scaleOf(metric)
  const { change, knownBaseRuns: baseRuns, isPaired } = finding
  const found = formatSize(metric, asChangePct(scale, change.resolution))
  if (isPaired)
    return `${baseRuns} rounds can only find changes above ${found}; use more rounds or longer segments`
  const isFew = baseRuns < ENOUGH_BASE_RUNS
  const hasNoRoom = Math.max(allowance.ratio ?? 0, allowance.amount ?? 0) === 0
  const advice = [
    ...(isFew ? ['record more runs on the baseline branch'] : []),
    ...(isFew && scale.isRelative ? ['set noise to what `loadgate calibrate` measures'] : []),
    ...(hasNoRoom ? ['allow for some change'] : [])
  ]
  const last = advice.length > 0 ? `${advice.join(', ')}, or compare side by side` : 'compare side by side'
  const reach =
    baseRuns === 1 ? reachOfOneRun(line, finding) : `these runs can only find changes above ${found}`
  return `${reach}; ${last}`
}

/** A line must hold in every scope: a broken one decides, then one that could not be judged, and the worst is named. */
export function weighScopes(threshold: BaselineThreshold, scopes: readonly JudgedScope[]): Judgement {
  const [worst] = [...scopes].sort((a, b) => rankOf(a.comparison) - rankOf(b.comparison) || a.room - b.room)
  if (worst === undefined) throw new Error(`${threshold.text}: there is no scope to weigh`)
  const { comparison, finding } = worst
  const { outcome } = comparison
  // A figure that says little is shown in words only.
  const actual = 'change' in finding && worst.because !== 'failed samples' ? finding.head : undefined
  const absolute = isJudged(comparison) ? asAbsolute({ threshold, comparison }) : undefined
  return {
    threshold,
    verdict: outcome === 'broken' ? 'failed' : outcome === 'holds' ? 'passed' : 'inconclusive',
    actual,
    margin:
      absolute && actual !== undefined
        ? shareOfLimit(measureRoom(actual, absolute), absolute.value)
        : undefined,
    ...namedScope(finding.scope),
    scopesChecked: scopes.length,
    reason: explainScope(worst) + countScopes(scopes, comparison),
    comparison
  }
}

/** The lower, the worse: what makes the gate inconclusive comes before what only warns. */
function rankOf({ outcome, ifNotJudged }: Comparison): number {
  if (outcome === 'broken') return 0
  if (outcome === 'holds') return 100
  const effects = ['fail', 'warn', 'pass']
  const outcomes = ['unsure', 'not comparable', 'no baseline']
  return 1 + effects.indexOf(ifNotJudged) * outcomes.length + outcomes.indexOf(outcome)
}

function isJudged({ outcome }: Comparison): boolean {
  return outcome === 'broken' || outcome === 'holds'
}

function countScopes(scopes: readonly JudgedScope[], { outcome }: Comparison): string {
  if (scopes.length === 1) return ''
  if (outcome === 'holds') return `; the closest of ${scopes.length} scopes`
  const others = scopes.filter(({ comparison }) => comparison.outcome !== outcome)
  const same = `; ${outcome} in ${scopes.length - others.length} of ${scopes.length} scopes`
  const unjudged = others.filter(({ comparison }) => !isJudged(comparison)).length
  return unjudged === 0 ? same : `${same}, not judged in ${unjudged} more`
}
