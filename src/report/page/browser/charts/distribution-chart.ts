import uPlot from 'uplot'
import { writeShares, type Histogram } from '../../distribution.js'
import type { View } from '../../build-document.js'
import { formatApdex, formatMs, formatPercent, numberCells, renderTable } from '../../numbers.js'
import { fillWhenOpen, find, make } from '../elements.js'
import type { Cell } from '../export-text.js'
import { limitColour, readPalette, setFont, strokeLine, writeOnChart, type Palette } from './drawing.js'
import { onAxis, StepChart, type StepPlan } from './step-chart.js'

interface Mark {
  readonly ms: number
  readonly text: string
  readonly colour: string
  readonly isDashed: boolean
}

const HEIGHT = 300
const ROW_HEIGHT = 17
/** The apdex tolerates up to this many times its target. */
const TOLERATED = 4

/** Whose response times they are: of a view, or of a label. */
type Distributed = Pick<View, 'name' | 'figures' | 'histogram' | 'zones' | 'limits'>

export class DistributionChart {
  readonly #prefix: string
  readonly #chart: StepChart
  readonly #refreshTable: () => void
  #shown: Distributed | undefined

  /** The ids of what the chart is in begin with the prefix. */
  constructor(prefix: string) {
    this.#prefix = prefix
    this.#chart = new StepChart(`${prefix}distribution-chart`, HEIGHT)
    this.#refreshTable = fillWhenOpen(find(`${prefix}distribution-table`, HTMLDetailsElement), () =>
      renderHistogram(this.#shown?.histogram ?? undefined)
    )
  }

  show(shown: Distributed | undefined): void {
    this.#shown = shown
    find(`${this.#prefix}distribution`, HTMLElement).hidden = shown?.histogram == null
    showZones(find(`${this.#prefix}zones`, HTMLUListElement), shown)
    this.redraw()
    this.#refreshTable()
  }

  redraw(): void {
    this.#chart.clear()
    const shown = this.#shown
    const histogram = shown?.histogram
    if (shown === undefined || histogram == null) return
    const { edgesMs, shares } = histogram
    const palette = readPalette()
    const marks = marksOf(shown, palette)
    const slowest = edgesMs.at(-1) ?? 1
    const plan: StepPlan = {
      ...{ unit: 'failed samples included', words: describe(shown), edgesMs },
      ...{ title: 'Distribution of response times', label: shown.name },
      lines: [{ name: shown.name, colour: 'p95', shares }],
      // Marks beyond the slowest sample are shown unless they would squeeze the rest into a corner.
      slowestMs: Math.max(slowest, ...marks.map(({ ms }) => ms).filter((ms) => ms < slowest * 10)),
      headroom: 0.1 + (marks.length * ROW_HEIGHT) / HEIGHT,
      hooks: {
        drawClear: [(plot) => drawZones(plot, shown.zones?.targetMs, palette)],
        draw: [(plot) => drawMarks(plot, marks, palette)]
      },
      describeBin: (index) => describeBin(histogram, index),
      rows: () => listBins(histogram)
    }
    this.#chart.draw(plan, palette)
  }
}

function listBins({ edgesMs, shares }: Histogram): Cell[][] {
  return [
    ['Above, ms', 'Up to, ms', 'Share of samples'],
    ...shares.map((share, i) => [edgesMs[i] ?? null, edgesMs[i + 1] ?? null, share])
  ]
}

function marksOf({ figures, limits }: Distributed, palette: Palette): Mark[] {
  const percentiles = [
    ['p50', figures.median, palette.p50],
    ['p95', figures.p95, palette.p95],
    ['p99', figures.p99, palette.p99]
  ] as const
  return [
    ...percentiles.flatMap(([name, ms, colour]) =>
      ms === null ? [] : [{ ms, text: `${name} ${formatMs(ms)}`, colour, isDashed: false }]
    ),
    ...limits.map((limit) => {
      return { ms: limit.ms, text: limit.text, colour: limitColour(limit, palette), isDashed: true }
    })
  ]
}

