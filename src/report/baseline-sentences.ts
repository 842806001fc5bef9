import type { BaselineFacts } from '../analysis/outcome.js'
import { shortenCommit } from './comparison-cells.js'
import { replaceControls, cutToBytes } from './escape.js'

/** More than anyone reads; verdict.json has all of them. */
const MOST_NOTES = 10
const MOST_BYTES = 1_000

/** What the run was compared with, or why it was not, and what to know about it. Branch, commit and notes are untrusted text. */
export function baselineSentences(baseline: BaselineFacts | undefined): string[] {
  if (baseline === undefined) return []
  const notes = baseline.notes.slice(0, MOST_NOTES)
  const more = baseline.notes.length - notes.length
  return [...describeState(baseline), ...notes, ...(more === 0 ? [] : [`${more} more are in verdict.json.`])]
    .filter((sentence) => sentence.trim() !== '')
    .map(asSentence)
}

function asSentence(words: string): string {
  const text = cutToBytes(replaceControls(words).trim(), MOST_BYTES)
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.')
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

function count(number: number, unit: string): string {
  return `${number} ${number === 1 ? unit : `${unit}s`}`
}
