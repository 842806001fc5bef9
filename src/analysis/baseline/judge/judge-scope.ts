import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { holds, type Comparison } from '../../thresholds/judge/judgement.js'
import { classify, mostResolutionFor, type Doubt } from '../statistics/classify.js'
import { asChangePct, limitFor, limitOnScale, scaleOf } from '../statistics/scale.js'
import type { ComparisonRules } from './sides.js'
import type { ComparedScope, ScopeFinding } from './compare-scope.js'

/** Tools write whole milliseconds. */
const LEAST_CHANGE_MS = 2

/** A line's outcome in one scope. */
export interface JudgedScope {
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
