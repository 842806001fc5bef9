import { escapeHtml, formatBytes } from '../escape.js'
import type { StallRow } from '../stalls.js'
import { qualifyVerdict } from '../sentences.js'
import type { FiguresDocument } from '../../contract/verdict.js'
import type { Headline, LabelRow, Live, PageDocument, View } from './build-document.js'
import {
  formatApdex,
  formatMs,
  formatNumber,
  formatPercent,
  formatRate,
  labelAddress,
  nameLabel,
  numberCells,
  renderFacts,
  renderTable
} from './numbers.js'
import { sparkPicture, VERDICT_PICTURES, type Tone } from './pictures.js'

export const HEADLINE_TONES: Readonly<Record<Headline, Tone>> = {
  passed: 'good',
  failed: 'bad',
  error: 'bad',
  inconclusive: 'doubtful',
  'timed-out': 'doubtful',
  problem: 'bad',
  ...{ cancelled: 'neutral', skipped: 'neutral', detached: 'neutral', 'left to the gate': 'neutral' },
  ...{ queued: 'neutral', running: 'neutral', stopping: 'neutral', finished: 'neutral' }
}
/** More of them would push the charts off the screen. */
const MOST_OPEN_STALLS = 5

export function renderOverview(page: PageDocument): string {
  const { reason, rehearsal, warnings, notes, run, warmUp } = page
  const tone = toneOf(page)
  return `${rehearsal === null ? '' : `<p class="rehearsal"><strong>${escapeHtml(rehearsal)}</strong>: nothing on this page was measured</p>`}
<header class="headline ${tone}">
<div class="verdict">${VERDICT_PICTURES[HEADLINE_TONES[page.headline]]}<div><p class="eyebrow">Load gate${run?.name == null ? '' : ` · ${escapeHtml(run.name)}`}</p><h1>${escapeHtml(titleOf(page))}</h1></div></div>
${renderReason(reason)}
${warnings.map((warning) => `<p class="warning"><strong>Warning:</strong> ${escapeHtml(warning)}</p>`).join('')}
${[...(warmUp === null ? [] : [warmUp.sentence]), ...notes].map((note) => `<p class="note">${escapeHtml(note)}</p>`).join('')}
</header>
${renderTiles(page)}`
}

const OUTCOME = /^(.*? (?:broken|inconclusive|not judged)): (.{100,})$/s

/** The outcome in one sentence, and what led to it below, if that is long. */
function renderReason(reason: string): string {
  const [, outcome = '', rest] = OUTCOME.exec(reason) ?? []
  if (rest === undefined) return `<p class="reason">${escapeHtml(reason)}</p>`
  return `<p class="reason">${escapeHtml(outcome)}.</p><p class="note lines">${escapeHtml(rest)}</p>`
}

/** The verdict, and what keeps it from being a plain one. */
export function titleOf({ headline, notJudged, stoppedEarly }: PageDocument): string {
  return headline + qualifyVerdict({ verdict: headline, notJudged, stoppedEarly })
}

/** A gate that passed with lines that were not judged is not plain green. */
function toneOf({ headline, notJudged }: PageDocument): Tone {
  return headline === 'passed' && notJudged > 0 ? 'doubtful' : HEADLINE_TONES[headline]
}

type Tile = readonly [name: string, value: string, detail: string]

function renderTiles({ views, apdex, live }: PageDocument): string {
  const figures = views[0]?.figures
  const tiles: Tile[] = []
  if (figures !== undefined && live?.now) tiles.push(...currentTiles(live.now, figures))
  if (apdex !== null) tiles.push(['Apdex', formatApdex(apdex.score), `target ${formatMs(apdex.targetMs)}`])
  if (figures !== undefined && live?.now) {
    tiles.push(['Samples', formatNumber(figures.samples), `median ${formatMs(figures.median)}`])
  } else if (figures !== undefined) {
    tiles.push(...figureTiles(figures))
  }
  return renderTileList(tiles)
}

/** The same figures of one label. */
export function renderLabelTiles(figures: View['figures']): string {
  const tiles = figureTiles(figures)
  if (figures.apdex !== null) tiles.push(['Apdex', formatApdex(figures.apdex), 'of these samples'])
  return renderTileList(tiles)
}

function figureTiles(figures: View['figures']): Tile[] {
  const { median, mean, p95, p99, samples, failures } = figures
  return [
    median === null
      ? ['Mean', formatMs(mean), 'response time']
      : ['Median', formatMs(median), `mean ${formatMs(mean)}`],
    ...(p95 === null ? [] : [['p95', formatMs(p95), `p99 ${formatMs(p99)}`] as const]),
    ['Error rate', formatPercent(figures.error_rate), `${formatNumber(failures)} failed`],
    ['Throughput', formatRate(figures.throughput), `${formatNumber(samples)} samples`]
  ]
}

