import * as v from 'valibot'
import { formatValue } from '../../analysis/thresholds/format.js'
import { safeLink } from '../escape.js'
import { countNotJudged, qualifyVerdict, signOf, VERDICT_SIGNS } from '../headline.js'
import { table } from './markdown.js'
import type { Outcome, Verdict } from '../../analysis/outcome.js'

const MOST_ENTRIES = 6
/** More than any gate has. */
const MOST_LINES = 100_000
const START = '<!-- loadgate history '
const END = ' -->'
const COMMIT = /^[0-9a-f]{7,64}$/

/** Null for anything but such a number. */
const numberUpTo = (most: number) =>
  v.fallback(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(most))), null)

/** The outcome of one commit. Anyone with write access can edit a comment: nothing else is read. */
const ENTRY = v.object({
  commit: v.pipe(v.string(), v.regex(COMMIT)),
  verdict: v.picklist(Object.keys(VERDICT_SIGNS) as Verdict[]),
  apdex: numberUpTo(1),
  p95Ms: numberUpTo(Number.MAX_SAFE_INTEGER),
  rehearsal: v.fallback(v.boolean(), false),
  /** How many lines the baseline gave no judgement on; absent if there is none. */
  notJudged: v.optional(v.fallback(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST_LINES)), 0))
})

export type HistoryEntry = v.InferOutput<typeof ENTRY>

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

/** Invalid entries are dropped. */
export function readHistory(comment: string): HistoryEntry[] {
  const start = comment.indexOf(START)
  const end = comment.indexOf(END, start + START.length)
  if (start < 0 || end < 0) return []
  try {
    const found: unknown = JSON.parse(comment.slice(start + START.length, end))
    return (Array.isArray(found) ? found.slice(0, MOST_ENTRIES) : []).flatMap((entry) => {
      const read = v.safeParse(ENTRY, entry)
      return read.success ? [read.output] : []
    })
  } catch {
    return []
  }
}

/** The last verdicts by commit, newest first; empty if there is only one. */
export function renderHistory(history: readonly HistoryEntry[], repositoryUrl: string | undefined): string {
  if (history.length < 2) return ''
  const rows = history.map(({ commit, verdict, apdex, p95Ms, rehearsal, notJudged = 0 }) => [
    linkCommit(commit, repositoryUrl),
    `${signOf(verdict, notJudged)} ${verdict}${qualifyVerdict({ verdict, notJudged })}${rehearsal ? ' (rehearsal)' : ''}`,
    apdex === null ? '–' : formatValue('apdex', apdex),
    p95Ms === null ? '–' : formatValue('percentile', p95Ms)
  ])
  return table(['Commit', 'Verdict', 'Apdex:', 'p95:'], rows)
}

function linkCommit(commit: string, repositoryUrl: string | undefined): string {
  const link = repositoryUrl === undefined ? undefined : safeLink(`${repositoryUrl}/commit/${commit}`)
  const short = `<code>${commit.slice(0, 7)}</code>`
  return link === undefined ? short : `[${short}](${link})`
}
