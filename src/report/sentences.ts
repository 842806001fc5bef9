import type { Judgement } from '../analysis/thresholds/judge/judgement.js'
import { isNotJudged } from '../analysis/thresholds/judge/judge.js'
import { asSentence, capitalize, count, formatDuration } from '../contract/text.js'
import { cutToBytes, replaceControls, shortenCommit } from './escape.js'
import type { Source } from '../analysis/results/figures/measurements.js'
import { REHEARSAL } from '../analysis/outcome.js'
import type { BaselineFacts, Outcome, StoppedEarly, Verdict } from '../analysis/outcome.js'

/** More than anyone reads; verdict.json has all of them. */
const MOST_LINES = 10
const MOST_SENTENCE_BYTES = 1_000

/** For a gate that passed with lines that were not judged: not the sign of one that simply passed. */
const PARTLY_JUDGED = '☑️'

/** How many lines the baseline gave no judgement on. */
export function countNotJudged(judgements: readonly Judgement[]): number {
  return judgements.filter(isNotJudged).length
}

/** The verdict as a heading: `passed, 2 lines not judged`; `failed, stopped early after 2 min of 10 min`. */
export function describeVerdict(outcome: Pick<Outcome, 'verdict' | 'judgements' | 'stoppedEarly'>): string {
  return outcome.verdict + qualifyVerdict({ ...outcome, notJudged: countNotJudged(outcome.judgements) })
}

export function qualifyVerdict(facts: {
  readonly verdict: string
  readonly notJudged: number
  readonly stoppedEarly?: StoppedEarly | null | undefined
}): string {
  const { verdict, notJudged, stoppedEarly } = facts
  const unjudged = verdict === 'passed' && notJudged > 0 ? `, ${count(notJudged, 'line')} not judged` : ''
  if (stoppedEarly == null) return unjudged
  const { afterSeconds, ofSeconds } = stoppedEarly
  return `${unjudged}, stopped early after ${formatDuration(afterSeconds * 1000)} of ${formatDuration(ofSeconds * 1000)}`
}

export function signOf(verdict: Verdict, notJudged: number): string {
  return verdict === 'passed' && notJudged > 0 ? PARTLY_JUDGED : VERDICT_SIGNS[verdict]
}

/** Why the run was stopped, and what that saved; a sentence of its own beside the heading. */
export function explainEarlyStop({ threshold, afterSeconds, savedSeconds }: StoppedEarly): string {
  return `The gate stopped the run because of "${replaceControls(threshold)}", so the verdict is on its first ${formatDuration(afterSeconds * 1000)}; that saved ${formatDuration(savedSeconds * 1000)}.`
}

/** The reason without what the heading above it already says. */
export function reasonBelowHeading(outcome: Pick<Outcome, 'reason' | 'stoppedEarly'>): string {
  const { reason, stoppedEarly } = outcome
  return stoppedEarly === undefined ? reason : reason.replace(/^Stopped early after [^:]+: /, '')
}

/** The sign of each verdict; it never appears without the word. */
export const VERDICT_SIGNS: Readonly<Record<Verdict, string>> = {
  ...{ passed: '✅', failed: '❌', inconclusive: '⚠️', 'timed-out': '⏱️' },
  ...{ error: '💥', cancelled: '🚫', skipped: '⏭️', detached: '📤' }
}

/** Appended to the heading of everything that shows numbers. */
export function rehearsalMark(rehearsal: boolean): string {
  return rehearsal ? ` (${REHEARSAL})` : ''
}

/** In UTC, like the run's other times. */
export function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ') + ' UTC'
}

/** The figures of what counts are always shown; this says what is not among them. Undefined without a warm-up. */
export function warmUpSentence(
  outcome: Partial<Pick<Outcome, 'warmUp' | 'measurements'>>
): string | undefined {
  const { warmUp, measurements } = outcome
  if (warmUp === undefined) return undefined
  const start = `Warm-up: ${formatDuration(warmUp.ms)};`
  if (warmUp.samples === 0) return `${start} there were no samples to leave out.`
  return measurements?.figures({}) === undefined
    ? `${start} all ${describeCounts(warmUp)} left out, so there are no figures.`
    : `${start} ${describeCounts(warmUp)} left out of all figures.`
}

/** The CSVs with all of their rows, and with what keeps them from being evidence, the warm-up included. */
export function listSources({ warmUp, measurements }: Pick<Outcome, 'warmUp' | 'measurements'>): Source[] {
  const all = warmUp?.whole.sources ?? []
  return (measurements?.sources ?? all).map((source, i) => {
    const whole = all[i]
    return whole?.grid === source.grid ? { ...source, rows: whole.rows } : source
  })
}

function describeCounts({ samples, failures }: { samples: number; failures: number }): string {
  const noun = samples === 1 ? 'sample' : 'samples'
  const failed = failures === 0 ? 'none failed' : `${failures.toLocaleString('en-US')} failed`
  return `${samples.toLocaleString('en-US')} ${noun} (${failed})`
}

/** Warnings besides the verdict: load that was not reached, and the service's own error messages. */
export function listWarnings(outcome: Pick<Outcome, 'warnings' | 'remoteErrors'>): readonly string[] {
  const { warnings, remoteErrors } = outcome
  return first([...warnings, ...remoteErrors.map((line) => `The service says: ${line}`)])
}

/** What the run was compared with, or why it was not, and what to know about it. Branch, commit and notes are untrusted text. */
export function baselineSentences(baseline: BaselineFacts | undefined): string[] {
  if (baseline === undefined) return []
  return [...describeState(baseline), ...first(baseline.notes)]
    .filter((sentence) => sentence.trim() !== '')
    .map((words) => asSentence(capitalize(cutToBytes(replaceControls(words).trim(), MOST_SENTENCE_BYTES))))
}

function describeState(baseline: BaselineFacts): string[] {
  const { state, reason } = baseline
  if (state === 'compared') return [describeBase(baseline), ...(reason === undefined ? [] : [reason])]
  if (state === 'off') return reason === undefined ? [] : [reason]
  return [nameState(state, reason ?? '')]
}

/** A reason that has the word already does not get it twice. */
function nameState(state: string, reason: string): string {
  if (reason === '') return state
  return reason.toLowerCase().includes(state) ? reason : `${state}: ${reason}`
}

function describeBase({ kind, runs, branch, commit }: BaselineFacts): string {
  const newest = commit === undefined ? '' : shortenCommit(commit)
  if (kind === 'side-by-side') {
    const at = newest === '' ? '' : ` (${newest})`
    return `Compared side by side with the base${at} in ${count(runs.length, 'round')}.`
  }
  const place = branch === undefined ? '' : ` of ${branch}`
  const at = newest === '' ? '' : runs.length === 1 ? `, at ${newest}` : `, the newest at ${newest}`
  return `Compared with ${count(runs.length, 'run')}${place}${at}.`
}

function first(lines: readonly string[]): readonly string[] {
  const more = lines.length - MOST_LINES
  return more <= 0 ? lines : [...lines.slice(0, MOST_LINES), `${more} more are in verdict.json.`]
}