function renderTileList(tiles: readonly Tile[]): string {
  if (tiles.length === 0) return ''
  const items = tiles.map(
    ([name, value, detail]) =>
      `<div class="tile"><dt>${name}</dt><dd><span class="value">${value}</span> <span class="detail">${detail}</span></dd></div>`
  )
  return `<dl class="tiles">${items.join('')}</dl>`
}

/** The run's current figures, next to those so far. */
function currentTiles(now: NonNullable<Live['now']>, soFar: View['figures']): Tile[] {
  const window = `last ${formatNumber(now.windowMs / 1000)} s`
  return [
    ['Throughput now', formatRate(now.throughput), `${window} · ${formatRate(soFar.throughput)} so far`],
    [
      'p95 now',
      formatMs(now.p95Ms),
      `last ${formatNumber(now.bucketMs / 1000)} s · ${formatMs(soFar.p95)} so far`
    ],
    ['Failed now', formatNumber(now.failures), `${window} · ${formatNumber(soFar.failures)} so far`]
  ]
}

export function renderStalls({ stalls }: PageDocument): string {
  if (stalls === null) return ''
  const { sentence, rows, others, explanation } = stalls
  const headings = ['When', 'How long', 'Users waiting', 'Clock']
  const table = renderTable({ name: 'When nothing was answered', headings, rows: rows.map(renderStall) })
  const more = others === 0 ? '' : `<p class="note">${formatNumber(others)} more, none of them longer.</p>`
  return `<h2 id="stalls-title">When nothing was answered</h2><p>${escapeHtml(sentence)}</p>
<p class="note">${escapeHtml(explanation.words)} <a href="${escapeHtml(explanation.url)}" rel="noreferrer">${escapeHtml(explanation.link)}</a></p>
${rows.length <= MOST_OPEN_STALLS ? table : `<details><summary>${others === 0 ? 'All of them' : `The ${rows.length} longest`}</summary>${table}${more}</details>`}`
}

function renderStall({ when, howLong, waiting, clock }: StallRow): string {
  const cells = [howLong, formatNumber(waiting), clock]
  return `<tr><th scope="row">${when}</th>${numberCells(cells)}</tr>`
}

export function renderPlaces(page: PageDocument): string {
  const tables = [
    renderViews(page, 'region'),
    renderViews(page, 'grid'),
    renderGrids(page),
    renderNodes(page)
  ]
  const shown = tables.filter((table) => table !== '')
  return shown.length === 0 ? '' : `<h2 id="places-title">Regions and grids</h2>${shown.join('')}`
}

interface FigureColumn {
  readonly key: keyof FiguresDocument
  readonly name: string
  readonly write: (value: number | null) => string
  /** Among labels, if it is another one. */
  readonly shortName?: string
  /** Without its unit, which is said below the table of labels. */
  readonly writeBare?: (value: number | null) => string
}

const inMs = { write: formatMs, writeBare: formatNumber }

/** The figures of a label, a region or a grid, in the order of the columns. */
export const FIGURE_COLUMNS: readonly FigureColumn[] = [
  { key: 'samples', name: 'Samples', write: formatNumber },
  { key: 'error_rate', name: 'Error rate', shortName: 'Errors', write: formatPercent },
  {
    ...{ key: 'throughput', name: 'Throughput', shortName: 'Rate' },
    ...{ write: formatRate, writeBare: formatNumber }
  },
  { key: 'mean', name: 'Mean', ...inMs },
  { key: 'median', name: 'Median', ...inMs },
  { key: 'p90', name: 'p90', ...inMs },
  { key: 'p95', name: 'p95', ...inMs },
  { key: 'p99', name: 'p99', ...inMs },
  { key: 'max', name: 'Max', ...inMs },
  { key: 'apdex', name: 'Apdex', write: formatApdex }
]

const VIEW_COLUMNS = FIGURE_COLUMNS.filter(({ key }) => key !== 'p90')

function renderViews({ views }: PageDocument, kind: 'region' | 'grid'): string {
  const rows = views.filter((view) => view.kind === kind)
  if (rows.length === 0) return ''
  const headings = [kind === 'region' ? 'Region' : 'Grid', ...VIEW_COLUMNS.map((column) => column.name)]
  return renderTable({ name: `Figures by ${kind}`, headings, rows: rows.map(renderView) })
}

