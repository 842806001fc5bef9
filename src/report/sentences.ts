import type { Judgement } from '../analysis/thresholds/judge/judgement.js'
import { isNotJudged } from '../analysis/thresholds/judge/judge.js'
import { formatDuration } from '../contract/text.js'
import { replaceControls } from './escape.js'
import { type Outcome, type StoppedEarly, type Verdict, REHEARSAL } from '../analysis/outcome.js'

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
  return `stopped early after ${formatDuration(afterSeconds * 1000)} of ${formatDuration(ofSeconds * 1000)}`
}

/** Why the run was stopped, and what that saved; a sentence of its own beside the heading. */
export function explainEarlyStop({ threshold, afterSeconds, savedSeconds }: StoppedEarly): string {
  return `The gate stopped the run because of "${replaceControls(threshold)}", so the verdict is on its first ${formatDuration(afterSeconds * 1000)}; that saved ${formatDuration(savedSeconds * 1000)}.`
}

/** The reason without what the heading above it already says. */
export function reasonBelowHeading({
  reason,
  stoppedEarly
}: Pick<Outcome, 'reason' | 'stoppedEarly'>): string {
  return stoppedEarly === undefined ? reason : reason.replace(/^Stopped early after [^:]+: /, '')
}

/** The sign of each verdict; it never appears without the word. */
export const VERDICT_SIGNS: Readonly<Record<Verdict, string>> = {
  passed: '✅',
  failed: '❌',
  inconclusive: '⚠️',
  'timed-out': '⏱️',
  error: '💥',
  cancelled: '🚫',
  skipped: '⏭️',
  detached: '📤'
}

/** Appended to the heading of everything that shows numbers. */
export function rehearsalMark(rehearsal: boolean): string {
  return rehearsal ? ` (${REHEARSAL})` : ''
}

/** In UTC, like the run's other times. */
export function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ') + ' UTC'
}
