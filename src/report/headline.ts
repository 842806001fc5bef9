import type { Judgement } from '../analysis/thresholds/judge/judgement.js'
import { isNotJudged } from './comparison-cells.js'
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

/** A length of time for people to read: `90 s`, `2 min`, `1 h 5 min`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 120) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** In UTC, like the run's other times. */
export function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ') + ' UTC'
}
