import { escapeMarkdown, safeLink } from './escape.js'
import { judgementRows } from './judgement-rows.js'
import { REHEARSAL } from './outcome.js'
import type { GridFacts, Outcome } from './outcome.js'
import { bytesOf, cutToBytes, formatBytes } from './size.js'
import { VERDICT_SIGNS } from './words.js'

export interface SummaryLinks {
  readonly artifactUrl: string | undefined
  /** Where the files lie when there is no artifact. */
  readonly artifactProblem: string | undefined
}

/** A summary of more than 1 MiB is dropped whole. */
const MOST_BYTES = 1_000_000
const MOST_ROWS = 200
const MOST_TEXT_BYTES = 20_000
const MOST_CELL_BYTES = 1_000

/** The job summary: verdict, thresholds, the service's words, grids, links. Everything foreign is escaped, and the whole fits. */
export function renderSummary(outcome: Outcome, links: SummaryLinks): string {
  const sections = [
    headline(outcome),
    ...outcome.notes.map((note) => `> ${foreign(note)}`),
    thresholdTable(outcome),
    serviceWords(outcome),
    gridTable(outcome.grids)
  ]
  const body = joinSections(sections)
  const isWhole = bytesOf(body) <= MOST_BYTES
  return `${joinSections([
    isWhole ? body : cutToBytes(body, MOST_BYTES),
    isWhole ? '' : '_Cut to fit; verdict.json in the artifact has all of it._',
    linkLine(outcome, links)
  ])}\n`
}

function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== '').join('\n\n')
}

/** Text that the project did not write, for one cell or line: escaped, and short enough to leave room for the others. */
function foreign(text: string): string {
  const shown = cutToBytes(text, MOST_CELL_BYTES)
  return escapeMarkdown(shown) + (shown === text ? '' : '…')
}

function headline({ verdict, reason, rehearsal, run }: Outcome): string {
  const name = run?.name === undefined ? '' : ` · ${foreign(run.name)}`
  const mark = rehearsal ? ` (${REHEARSAL})` : ''
  return `## ${VERDICT_SIGNS[verdict]} Load gate: ${verdict}${mark}${name}\n\n${foreign(reason)}`
}

function thresholdTable({ judgements }: Outcome): string {
  if (judgements.length === 0) return ''
  const rows = judgementRows(judgements).map((row) =>
    tableRow([
      `<code>${foreign(row.threshold)}</code>`,
      row.actual,
      row.margin,
      row.verdict,
      foreign(row.reason)
    ])
  )
  return table(['Threshold', 'Actual', 'Margin', 'Verdict', 'In words'], rows)
}

function serviceWords({ summary, rehearsal }: Outcome): string {
  if (summary === undefined || summary.trim() === '') return ''
  const lines = cutToBytes(summary.trim(), MOST_TEXT_BYTES)
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${escapeMarkdown(line)}`)
  return [`### The service's report${rehearsal ? ` (${REHEARSAL})` : ''}`, '', ...lines].join('\n')
}

function gridTable(grids: readonly GridFacts[]): string {
  if (grids.length === 0) return ''
  const rows = grids.map((grid) =>
    tableRow([
      foreign(grid.gridId),
      foreign(grid.region),
      grid.nodeCount === undefined ? '–' : String(grid.nodeCount),
      grid.bytes === undefined ? 'missing' : formatBytes(grid.bytes),
      foreign(grid.problem ?? '')
    ])
  )
  return `### Grids\n\n${table(['Grid', 'Region', 'Nodes', 'CSV', ''], rows)}`
}

function linkLine({ run }: Outcome, { artifactUrl, artifactProblem }: SummaryLinks): string {
  const runLink = safeLink(run?.url)
  const artifactLink = safeLink(artifactUrl)
  const parts = [
    ...(run === undefined
      ? []
      : [runLink === undefined ? `Run ${foreign(run.id)}` : `[Run ${foreign(run.id)}](${runLink})`]),
    ...(artifactLink === undefined ? [] : [`[CSVs, report and verdict](${artifactLink})`]),
    ...(artifactProblem === undefined ? [] : [foreign(artifactProblem)])
  ]
  return parts.join(' · ')
}

function table(headings: readonly string[], rows: readonly string[]): string {
  const shown = rows.slice(0, MOST_ROWS)
  const more = rows.length > MOST_ROWS ? [`\n${rows.length - MOST_ROWS} more are in verdict.json.`] : []
  return [tableRow(headings), tableRow(headings.map(() => '---')), ...shown, ...more].join('\n')
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
