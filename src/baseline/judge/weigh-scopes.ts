import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { measureRoom } from '../../thresholds/judge/compare.js'
import { asAbsolute, type Comparison, type Judgement } from '../../thresholds/judge/judgement.js'
import { namedScope, shareOfLimit } from '../../thresholds/judge/weigh.js'
import { explainScope } from './explain-scope.js'
import type { JudgedScope } from './judge-scope.js'

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
