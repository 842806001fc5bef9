import { escapeMarkdown, safeLink, bytesOf, cutToBytes } from '../escape.js'
import {
  countNotJudged,
  describeVerdict,
  explainEarlyStop,
  reasonBelowHeading,
  signOf,
  rehearsalMark,
  warmUpSentence,
  listWarnings
} from '../sentences.js'
import { type Outcome, REHEARSAL } from '../../analysis/outcome.js'
import { placeStalls } from '../stalls.js'
import type { Trend, TrendPoint } from '../../analysis/baseline/build-trend.js'
import { when } from '../../contract/text.js'
import { formatValue } from '../../analysis/thresholds/format.js'
import { showFigure } from '../rows.js'
import { boundTrend, remarkOn, timeOf } from '../trend-points.js'
import { failedLabelChanges, foldedLabelChanges } from './label-changes.js'
import { renderCharts } from './charts.js'
import { renderFailedSamples } from './failed-samples.js'
import { keyFigures, renderErrorTable, renderGrids, renderLabelTables, renderNodes } from './figure-tables.js'
import {
  renderStalls,
  comparisonTable,
  comparisonWords,
  shownComparisons,
  thresholdTable
} from './threshold-tables.js'
import {
  foreign,
  foreignParagraphs,
  joinSections,
  table,
  warningBox,
  fold,
  drawChart,
  GREY,
  ORANGE
} from './markdown.js'

export interface SummaryLinks {
  readonly artifactUrl: string | undefined
  /** Where the files are if there is no artifact. */
  readonly artifactProblem: string | undefined
}

/** GitHub drops a summary of more than 1 MiB entirely. */
const MOST_BYTES = 1_000_000
const MOST_ROWS = 200
const MOST_ERRORS = 20
const MOST_LABEL_CHANGES = 10
const MOST_TEXT_BYTES = 20_000
/** Browsers accept no longer URL, and a truncated one is useless. */
const MOST_LINK_BYTES = 2_048

