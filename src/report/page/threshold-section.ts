import { escapeHtml } from '../escape.js'
import { FINDINGS } from '../rows.js'
import type { Headline, PageDocument, ThresholdRow } from './build-document.js'
import { changePicture, gaugePicture, type Tone } from './pictures.js'
import { namedCells, renderTable } from './numbers.js'

const RUN_STATUSES: readonly Headline[] = ['queued', 'running', 'stopping', 'finished', 'problem']
const ROW_TONES: Readonly<Record<string, Tone>> = {
  ...{ passed: 'good', holds: 'good', failed: 'bad', broken: 'bad' },
  ...{ warning: 'doubtful', 'warning: broken': 'doubtful', inconclusive: 'doubtful' },
  ...{ unsure: 'doubtful', 'no baseline': 'doubtful', 'not comparable': 'doubtful' },
  // Nothing is decided while the run goes on.
  ...{ 'holds so far': 'neutral', 'broken so far': 'doubtful', 'not known yet': 'neutral' }
}

/** The thresholds, broken ones first; a run without a verdict may have none. */
export function renderThresholds(page: PageDocument): string {
  const { thresholds, headline } = page
  if (RUN_STATUSES.includes(headline) && thresholds.length === 0) return ''
  const absolute = thresholds.filter(({ comparison }) => comparison === undefined)
  const compared = thresholds.filter(({ comparison }) => comparison !== undefined)
  const parts = [
    absolute.length === 0 ? '' : renderAbsolute(absolute),
    compared.length === 0 ? '' : renderCompared(compared, absolute.length > 0),
    compared.length === 0 ? '' : renderSentences(page)
  ]
  const content = thresholds.length === 0 ? '<p>No thresholds were given.</p>' : parts.join('')
  return `<h2 id="thresholds-title">Thresholds</h2>${content}`
}

/** Where no threshold names a baseline: how the run compares, as information. */
export function renderInformation(page: PageDocument): string {
  const { shownComparisons, baselineSentences, thresholds, headline } = page
  if (RUN_STATUSES.includes(headline) || thresholds.some(({ comparison }) => comparison !== undefined))
    return ''
  if (shownComparisons.length === 0 && baselineSentences.length === 0) return ''
  const rows = shownComparisons.map(
    (row) => `<tr>${comparisonCells(row, FINDINGS[row.verdict] ?? row.verdict, 'neutral')}</tr>`
  )
  const table =
    rows.length === 0
      ? ''
      : `<p class="hint">No threshold names <code>baseline</code>, so none of this is part of the verdict.</p>${renderTable({ name: 'Compared with the baseline', headings: ['Finding', ...COMPARED_HEADINGS], rows, hasOutcomes: true })}`
  return `<h2 id="comparison-title">Compared with the baseline, for information</h2>${table}${renderSentences(page)}`
}

function renderAbsolute(thresholds: readonly ThresholdRow[]): string {
  const headings = ['Verdict', 'Threshold', 'Actual', 'Share of the limit', 'Margin', 'Explanation']
  return renderTable({
    name: 'Thresholds',
    headings,
    rows: thresholds.map(renderThreshold),
    hasOutcomes: true
  })
}

function renderThreshold(row: ThresholdRow): string {
  const tone = ROW_TONES[row.verdict] ?? 'neutral'
  const cells = [
    `<td><span class="pill ${tone}">${escapeHtml(row.verdict)}</span></td>`,
    `<th scope="row"><code>${escapeHtml(row.threshold)}</code></th>`,
    namedCells([['Actual', renderFigure(row, row.actual)]]),
    `<td>${gaugePicture(row, tone)}</td>`,
    namedCells([['Margin', escapeHtml(row.margin)]]),
    `<td class="words">${escapeHtml(row.reason)}</td>`
  ]
  return `<tr>${cells.join('')}</tr>`
}

/** By samples and over time, where these differ. */
function renderFigure({ overTime }: ThresholdRow, figure: string): string {
  if (overTime === undefined) return escapeHtml(figure)
  return `${escapeHtml(overTime.bySamples)}, <strong class="over-time">${escapeHtml(overTime.overTime)}</strong>`
}

const COMPARED_HEADINGS = ['Threshold', 'Base', 'This run', 'Change and interval']

function renderCompared(thresholds: readonly ThresholdRow[], hasOthers: boolean): string {
  const heading = hasOthers ? '<h3>Compared with the baseline</h3>' : ''
  const rows = thresholds.map((row) => {
    const cells = comparisonCells(row, row.verdict, ROW_TONES[row.verdict] ?? 'neutral')
    return `<tr>${cells}<td class="words">${escapeHtml(row.reason)}</td></tr>`
  })
  const headings = ['Outcome', ...COMPARED_HEADINGS, 'Explanation']
  return `${heading}${renderTable({ name: 'Compared with the baseline', headings, rows, hasOutcomes: true })}`
}

function comparisonCells(row: ThresholdRow, word: string, tone: Tone): string {
  const { comparison } = row
  if (comparison === undefined) return ''
  const from =
    comparison.baseFrom === '' ? '' : ` <span class="origin">${escapeHtml(comparison.baseFrom)}</span>`
  const cells = [
    `<td><span class="pill ${tone}">${escapeHtml(word)}</span></td>`,
    `<th scope="row"><code>${escapeHtml(row.threshold)}</code></th>`,
    namedCells([
      ['Base', `<span class="number">${escapeHtml(comparison.base)}</span>${from}`, 'base'],
      ['This run', renderFigure(row, comparison.head)],
      ['Change', `${escapeHtml(comparison.change)}${changePicture(row, tone)}`, 'number change']
    ])
  ]
  return cells.join('')
}

function renderSentences({ baselineSentences }: PageDocument): string {
  return baselineSentences.map((sentence) => `<p class="note">${escapeHtml(sentence)}</p>`).join('')
}
