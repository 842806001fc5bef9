import type { BaselineThreshold } from '../thresholds/grammar/threshold.js'
import { leaveUndecided, type Judgement, type OnStall } from '../thresholds/judge/judgement.js'
import type { ComparedRun } from './compared-run.js'
import { compareScope, type ComparedScope, type ScopeFinding } from './judge/compare-scope.js'
import { emptyComparison, hasEnoughSamples, judgeScope } from './judge/judge-scope.js'
import { describeNoScope, listScopes } from './judge/list-scopes.js'
import { addStalls, asFelt, hasStalls } from './judge/over-time.js'
import { sidesOf, type Sides } from './judge/sides.js'
import { weighScopes } from './judge/weigh-scopes.js'
import { benjaminiHochberg } from './statistics/benjamini-hochberg.js'
import { LEVEL } from './statistics/evidence-of-change.js'

export { describeLoadChange } from './load-change.js'
export { SHOWN_LINES } from './shown-lines.js'

const LEAST_PAIRS = 2

/** What lines that name `baseline` are judged by. */
export type ComparisonEvidence =
  | {
      readonly kind: 'recorded'
      /** Usable and comparable, oldest first. */
      readonly base: readonly ComparedRun[]
      /** The run, and those that confirmed it. */
      readonly head: readonly ComparedRun[]
      /** The base runs are those of this branch. */
      readonly branch?: string
    }
  | {
      readonly kind: 'side-by-side'
      readonly pairs: readonly { readonly base: ComparedRun; readonly head: ComparedRun }[]
      /** How many rounds there were, complete or not; by default as many as pairs. */
      readonly rounds?: number
    }
  | {
      readonly kind: 'none'
      readonly outcome: 'no baseline' | 'not comparable'
      /** One sentence: why, and what to do. */
      readonly reason: string
    }

export interface ComparisonRules {
  /** The assumed noise from run to run: 0.05 for `5%`. */
  readonly noise: number
  readonly onMissing: 'warn' | 'fail' | 'pass'
  readonly onUnsure: 'warn' | 'fail' | 'pass'
  /** `fail` by default. */
  readonly onStall?: OnStall
}

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
    addStalls({ bySamples, felt: felt[i] ?? bySamples }, evidence, rules.onStall ?? 'fail')
  )
}

/** The same by the figures that the runs give. */
function judgeLines(
  thresholds: readonly BaselineThreshold[],
  evidence: ComparisonEvidence,
  rules: ComparisonRules
): Judgement[] {
  const leaveAll = (missing: Missing) =>
    thresholds.map((threshold) => leaveUncompared(threshold, missing, rules))
  if (evidence.kind === 'none') return leaveAll(evidence)
  const missing = describeMissing(evidence)
  if (missing !== undefined) return leaveAll(missing)
  const sides = sidesOf(evidence)
  const lines = thresholds.map((threshold) => ({
    threshold,
    findings: listScopes(threshold.selector, sides).map((scope) =>
      compareScope(threshold, scope, { sides, noise: rules.noise })
    )
  }))
  const found = lines.flatMap(({ findings }) => findings)
  const significant = findSignificant(found, ({ change }) => change.p)
  const significantBefore = findSignificant(
    found,
    ({ change, beforeStep }) => (beforeStep?.change ?? change).p
  )
  return lines.map(({ threshold, findings }) => {
    if (findings.length === 0) return leaveUncompared(threshold, noScope(threshold, sides), rules)
    const judged = findings.map((finding) =>
      judgeScope(threshold, finding, {
        rules,
        isSignificant: significant.has(finding),
        isSignificantBefore: significantBefore.has(finding)
      })
    )
    return weighScopes(threshold, judged)
  })
}

type Compared = Exclude<ComparisonEvidence, { readonly kind: 'none' }>
type Missing = Omit<Extract<ComparisonEvidence, { readonly kind: 'none' }>, 'kind'>

/** Why nothing can be compared at all. */
function describeMissing(evidence: Compared): Missing | undefined {
  switch (evidence.kind) {
    case 'recorded':
      if (evidence.base.length === 0) return { outcome: 'no baseline', reason: 'there is no base run' }
      return evidence.head.length === 0
        ? { outcome: 'not comparable', reason: 'this run has no figures' }
        : undefined
    case 'side-by-side':
      return evidence.pairs.length < LEAST_PAIRS
        ? {
            outcome: 'not comparable',
            reason: `side by side needs at least ${LEAST_PAIRS} complete rounds, and there ${evidence.pairs.length === 1 ? 'is one' : 'are none'}`
          }
        : undefined
  }
}

function leaveUncompared(
  threshold: BaselineThreshold,
  { outcome, reason }: Missing,
  rules: ComparisonRules
): Judgement {
  return { ...leaveUndecided(threshold, reason), comparison: emptyComparison(outcome, rules) }
}

function noScope({ selector }: BaselineThreshold, sides: Sides): Missing {
  return { outcome: 'not comparable', reason: describeNoScope(selector, sides) }
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
