import { type BaselineThreshold, isBaselineThreshold } from '../thresholds/grammar/threshold.js'
import { leaveUndecided, type Judgement } from '../thresholds/judge/judgement.js'
import { formatValue, formatChange } from '../thresholds/format.js'
import { describeNoScope, listScopes, sidesOf } from './judge/sides.js'
import type { Compared, ComparedRun, ComparisonEvidence, ComparisonRules, NoBase } from './judge/sides.js'
import { compareScope, type ComparedScope, type ScopeFinding } from './judge/compare-scope.js'
import { emptyComparison, hasEnoughSamples, judgeScope, weighScopes } from './judge/judge-scope.js'
import { addStalls, asFelt, hasStalls } from './judge/over-time.js'
import { benjaminiHochberg, LEVEL, meanOf } from './statistics/evidence-of-change.js'
import { fromScale, SCALES, toScale } from './statistics/scale.js'
import { parseThresholds } from '../thresholds/grammar/grammar.js'

const LEAST_PAIRS = 2

/** Judges every line that names `baseline`, all of them together: the more lines, the more evidence each one needs. */
export function judgeBaselineLines(
  thresholds: readonly BaselineThreshold[],
  evidence: ComparisonEvidence,
  rules: ComparisonRules
): Judgement[] {
  const judged = judgeLines(thresholds, evidence, rules)
  if (evidence.kind === 'none' || !hasStalls(thresholds, evidence)) return judged
  const felt = judgeLines(thresholds, asFelt(evidence), rules)
  return judged.map((bySamples, i) =>
    addStalls(bySamples, felt[i] ?? bySamples, evidence, rules.onStall ?? 'fail')
  )
}

function judgeLines(
  thresholds: readonly BaselineThreshold[],
  evidence: ComparisonEvidence,
  rules: ComparisonRules
): Judgement[] {
  const leaveAll = (missing: NoBase) =>
    thresholds.map((threshold) => leaveUncompared(threshold, missing, rules))
  if (evidence.kind === 'none') return leaveAll(evidence)
  const missing = describeMissing(evidence)
  if (missing !== undefined) return leaveAll(missing)
  const sides = sidesOf(evidence)
  const lines = thresholds.map((threshold) => ({
    threshold,
    findings: listScopes(threshold.selector, sides).map((scope) =>
      compareScope(threshold, scope, sides, rules.noise)
    )
  }))
  const found = lines.flatMap(({ findings }) => findings)
  const significant = findSignificant(found, ({ change }) => change.p)
  const significantBefore = findSignificant(
    found,
    ({ change, beforeStep }) => (beforeStep?.change ?? change).p
  )
  return lines.map(({ threshold, findings }) => {
    if (findings.length === 0) {
      const reason = describeNoScope(threshold.selector, sides)
      return leaveUncompared(threshold, { outcome: 'not comparable', reason }, rules)
    }
    const judged = findings.map((finding) =>
      judgeScope(threshold, finding, rules, {
        isSignificant: significant.has(finding),
        isSignificantBefore: significantBefore.has(finding)
      })
    )
    return weighScopes(threshold, judged)
  })
}

/** Why nothing can be compared; undefined if something can. */
export function describeMissing(evidence: Compared): NoBase | undefined {
  if (evidence.kind === 'recorded') {
    if (evidence.base.length === 0) return { outcome: 'no baseline', reason: 'there is no base run' }
    if (evidence.head.length > 0) return undefined
    return { outcome: 'not comparable', reason: 'this run has no figures' }
  }
  if (evidence.pairs.length >= LEAST_PAIRS) return undefined
  const reason = `side by side needs at least ${LEAST_PAIRS} complete rounds, and there ${evidence.pairs.length === 1 ? 'is one' : 'are none'}`
  return { outcome: 'not comparable', reason }
}

function leaveUncompared(
  threshold: BaselineThreshold,
  { outcome, reason }: NoBase,
  rules: ComparisonRules
): Judgement {
  return { ...leaveUndecided(threshold, reason), comparison: emptyComparison(outcome, rules) }
}

/** Scopes with too few samples are not tested: their figures vary more than is assumed, and would make others look significant. */
function findSignificant(
  findings: readonly ScopeFinding[],
  pOf: (finding: ComparedScope) => number
): Set<ScopeFinding> {
  const tested = findings.flatMap((finding) =>
    'change' in finding && hasEnoughSamples(finding) ? [finding] : []
  )
  const isSignificant = benjaminiHochberg(tested.map(pOf), LEVEL)
  return new Set(tested.filter((_, i) => isSignificant[i]))
}

const NOTEWORTHY = 0.1
/** The same as for other figures at most. */
const NEWEST_RUNS = 5

/** A sentence if throughput moved by more than 10 %: plans with a fixed number of users hide stalls as lower throughput. */
export function describeLoadChange(evidence: ComparisonEvidence): string | undefined {
  if (evidence.kind === 'none') return undefined
  const { base, head, isPaired } = sidesOf(evidence)
  const before = typicalThroughput(isPaired ? base : base.slice(-NEWEST_RUNS))
  const after = typicalThroughput(head)
  if (before === undefined || after === undefined) return undefined
  const change = after / before - 1
  if (Math.abs(change) <= NOTEWORTHY) return undefined
  const [was, is] = [before, after].map((rate) => formatValue('throughput', rate))
  return `the load differed: throughput was ${is ?? ''} against ${was ?? ''} in the baseline (${formatChange('throughput', change * 100)}), so response times are not fully comparable; with a fixed number of users, stalls show as lower throughput`
}

function typicalThroughput(runs: readonly ComparedRun[]): number | undefined {
  const scale = SCALES.throughput
  const known = runs.flatMap((run) => toScale(scale, run.figures({})?.throughput) ?? [])
  return known.length === 0 ? undefined : fromScale(scale, meanOf(known))
}

/** What is compared and shown, never judged, where no line names `baseline`. */
export const SHOWN_LINES = readLines([
  'warn: p95 <= baseline + 10%',
  'warn: throughput >= baseline - 10%',
  'warn: error_rate <= baseline + 0.5pp'
])

export function readLines(lines: readonly string[]): readonly BaselineThreshold[] {
  return parseThresholds(lines.join('\n')).thresholds.filter(isBaselineThreshold)
}
