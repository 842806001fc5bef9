import { renderCharts } from './charts.js'
import { renderErrorTable } from './error-table.js'
import { escapeMarkdown, safeLink } from '../escape.js'
import { countNotJudged, describeVerdict, explainEarlyStop, reasonBelowHeading, signOf } from '../headline.js'
import { keyFigures } from './key-figures.js'
import { FIGURE_HEADINGS, figureCells, renderLabelTables } from './label-tables.js'
import { renderNodes } from './node-table.js'
import { renderStalls } from './stall-table.js'
import { foreign, foreignParagraphs, joinSections, table, warningBox } from './markdown.js'
import { comparisonTable, comparisonWords, shownComparisons, thresholdTable } from './threshold-tables.js'
import { renderTrend } from './trend-chart.js'
import type { Outcome } from '../outcome.js'
import { bytesOf, cutToBytes, formatBytes } from '../size.js'
import { placeStalls } from '../shown-stalls.js'
import { warmUpSentence } from '../warm-up.js'
import { listWarnings } from '../warnings.js'
import { rehearsalMark } from '../verdict-signs.js'

export interface SummaryLinks {
  readonly artifactUrl: string | undefined
  /** Where the files are if there is no artifact. */
  readonly artifactProblem: string | undefined
}

/** GitHub drops a summary of more than 1 MiB entirely. */
const MOST_BYTES = 1_000_000
const MOST_ROWS = 200
const MOST_ERRORS = 20
const MOST_TEXT_BYTES = 20_000
/** Browsers accept no longer URL, and a truncated one is useless. */
const MOST_LINK_BYTES = 2_048

/** The job summary: verdict, thresholds, errors, charts, labels, grids, the service's summary, links. Untrusted text is escaped, and everything fits. */
export function renderSummary(outcome: Outcome, links: SummaryLinks): string {
  const { notes, measurements, rehearsal } = outcome
  const sections = [
    headline(outcome),
    keyFigures(outcome),
    warmUpLine(outcome),
    warningBox(listWarnings(outcome)),
    ...notes.map((note) => `> ${foreign(note)}`),
    thresholdTable(outcome, MOST_ROWS),
    comparisonTable(outcome, MOST_ROWS),
    comparisonWords(outcome),
    renderStalls(outcome),
    shownComparisons(outcome),
    renderTrend(outcome.trend, rehearsal),
    errorSection(outcome),
    renderCharts(measurements?.series, {
      ...{ rehearsal, isWithoutWarmUp: outcome.warmUp !== undefined },
      stalls: placeStalls(outcome, measurements)
    }),
    renderLabelTables(outcome, '###'),
    gridTable(outcome),
    renderNodes(outcome),
    serviceWords(outcome)
  ]
  const body = joinSections(sections)
  const way = linkLine(outcome, links)
  const mostBytes = MOST_BYTES - bytesOf(way)
  const isWhole = bytesOf(body) <= mostBytes
  return `${joinSections([
    isWhole ? body : cutToBytes(body, mostBytes),
    isWhole ? '' : '_Cut to fit; verdict.json in the artifact has all of it._',
    way
  ])}\n`
}

/** The verdict and its reason. */
function headline(outcome: Outcome): string {
  const { rehearsal, run } = outcome
  const name = run?.name === undefined ? '' : ` · ${foreign(run.name)}`
  return joinSections([
    `${verdictHeading(outcome)}${rehearsalMark(rehearsal)}${name}`,
    foreignParagraphs(reasonBelowHeading(outcome)),
    earlyStop(outcome)
  ])
}

/** Sign and word of the verdict, and what keeps it from being a plain one. */
export function verdictHeading(outcome: Outcome): string {
  const sign = signOf(outcome.verdict, countNotJudged(outcome.judgements))
  return `## ${sign} Load gate: ${describeVerdict(outcome)}`
}

export function earlyStop({ stoppedEarly }: Outcome): string {
  return stoppedEarly === undefined ? '' : foreign(explainEarlyStop(stoppedEarly))
}

/** What is in none of the figures. */
export function warmUpLine(outcome: Outcome): string {
  const sentence = warmUpSentence(outcome)
  return sentence === undefined ? '' : sentence + rehearsalMark(outcome.rehearsal)
}

function errorSection(outcome: Outcome): string {
  const errors = renderErrorTable(outcome, MOST_ERRORS)
  return errors === '' ? '' : joinSections([`### Errors${rehearsalMark(outcome.rehearsal)}`, errors])
}

function serviceWords({ summary, rehearsal }: Outcome): string {
  if (summary === undefined || summary.trim() === '') return ''
  const lines = cutToBytes(summary.trim(), MOST_TEXT_BYTES)
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${escapeMarkdown(line)}`)
  return [`### The service's report${rehearsalMark(rehearsal)}`, '', ...lines].join('\n')
}

function gridTable({ grids, measurements, rehearsal }: Outcome): string {
  if (grids.length === 0) return ''
  const rows = grids
    .slice(0, MOST_ROWS)
    .map(({ gridId, region, nodeCount, bytes, problem }) => [
      foreign(gridId),
      foreign(region),
      nodeCount === undefined ? '–' : String(nodeCount),
      bytes === undefined ? 'missing' : formatBytes(bytes),
      ...(measurements === undefined ? [] : figureCells(measurements.figures({ grid: gridId }))),
      foreign(problem ?? '')
    ])
  const figures = measurements === undefined ? [] : FIGURE_HEADINGS
  const others = grids.length - rows.length
  return joinSections([
    `### Grids${rehearsalMark(rehearsal)}`,
    table(['Grid', 'Region', 'Nodes:', 'CSV:', ...figures, 'Problem'], rows),
    others === 0 ? '' : `${others} more are in verdict.json.`
  ])
}

/** Links to the evidence. */
export function linkLine({ run }: Outcome, { artifactUrl, artifactProblem }: SummaryLinks): string {
  const runLink = shortLink(run?.url)
  const artifactLink = shortLink(artifactUrl)
  const parts = [
    ...(run === undefined
      ? []
      : [runLink === undefined ? `Run ${foreign(run.id)}` : `[Run ${foreign(run.id)}](${runLink})`]),
    ...(artifactLink === undefined ? [] : [`[CSVs, report and verdict](${artifactLink})`]),
    ...(artifactProblem === undefined ? [] : [foreign(artifactProblem)])
  ]
  return parts.join(' · ')
}

/** Also undefined for a URL that would take up all the space. */
export function shortLink(address: string | undefined): string | undefined {
  const link = safeLink(address)
  return link !== undefined && bytesOf(link) <= MOST_LINK_BYTES ? link : undefined
}
