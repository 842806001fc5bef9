import { formatActual, formatValue, formatChange, formatSize } from '../../thresholds/format.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { shorten } from '../../../contract/text.js'
import { describeScope } from '../../thresholds/quoting.js'
import { LEAST_SAMPLES_BEYOND, classify, mostResolutionFor, type Doubt } from '../statistics/classify.js'
import { LEVEL, tQuantile } from '../statistics/evidence-of-change.js'
import { asChangePct, scaleOf, limitFor, limitOnScale } from '../statistics/scale.js'
import { measureRoom, asAbsolute, holds } from '../../thresholds/judge/judgement.js'
import type { Comparison, Judgement } from '../../thresholds/judge/judgement.js'
import { namedScope, shareOfLimit } from '../../thresholds/judge/judge.js'
import type { ComparedScope, ScopeFinding } from './compare-scope.js'
import type { ComparisonRules } from './sides.js'

/** Tools write whole milliseconds. */
const LEAST_CHANGE_MS = 2

/** A line's outcome in one scope. */
interface JudgedScope {
  readonly finding: ScopeFinding
  readonly comparison: Comparison
  readonly because: Doubt | 'failed samples' | 'unconfirmed step' | undefined
  /** How much of the limit is left, on the scale where up is worse; negative if it is exceeded. */
  readonly room: number
}

export function judgeScope(
  threshold: BaselineThreshold,
  finding: ScopeFinding,
  {
    rules,
    isSignificant,
    isSignificantBefore
  }: {
    readonly rules: ComparisonRules
    readonly isSignificant: boolean
    /** The same against the runs before a step that nothing confirms. */
    readonly isSignificantBefore: boolean
  }
): JudgedScope {
  if (!('change' in finding)) {
    const empty = emptyComparison(finding.outcome, rules)
    const comparison = finding.isDoubtful ? { ...empty, ifNotJudged: 'fail' as const } : empty
    return { finding, comparison, because: undefined, room: -Infinity }
  }
  const { change, base } = finding
  const scale = scaleOf(threshold.metric)
  const limit = limitOf(threshold, base, finding.head)
  const classified = classify(change, {
    hasEnoughSamples: hasEnoughSamples(finding),
    isOver: limit.isOver,
    isSignificant,
    mostResolution: mostResolutionFor(scale, limitWithFloor(threshold, base))
  })
  const isDoubtful = finding.doubt !== undefined && classified.outcome !== 'broken'
  const doubt =
    classified.outcome === 'holds' ? doubtHolding(threshold, finding, isSignificantBefore) : undefined
  const outcome = isDoubtful ? 'not comparable' : doubt === undefined ? classified.outcome : 'unsure'
  return {
    finding,
    because: isDoubtful ? 'failed samples' : 'because' in classified ? classified.because : doubt,
    room: limitOnScale(scale, base, threshold.allowance) - change.delta,
    comparison: {
      outcome,
      base,
      baseRuns: finding.baseRuns,
      knownBaseRuns: finding.knownBaseRuns,
      limit: limit.value,
      ...describeChange(threshold, finding),
      p: change.p,
      ifNotJudged: isDoubtful ? 'fail' : rules.onUnsure
    }
  }
}