function drawZones(plot: uPlot, targetMs: number | undefined, palette: Palette): void {
  if (targetMs === undefined) return
  const { ctx, bbox } = plot
  const right = bbox.left + bbox.width
  const clamp = (ms: number): number =>
    Math.min(right, Math.max(bbox.left, plot.valToPos(Math.max(0.1, ms), 'x', true)))
  const edges = [bbox.left, clamp(targetMs), clamp(TOLERATED * targetMs), right]
  const colours = [palette['zone-good'], palette['zone-doubtful'], palette['zone-bad']]
  ctx.save()
  colours.forEach((colour, i) => {
    const from = edges[i] ?? 0
    ctx.fillStyle = colour
    ctx.fillRect(from, bbox.top, (edges[i + 1] ?? right) - from, bbox.height)
  })
  ctx.restore()
}

/** One line per mark; their labels are staggered, so that close ones do not overlap. */
function drawMarks(plot: uPlot, marks: readonly Mark[], palette: Palette): void {
  const { ctx, bbox } = plot
  const ratio = uPlot.pxRatio
  ctx.save()
  setFont(ctx)
  marks.forEach(({ ms, text, colour, isDashed }, row) => {
    const x = plot.valToPos(onAxis(ms), 'x', true)
    if (x > bbox.left + bbox.width) return
    const y = bbox.top + (row * ROW_HEIGHT + 13) * ratio
    ctx.strokeStyle = colour
    ctx.lineWidth = (isDashed ? 1.5 : 1) * ratio
    ctx.setLineDash(isDashed ? [6 * ratio, 4 * ratio] : [])
    strokeLine(ctx, [x, y - 10 * ratio], [x, bbox.top + bbox.height])
    const isLeft = x + ctx.measureText(text).width + 8 * ratio > bbox.left + bbox.width
    const at = { x: x + (isLeft ? -6 : 6) * ratio, y, align: isLeft ? ('right' as const) : ('left' as const) }
    writeOnChart(ctx, { text, ...at, colour, palette })
  })
  ctx.restore()
}

function showZones(list: HTMLUListElement, shown: Distributed | undefined): void {
  const { zones, figures } = shown ?? {}
  list.replaceChildren()
  if (zones == null) return
  const { targetMs, satisfied, tolerated, frustrated, failed } = zones
  const shares = writeShares([satisfied, tolerated, frustrated, failed])
  const items = [
    ['good', `satisfied, up to ${formatMs(targetMs)}`],
    ['doubtful', `tolerating, up to ${formatMs(TOLERATED * targetMs)}`],
    ['bad', 'frustrated, slower than that'],
    ['failures', 'failed, counted as frustrated']
  ] as const
  items.forEach(([tone, words], i) => {
    const item = make('li', { className: tone })
    item.append(make('strong', { text: shares[i] ?? '' }), ` ${words}`)
    list.append(item)
  })
  if (figures?.apdex == null) return
  const sum = make('li', { className: 'sum' })
  const score = make('strong', { text: formatApdex(figures.apdex) })
  sum.append('By these samples, Apdex is ', score, ': satisfied plus half of tolerating.')
  list.append(sum)
}

function describe({ figures, limits, name }: Distributed): string {
  const lines = limits.map(({ text, verdict }) => `${text} (${verdict})`)
  const drawn = lines.length === 0 ? '' : `; thresholds shown: ${lines.join(', ')}`
  return `Distribution of response times, ${name}: from ${formatMs(figures.min)} to ${formatMs(figures.max)}, median ${formatMs(figures.median)}, p95 ${formatMs(figures.p95)}, p99 ${formatMs(figures.p99)}${drawn}`
}

function describeBin({ edgesMs, shares }: Histogram, index: number): string {
  const upTo = shares.slice(0, index + 1).reduce((sum, part) => sum + part, 0)
  return `${formatPercent(shares[index] ?? null)} of the samples above ${formatMs(edgesMs[index] ?? null)} and up to ${formatMs(edgesMs[index + 1] ?? null)}; ${formatPercent(Math.min(1, upTo))} took no longer`
}

function renderHistogram(histogram: Histogram | undefined): string {
  if (histogram === undefined) return ''
  let upTo = 0
  const rows = histogram.shares.map((share, i) => {
    upTo = Math.min(1, upTo + share)
    const cells = [formatMs(histogram.edgesMs[i + 1] ?? null), formatPercent(share), formatPercent(upTo)]
    return `<tr><th scope="row">${formatMs(histogram.edgesMs[i] ?? null)}</th>${numberCells(cells)}</tr>`
  })
  const headings = ['Above', 'Up to', 'Share of samples', 'Share up to here']
  return renderTable({ name: 'Distribution of response times', headings, rows })
}
