import type { ComparedTimes } from '../../analysis/baseline/compare-labels.js'
import type { Outcome } from '../../analysis/outcome.js'
import { escapeHtml } from '../escape.js'
import { describeLabelChange, LABEL_CHANGE_HEADINGS as NAMES, labelChangeTable } from '../label-changes.js'
import { makeEdges, sharesOf } from './distribution.js'
import { linkLabel, namedCells, renderTable } from './numbers.js'
import { intervalPicture } from './pictures.js'

/** verdict.json has up to 200. */
const MOST_ROWS = 50
const MOST_OPEN_ROWS = 20

export type LabelChangesPart = NonNullable<ReturnType<typeof labelChangesPart>>
type Row = LabelChangesPart['rows'][number]
export type ComparedDistribution = LabelChangesPart['distributions'][number]

/** What the page shows of base and head by label; null where nothing was compared. */
export function labelChangesPart(outcome: Pick<Outcome, 'labelChanges' | 'judgements' | 'baseline'>) {
  const { labelChanges } = outcome
  const table = labelChangeTable(outcome)
  if (labelChanges === undefined || table === undefined) return null
  const { isFirst, title, sentence, rows } = table
  return {
    metric: labelChanges.metric,
    ...{ isFirst, title, sentence },
    rows: rows.slice(0, MOST_ROWS).map((row, i) => ({
      ...{ ...row, ...numbersOf(labelChanges.rows[i]) },
      words: describeLabelChange(labelChanges, i)
    })),
    leftOut: labelChanges.leftOut,
    others: table.describeOthers(MOST_ROWS),
    /** Of all samples (label null) and of the first rows: shares of the samples between common edges, in ms. */
    distributions: labelChanges.times.map(makeDistribution)
  }
}

/** For the picture. */
function numbersOf(row: NonNullable<Outcome['labelChanges']>['rows'][number] | undefined) {
  const round = (value: number): number => Number(value.toPrecision(4))
  return {
    pct: row?.changePct == null ? null : round(row.changePct),
    interval: row?.interval == null ? null : row.interval.map(round)
  }
}

const LEAST_BINS = 12

/** Few samples in many bins would be a comb. */
function makeDistribution({ label, base, head }: ComparedTimes) {
  const samples = Math.min(...[base, head].map(({ counts }) => counts.reduce((sum, count) => sum + count, 0)))
  const ends = [base, head].flatMap(({ valuesMs }) => [valuesMs[0] ?? 1, valuesMs.at(-1) ?? 1])
  const bins = Math.max(LEAST_BINS, Math.ceil(Math.sqrt(samples)))
  const edges = makeEdges(Math.min(...ends), Math.max(...ends), bins)
  return { label, edges, base: sharesOf(base, edges), head: sharesOf(head, edges) }
}

const TONES: Readonly<Record<Row['outcome'], string>> = {
  ...{ slower: 'bad', faster: 'good', 'not comparable': 'doubtful' },
  ...{ 'no clear change': 'neutral', new: 'neutral', gone: 'neutral' }
}

export function renderLabelChanges({ labelChanges }: { labelChanges: LabelChangesPart | null }): string {
  if (labelChanges === null) return ''
  const { title, sentence, rows, others, distributions } = labelChanges
  const reach = reachOf(rows)
  const written = rows.map((row) => renderRow(row, reach))
  const headings = [
    ...[NAMES.finding, NAMES.label, NAMES.base, NAMES.head, `${NAMES.change} and interval`],
    ...[NAMES.errors, 'Samples']
  ]
  const tableOf = (name: string, some: readonly string[]): string =>
    renderTable({ name, headings, rows: some, hasOutcomes: true })
  const rest = written.slice(MOST_OPEN_ROWS)
  return `<h2 id="label-changes-title">${title}</h2><p class="hint">${escapeHtml(sentence)}</p>
${tableOf(title, written.slice(0, MOST_OPEN_ROWS))}
${rest.length === 0 ? '' : `<details><summary>${rest.length} more</summary>${tableOf('More labels', rest)}</details>`}
${others === '' ? '' : `<p class="note">${escapeHtml(others)}</p>`}
${distributions.length === 0 ? '' : CHART}`
}

/** Filled by the page's script. */
const CHART = `<div id="compared-times" hidden="">
<div class="bar"><h3>Response times of base and this run</h3><div class="tools"><label>Show <select id="compared-label"></select></label></div></div>
<div id="compared-chart"></div>
<details id="compared-table"><summary>Show as a table</summary></details>
</div>`

function renderRow(row: Row, reach: number): string {
  const tone = TONES[row.outcome]
  const cells = [
    `<td><span class="pill ${tone}">${row.outcome}</span></td>`,
    `<th scope="row">${row.outcome === 'gone' ? escapeHtml(row.label) : linkLabel(row.label)}</th>`,
    namedCells([
      [NAMES.base, row.base],
      [NAMES.head, row.head],
      [NAMES.change, row.change + renderChange(row, tone, reach), 'number change'],
      [NAMES.errors, row.errors],
      ['Samples', row.samples]
    ])
  ]
  return `<tr>${cells.join('')}</tr>`
}

function renderChange({ pct, interval }: Row, tone: string, reach: number): string {
  if (pct === null) return ''
  const [low = pct, high = pct] = interval ?? []
  return intervalPicture({ pct, low, high, limitPct: null }, tone, reach)
}

const LEAST_REACH = 10
/** A label that takes ten times as long only has to be seen to leave the scale. */
const MOST_REACH = 200

/** All pictures have one scale, so that they can be compared. An interval that reaches far only has to be seen to do so. */
function reachOf(rows: readonly Row[]): number {
  const largest = (values: readonly number[]): number => Math.max(0, ...values.map(Math.abs))
  const size = largest(rows.map(({ pct }) => pct ?? 0))
  const ends = Math.min(2 * size, largest(rows.flatMap(({ interval }) => interval ?? [])))
  return Math.min(MOST_REACH, Math.max(LEAST_REACH, size, ends)) * 1.1
}