/** Why a line that holds by its figures is unsure nevertheless. */
function doubtHolding(
  threshold: BaselineThreshold,
  { unevenFailures, beforeStep, head }: ComparedScope,
  isSignificantBefore: boolean
): JudgedScope['because'] {
  if (unevenFailures !== undefined) return 'failed samples'
  if (beforeStep === undefined || !isSignificantBefore) return undefined
  return limitOf(threshold, beforeStep.base, head).isOver ? 'unconfirmed step' : undefined
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

/** A comparison without any number. */
export function emptyComparison(
  outcome: 'no baseline' | 'not comparable',
  { onMissing }: ComparisonRules
): Comparison {
  return {
    outcome,
    base: undefined,
    baseRuns: 0,
    limit: undefined,
    changePct: undefined,
    interval: undefined,
    resolutionPct: undefined,
    p: undefined,
    ifNotJudged: onMissing
  }
}

/** The limit in base units. Where it asks for less than tools can measure, it is as far as they can. */
function limitOf(
  threshold: BaselineThreshold,
  base: number,
  head: number
): { readonly value: number; readonly isOver: boolean } {
  const scale = scaleOf(threshold.metric)
  const own = limitFor(scale, base, threshold.allowance)
  const value = scale.kind === 'time' ? Math.max(own, base + LEAST_CHANGE_MS) : own
  return { value, isOver: !holds(head, { operator: threshold.operator, value }) }
}

function describeChange(
  { metric }: BaselineThreshold,
  { change }: ComparedScope
): Pick<Comparison, 'changePct' | 'interval' | 'resolutionPct'> {
  const scale = scaleOf(metric)
  const [low, high] = change.interval.map((y) => asChangePct(scale, y)).sort((a, b) => a - b) as [
    number,
    number
  ]
  return {
    changePct: asChangePct(scale, change.delta),
    interval: [low, high],
    resolutionPct: asChangePct(scale, change.resolution)
  }
}

/** A base has 20 runs at most. */
const COUNTS = 'no one two three four five six seven eight nine ten eleven twelve'.split(' ')
/** From so many base runs on, further ones hardly help. */
const ENOUGH_BASE_RUNS = 10

/** One sentence: the figures, and why they lead to this outcome. */
function explainScope(threshold: BaselineThreshold, judged: JudgedScope): string {
  const { finding } = judged
  const subject = threshold.name + describeScope(finding.scope)
  if (!('change' in finding)) return `${subject} ${finding.words}`
  const base =
    judged.because === 'unconfirmed step'
      ? ''
      : describeLoneBase(threshold, finding, judged.comparison.outcome === 'holds')
  const leftOut = finding.leftOut === undefined ? '' : `; ${finding.leftOut}`
  return `${subject} ${describeFigures(threshold, finding, judged)}; ${describeOutcome(threshold, finding, judged)}${base}${leftOut}`
}

/** `is 480 ms, +20 % against the baseline's 400 ms (10 runs; 98 % interval +12 % to +28 %)` */
function describeFigures(
  threshold: BaselineThreshold,
  finding: ComparedScope,
  { comparison }: JudgedScope
): string {
  const { head, base, headRuns, isPaired } = finding
  const { changePct = 0, interval: [low, high] = [0, 0] } = comparison
  const actual = formatActual({ threshold, actual: head, comparison })
  const confirmed = !isPaired && headRuns > 1 ? ` (mean of ${headRuns} runs)` : ''
  const [change, from, to] = [changePct, low, high].map((pct) => formatChange(threshold.metric, pct))
  return `is ${actual}${confirmed}, ${change ?? ''} against the baseline's ${formatValue(threshold.metric, base)} (${describeBaseRuns(threshold, finding)}; 98 % interval ${from ?? ''} to ${to ?? ''})`
}

function describeBaseRuns({ metric }: BaselineThreshold, finding: ComparedScope): string {
  const { baseRuns, knownBaseRuns, before, isPaired } = finding
  if (isPaired) return `${baseRuns} rounds side by side`
  const known = `${knownBaseRuns} ${knownBaseRuns === 1 ? 'run' : 'runs'}`
  if (baseRuns === knownBaseRuns) return known
  const newest = `the newest ${baseRuns} of ${known}`
  return before === undefined || baseRuns === 1
    ? newest
    : `${newest}, as the one before differs: ${formatValue(metric, before)}`
}

/** What a reader has to know about a base of one run. */
function describeLoneBase(threshold: BaselineThreshold, finding: ComparedScope, isJudged: boolean): string {
  const { metric } = threshold
  const { baseRuns, knownBaseRuns, before, isPaired } = finding
  if (isPaired || baseRuns > 1) return ''
  if (before !== undefined)
    return `; the run before it differs: ${formatValue(metric, before)}, so the baseline is the newest run alone; another run on the baseline branch makes it firm`
  return isJudged && knownBaseRuns === 1 ? `; ${reachOfOneRun(threshold, finding)}` : ''
}

function reachOfOneRun({ metric }: BaselineThreshold, { change: { dof, se } }: ComparedScope): string {
  const found = asChangePct(scaleOf(metric), tQuantile(1 - LEVEL, dof) * se)
  return `with one base run only changes above about ${formatChange(metric, found)} can be found`
}

function describeOutcome(
  threshold: BaselineThreshold,
  finding: ComparedScope,
  { comparison, because }: JudgedScope
): string {
  const limit = `${threshold.operator} ${formatValue(threshold.metric, comparison.limit ?? NaN)} (${writtenLimit(threshold)})`
  switch (because) {
    case 'failed samples':
      return `but ${finding.doubt ?? finding.unevenFailures ?? ''}`
    case 'unconfirmed step':
      return `but ${describeStep(threshold, finding)}`
    case 'few samples':
      return describeFewSamples(threshold, finding)
    case 'not significant':
      return `it must be ${limit}, but the difference may be noise: ${describeReach(threshold, finding)}`
    case 'low resolution':
      return `${limit} is not exceeded, but a breach could go unnoticed: ${describeReach(threshold, finding)}`
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
  const { samples, samplesNeeded, isPaired } = finding
  const where = isPaired ? 'all segments of one side together have' : 'a run has'
  const has = `${where} only ${formatValue('samples', samples)} samples`
  if (percentile === undefined)
    return `${has}, and ${name} needs ${formatValue('samples', samplesNeeded)}: run longer`
  if (samplesNeeded === Infinity) return `no samples are beyond ${name}: use a lower percentile`
  return `${has}, and ${name} needs ${formatValue('samples', samplesNeeded)} (${LEAST_SAMPLES_BEYOND} beyond it): run longer, or use a lower percentile`
}

/** What these runs can find, and what would help. */
function describeReach(threshold: BaselineThreshold, finding: ComparedScope): string {
  const { metric } = threshold
  const scale = scaleOf(metric)
  const { change, knownBaseRuns: baseRuns, isPaired } = finding
  const found = formatSize(metric, asChangePct(scale, change.resolution))
  if (isPaired)
    return `${baseRuns} rounds can only find changes above ${found}; use more rounds or longer segments`
  const advice = [
    ...(baseRuns < ENOUGH_BASE_RUNS ? ['record more runs on the baseline branch'] : []),
    ...(scale.isRelative && baseRuns < ENOUGH_BASE_RUNS
      ? ['set noise to what `loadgate calibrate` measures']
      : []),
    ...(hasNoRoom(threshold) ? ['allow for some change'] : []),
    'compare side by side'
  ]
  const last = advice.length > 1 ? `${advice.slice(0, -1).join(', ')}, or ${advice.at(-1) ?? ''}` : advice[0]
  const reach =
    baseRuns === 1 ? reachOfOneRun(threshold, finding) : `these runs can only find changes above ${found}`
  return `${reach}; ${last ?? ''}`
}

function hasNoRoom({ allowance: { ratio = 0, amount = 0 } }: BaselineThreshold): boolean {
  return Math.max(ratio, amount) === 0
}

/** The part of the line that states the limit: `baseline + 10%`. */
function writtenLimit({ text }: BaselineThreshold): string {
  return text.slice(Math.max(0, text.lastIndexOf('baseline')))
}

/** A line must hold in every scope: a broken one decides, then one that could not be judged, and the worst is named. */
export function weighScopes(threshold: BaselineThreshold, scopes: readonly JudgedScope[]): Judgement {
  const [worst] = [...scopes].sort((a, b) => rankOf(a.comparison) - rankOf(b.comparison) || a.room - b.room)
  if (worst === undefined) throw new Error(`${threshold.text}: there is no scope to weigh`)
  const { comparison, finding } = worst
  // A figure that says little is shown in words only.
  const actual = 'change' in finding && worst.because !== 'failed samples' ? finding.head : undefined
  return {
    threshold,
    verdict: verdictOf(comparison),
    actual,
    margin: isJudged(comparison) ? marginOf(threshold, { actual, comparison }) : undefined,
    ...namedScope(finding.scope),
    scopesChecked: scopes.length,
    reason: explainScope(threshold, worst) + countScopes(scopes, comparison),
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

function verdictOf({ outcome }: Comparison): Judgement['verdict'] {
  return outcome === 'broken' ? 'failed' : outcome === 'holds' ? 'passed' : 'inconclusive'
}

function marginOf(
  threshold: BaselineThreshold,
  { actual, comparison }: Pick<Judgement, 'actual'> & { readonly comparison: Comparison }
): number | undefined {
  const absolute = asAbsolute({ threshold, comparison })
  if (absolute === undefined || actual === undefined) return undefined
  return shareOfLimit(measureRoom(actual, absolute), absolute.value)
}

function countScopes(scopes: readonly JudgedScope[], { outcome }: Comparison): string {
  if (scopes.length === 1) return ''
  const count = (isCounted: (comparison: Comparison) => boolean) =>
    scopes.filter(({ comparison }) => isCounted(comparison)).length
  if (outcome === 'holds') return `; the closest of ${scopes.length} scopes`
  const same = `; ${outcome} in ${count((other) => other.outcome === outcome)} of ${scopes.length} scopes`
  const others = count((other) => other.outcome !== outcome && !isJudged(other))
  return others === 0 ? same : `${same}, not judged in ${others} more`
}