/** The job summary, from the verdict to the links. Untrusted text is escaped, and everything fits into the size that GitHub allows. */
export function renderSummary(outcome: Outcome, links: SummaryLinks): string {
  const { notes, measurements, rehearsal } = outcome
  const sections = [
    headline(outcome),
    keyFigures(outcome),
    failedLabelChanges(outcome, MOST_LABEL_CHANGES),
    warmUpLine(outcome),
    warningBox(listWarnings(outcome)),
    ...notes.map((note) => `> ${foreign(note)}`),
    thresholdTable(outcome, MOST_ROWS),
    comparisonTable(outcome, MOST_ROWS),
    comparisonWords(outcome),
    renderStalls(outcome),
    shownComparisons(outcome),
    foldedLabelChanges(outcome, MOST_LABEL_CHANGES),
    renderTrend(outcome.trend, rehearsal),
    errorSection(outcome),
    renderCharts(measurements?.series, {
      ...{ rehearsal, isWithoutWarmUp: outcome.warmUp !== undefined },
      stalls: placeStalls(outcome, measurements)
    }),
    renderLabelTables(outcome, '###'),
    renderGrids(outcome),
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

export function warmUpLine(outcome: Outcome): string {
  const sentence = warmUpSentence(outcome)
  return sentence === undefined ? '' : sentence + rehearsalMark(outcome.rehearsal)
}

function errorSection(outcome: Outcome): string {
  const errors = renderErrorTable(outcome, MOST_ERRORS)
  if (errors === '') return ''
  return joinSections([`### Errors${rehearsalMark(outcome.rehearsal)}`, errors, renderFailedSamples(outcome)])
}

function serviceWords({ summary, rehearsal }: Outcome): string {
  if (summary === undefined || summary.trim() === '') return ''
  const lines = cutToBytes(summary.trim(), MOST_TEXT_BYTES)
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${escapeMarkdown(line)}`)
  return [`### The service's report${rehearsalMark(rehearsal)}`, '', ...lines].join('\n')
}

export function linkLine({ run }: Outcome, { artifactUrl, artifactProblem }: SummaryLinks): string {
  const runLink = shortLink(run?.url)
  const artifactLink = shortLink(artifactUrl)
  const name = run && `Run ${foreign(run.id)}`
  const parts = [
    name && (runLink === undefined ? name : `[${name}](${runLink})`),
    artifactLink && `[CSVs, report and verdict](${artifactLink})`,
    artifactProblem && foreign(artifactProblem)
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}

/** Also undefined for a URL that would take up all the space. */
export function shortLink(address: string | undefined): string | undefined {
  const link = safeLink(address)
  return link !== undefined && bytesOf(link) <= MOST_LINK_BYTES ? link : undefined
}

/** More labels than these overlap; runs are then numbered. */
const MOST_LABELLED = 12
const MOST_CELL_BYTES = 300
const HEX = /^[0-9a-f]{7}$/i

type Measured = TrendPoint & { readonly p95Ms: number }

/** The p95 of the last runs as one small chart, with a table of them; empty if there are fewer than two. */
export function renderTrend(trend: Trend | undefined, rehearsal: boolean): string {
  const bounded = boundTrend(trend)
  const measured = bounded === undefined ? [] : drawnPoints(bounded.points)
  if (bounded === undefined || measured.length < 2) return ''
  const band = bounded.bands.p95Ms
  return joinSections([
    `### Trend${rehearsalMark(rehearsal)}`,
    describeChart(measured, bounded),
    drawChart({
      title: `p95 in ms${rehearsal ? `, ${REHEARSAL}` : ''}`,
      xAxis: `[${labelsOf(measured)
        .map((label) => `"${label}"`)
        .join(', ')}]`,
      height: 240,
      lines: [
        ...(band === undefined ? [] : [band.high, band.low].map((value) => level(value, measured.length))),
        { colour: ORANGE, values: measured.map(({ p95Ms }) => p95Ms) }
      ]
    }),
    fold('The runs of the chart', runTable(measured))
  ])
}

/** Without runs that are not part of the baseline: one that timed out would flatten all others. A change before one of them stays. */
function drawnPoints(points: readonly TrendPoint[]): Measured[] {
  const drawn: Measured[] = []
  let hasChanged = false
  for (const point of points) {
    hasChanged ||= point.isAfterChange
    if (point.p95Ms === undefined || (point.unusable !== undefined && !point.isHead)) continue
    drawn.push({ ...point, p95Ms: point.p95Ms, isAfterChange: hasChanged })
    hasChanged = false
  }
  return drawn
}

function level(value: number, length: number): { colour: string; values: number[] } {
  return { colour: GREY, values: Array<number>(length).fill(Math.max(0, value)) }
}

function describeChart(
  points: readonly Measured[],
  { branch, bands: { p95Ms: band }, points: all }: Trend
): string {
  const leftOut = all.length - points.length
  const last = points.at(-1)?.isHead === true ? '; the last point is this run' : ''
  const [low, high] = [Math.max(0, band?.low ?? 0), band?.high ?? 0].map((ms) =>
    formatValue('percentile', ms)
  )
  const change = points.map(({ isAfterChange }) => isAfterChange).lastIndexOf(true)
  return [
    `**p95** (orange) of the last ${points.length} runs of ${foreign(branch, MOST_CELL_BYTES)}, oldest first${last}.`,
    ...when(band !== undefined, `The next run is expected between the grey lines, from ${low} to ${high}.`),
    ...when(change > 0, `What was run changed before run ${change + 1}: runs before it are not comparable.`),
    ...when(
      leftOut > 0,
      `${leftOut === 1 ? '1 run is' : `${leftOut} runs are`} left out: not part of the baseline, or without a p95.`
    )
  ].join(' ')
}

/** Each one only once: Mermaid draws points with the same label on top of each other. Only digits of a commit get here. */
function labelsOf(points: readonly Measured[]): string[] {
  if (points.length > MOST_LABELLED || points.some(({ commit }) => !HEX.test(commit)))
    return points.map((_, index) => String(index + 1))
  const seen = new Map<string, number>()
  return points.map(({ commit }) => {
    const times = (seen.get(commit) ?? 0) + 1
    seen.set(commit, times)
    return times === 1 ? commit : `${commit} (${times})`
  })
}

function runTable(points: readonly Measured[]): string {
  const rows = points.map((point, index) => [
    String(index + 1),
    commitCell(point.commit),
    timeOf(point) ?? '–',
    showFigure('percentile', point.p95Ms),
    showFigure('throughput', point.throughput),
    showFigure('error_rate', point.errorRate),
    foreign(remarkOn(point), MOST_CELL_BYTES)
  ])
  return table(['Run:', 'Commit', 'Time', 'p95:', 'Throughput:', 'Error rate:', 'Remark'], rows)
}

function commitCell(commit: string): string {
  return HEX.test(commit) ? `<code>${commit}</code>` : foreign(commit, MOST_CELL_BYTES)
}