/** The figures of one label, of all samples and of each region and grid. */
export function renderLabelPlaces(views: readonly View[], label: string): string {
  const rows = views.flatMap(({ kind, name, labels }) => {
    const figures = labels.find((row) => row.label === label)
    const place = kind === 'all' ? name : `${kind} ${name}`
    return figures === undefined ? [] : [renderView({ name: place, figures })]
  })
  if (rows.length === 0) return ''
  const headings = ['Samples of', ...VIEW_COLUMNS.map((column) => column.name)]
  return renderTable({ name: 'Figures of the label', headings, rows })
}

function renderView({ name, figures }: Pick<View, 'name' | 'figures'>): string {
  const cells = VIEW_COLUMNS.map(({ key, write }) => write(figures[key]))
  return `<tr><th scope="row">${escapeHtml(name)}</th>${numberCells(cells)}</tr>`
}

function renderGrids({ grids, sources }: PageDocument): string {
  if (grids.length === 0) return ''
  const rows = grids.map(({ gridId, region, nodeCount, bytes, problem, lostNodes }) => {
    // Side by side, a grid has a CSV for each round.
    const own = sources.filter(({ grid }) => grid === gridId)
    const problems = [
      ...(problem === undefined ? [] : [problem]),
      ...new Set(own.flatMap((source) => source.problems)),
      ...(lostNodes === 0 ? [] : [`${lostNodes} ${lostNodes === 1 ? 'node was' : 'nodes were'} lost`])
    ]
    const cells = [
      `<td>${escapeHtml(region)}</td>`,
      numberCells([
        String(nodeCount ?? '–'),
        bytes === undefined ? 'missing' : formatBytes(bytes),
        own.length === 0 ? '–' : formatNumber(own.reduce((sum, { rows }) => sum + rows, 0))
      ]),
      `<td class="words">${problems.length === 0 ? 'complete' : escapeHtml(problems.join('; '))}</td>`
    ]
    return `<tr><th scope="row">${escapeHtml(gridId)}</th>${cells.join('')}</tr>`
  })
  return renderTable({
    name: 'Where the results come from',
    headings: ['Grid', 'Region', 'Nodes', 'CSV', 'Rows', 'Completeness'],
    rows
  })
}

function renderNodes({ nodes, nodesLeftOut, placeNote }: PageDocument): string {
  const note = placeNote === null ? '' : `<p class="note">${escapeHtml(placeNote)}</p>`
  if (nodes.length === 0) return note
  const headings = [
    ...['Node', 'Where it ran', 'Start', 'Rows', 'Threads', 'CPU limit', 'Restarts', 'Throttled', 'Lost']
  ]
  const rows = nodes.map((node) => {
    const numbers = [node.start, node.rows, node.threads, node.cpuLimit, node.restarts]
    const cells = [
      `<td>${escapeHtml(node.place)}</td>`,
      numberCells(numbers.map(escapeHtml)),
      `<td class="words">${node.isStarved ? `<span class="failing">${escapeHtml(node.throttled)}</span>` : escapeHtml(node.throttled)}</td>`,
      `<td class="words">${escapeHtml(node.lost)}</td>`
    ]
    return `<tr><th scope="row">${escapeHtml(node.name)}</th>${cells.join('')}</tr>`
  })
  const others = nodesLeftOut === 0 ? '' : `<p class="note">${nodesLeftOut} more are in verdict.json.</p>`
  return `${renderTable({ name: 'Where the load came from', headings, rows })}${others}${note}`
}

export function renderRun({ run, summary }: PageDocument): string {
  if (run === null && summary === null) return ''
  const words =
    summary === null
      ? ''
      : `<h3>Summary by the service</h3><blockquote>${escapeHtml(summary.trim())}</blockquote>`
  if (run === null) return `<h2 id="run-title">The run</h2>${words}`
  const id = escapeHtml(run.id)
  const link = run.url === null ? id : `<a href="${escapeHtml(run.url)}" rel="noreferrer">${id}</a>`
  const facts = run.facts.map(([name, value]) => [name, escapeHtml(value)] as const)
  return `<h2 id="run-title">The run</h2>${renderFacts([['Run', link], ...facts])}${words}`
}

/** One label's row; the cells are in the order of the columns. */
export function renderLabel(row: LabelRow): string {
  const cells = FIGURE_COLUMNS.map(({ key, write, writeBare = write }) => {
    const cell = writeBare(row[key])
    return key === 'error_rate' && row.failures > 0 ? `<span class="failing">${cell}</span>` : cell
  })
  return `<tr><th scope="row"><a href="#${escapeHtml(labelAddress(row.label))}">${escapeHtml(nameLabel(row.label))}</a></th><td>${sparkPicture(row.spark)}</td>${numberCells(cells)}</tr>`
}
