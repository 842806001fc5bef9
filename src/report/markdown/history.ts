import { safeLink } from '../escape.js'
import { countNotJudged, qualifyVerdict, signOf, VERDICT_SIGNS } from '../sentences.js'
import { showFigure } from '../rows.js'
import { table } from './markdown.js'
import type { Outcome, Verdict } from '../../analysis/outcome.js'

export interface HistoryEntry {
  readonly commit: string
  readonly verdict: Verdict
  readonly apdex: number | null
  readonly p95Ms: number | null
  readonly rehearsal: boolean
  /** How many lines the baseline gave no judgement on; absent if there is none. */
  readonly notJudged?: number
}

const MOST_ENTRIES = 6
/** More than any gate has. */
const MOST_LINES = 100_000
const START = '<!-- loadgate history '
const END = ' -->'
const COMMIT = /^[0-9a-f]{7,64}$/

/** The history with this outcome in front; a commit that was judged again only keeps its last verdict. */
export function extendHistory(
  history: readonly HistoryEntry[],
  commit: string,
  { verdict, apdex, measurements, rehearsal, judgements }: Outcome
): HistoryEntry[] {
  if (!COMMIT.test(commit)) return [...history]
  const notJudged = countNotJudged(judgements)
  const entry = {
    commit,
    verdict,
    apdex: apdex?.score ?? null,
    p95Ms: measurements?.figures({})?.percentileMs(95) ?? null,
    rehearsal,
    ...(notJudged > 0 && { notJudged })
  }
  return [entry, ...history.filter((other) => other.commit !== commit)].slice(0, MOST_ENTRIES)
}

/** An invisible line for `readHistory`. Nothing in an entry can end it. */
export function writeHistory(history: readonly HistoryEntry[]): string {
  return START + JSON.stringify(history) + END
}

/** Anyone with write access can edit a comment: invalid entries are dropped, and nothing else is read. */
export function readHistory(comment: string): HistoryEntry[] {
  const start = comment.indexOf(START)
  const end = comment.indexOf(END, start + START.length)
  if (start < 0 || end < 0) return []
  try {
    const found: unknown = JSON.parse(comment.slice(start + START.length, end))
    return Array.isArray(found) ? found.slice(0, MOST_ENTRIES).flatMap(readEntry) : []
  } catch {
    return []
  }
}

function readEntry(found: unknown): HistoryEntry[] {
  if (typeof found !== 'object' || found === null) return []
  const { commit, verdict, apdex, p95Ms, rehearsal, notJudged } = found as Record<string, unknown>
  if (typeof commit !== 'string' || !COMMIT.test(commit)) return []
  if (typeof verdict !== 'string' || !Object.hasOwn(VERDICT_SIGNS, verdict)) return []
  return [
    {
      commit,
      verdict: verdict as Verdict,
      apdex: isNumberUpTo(apdex, 1) ? apdex : null,
      p95Ms: isNumberUpTo(p95Ms, Number.MAX_SAFE_INTEGER) ? p95Ms : null,
      rehearsal: rehearsal === true,
      ...(Number.isSafeInteger(notJudged) &&
        isNumberUpTo(notJudged, MOST_LINES) &&
        notJudged > 0 && { notJudged })
    }
  ]
}

function isNumberUpTo(value: unknown, largest: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= largest
}

/** The last verdicts by commit, newest first; empty if there is only one. */
export function renderHistory(history: readonly HistoryEntry[], repositoryUrl: string | undefined): string {
  if (history.length < 2) return ''
  const rows = history.map(({ commit, verdict, apdex, p95Ms, rehearsal, notJudged = 0 }) => [
    linkCommit(commit, repositoryUrl),
    `${signOf(verdict, notJudged)} ${verdict}${qualifyVerdict({ verdict, notJudged })}${rehearsal ? ' (rehearsal)' : ''}`,
    showFigure('apdex', apdex ?? undefined),
    showFigure('percentile', p95Ms ?? undefined)
  ])
  return table(['Commit', 'Verdict', 'Apdex:', 'p95:'], rows)
}

function linkCommit(commit: string, repositoryUrl: string | undefined): string {
  const link = repositoryUrl === undefined ? undefined : safeLink(`${repositoryUrl}/commit/${commit}`)
  const short = `<code>${commit.slice(0, 7)}</code>`
  return link === undefined ? short : `[${short}](${link})`
}
