import type { Judgement } from '../thresholds/judge/judgement.js'
import { isNotJudged } from './comparison-cells.js'
import { replaceControls } from './escape.js'
import type { Outcome, StoppedEarly, Verdict } from './outcome.js'
import { formatSpan } from './spans.js'
import { VERDICT_SIGNS } from './verdict-signs.js'

/** Of a gate that passed, with lines that nothing was found out about: not the sign of one that simply passed. */
const PARTLY_JUDGED = '☑️'

/** How many lines the baseline gave no judgement on. */
export function countNotJudged(judgements: readonly Judgement[]): number {
  return judgements.filter(isNotJudged).length
}

/** The verdict as a heading: `passed, 2 lines not judged`; `failed, stopped early after 2 min of 10 min`. */
export function describeVerdict({
  verdict,
  judgements,
  stoppedEarly
}: Pick<Outcome, 'judgements' | 'stoppedEarly'> & { readonly verdict: string }): string {
  return verdict + qualifyVerdict({ verdict, notJudged: countNotJudged(judgements), stoppedEarly })
}

export function qualifyVerdict(facts: {
  readonly verdict: string
  readonly notJudged: number
  readonly stoppedEarly?: StoppedEarly | null | undefined
}): string {
  const { verdict, notJudged, stoppedEarly } = facts
  const unjudged =
    verdict === 'passed' && notJudged > 0
      ? `, ${notJudged} ${notJudged === 1 ? 'line' : 'lines'} not judged`
      : ''
  const early = stoppedEarly == null ? '' : `, ${describeEarlyStop(stoppedEarly)}`
  return unjudged + early
}

export function signOf(verdict: Verdict, notJudged: number): string {
  return verdict === 'passed' && notJudged > 0 ? PARTLY_JUDGED : VERDICT_SIGNS[verdict]
}

function describeEarlyStop({ afterSeconds, ofSeconds }: StoppedEarly): string {
  return `stopped early after ${formatSpan(afterSeconds)} of ${formatSpan(ofSeconds)}`
}

/** Why the run was stopped, and what that saved; a sentence of its own beside the heading. */
export function explainEarlyStop({ threshold, afterSeconds, savedSeconds }: StoppedEarly): string {
  return `The gate stopped the run because of "${replaceControls(threshold)}", so the verdict is on its first ${formatSpan(afterSeconds)}; that saved ${formatSpan(savedSeconds)}.`
}

/** The reason without what the heading above it already says. */
export function reasonBelowHeading({
  reason,
  stoppedEarly
}: Pick<Outcome, 'reason' | 'stoppedEarly'>): string {
  return stoppedEarly === undefined ? reason : reason.replace(/^Stopped early after [^:]+: /, '')
}
