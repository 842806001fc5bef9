import uPlot from 'uplot'
import { densities, type Histogram } from '../distribution.js'
import type { View } from '../build-document.js'
import { formatMs, formatPercent, renderTable } from '../numbers.js'
import { fillWhenOpen, find, make } from './elements.js'
import {
  axisLook,
  limitColour,
  makePlot,
  readPalette,
  setFont,
  type Palette,
  strokeLine,
  tint,
  writeOnChart
} from './charts.js'

interface Mark {
  readonly ms: number
  readonly text: string
  readonly colour: string
  readonly isDashed: boolean
}

const HEIGHT = 300
const ROW_HEIGHT = 17
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- an enum of declarations alone has no value at run time
export const LOGARITHMIC: uPlot.Scale.Distr = 3
/** The apdex tolerates up to this many times its target. */
const TOLERATED = 4

export class DistributionChart {
  readonly #box = find('distribution-chart', HTMLDivElement)
  readonly #refreshTable = fillWhenOpen(find('distribution-table', HTMLDetailsElement), () =>
    renderHistogram(this.#view?.histogram ?? undefined)
  )
  #view: View | undefined
  #plot: uPlot | undefined

  constructor() {
    new ResizeObserver(() => {
      if (this.#plot?.width !== this.#width()) this.#plot?.setSize({ width: this.#width(), height: HEIGHT })
    }).observe(this.#box)
  }

  show(view: View | undefined): void {
    this.#view = view
    find('distribution', HTMLElement).hidden = view?.histogram == null
    showZones(view)
    this.redraw()
    this.#refreshTable()
  }

  redraw(): void {
    this.#plot?.destroy()
    this.#plot = undefined
    const histogram = this.#view?.histogram
    if (this.#view === undefined || histogram == null) return
    const palette = readPalette()
    const marks = marksOf(this.#view, palette)
    const plotted = makePlot(describe(this.#view))
    const reading = make('p', { className: 'hint reading-line', text: ' ' })
    this.#box.replaceChildren(plotted, reading)
    const options = chartOptions(histogram, { marks, palette, width: this.#width() })
    const hooks: uPlot.Hooks.Arrays = {
      drawClear: [(plot) => drawZones(plot, this.#view?.zones?.targetMs, palette)],
      draw: [(plot) => drawMarks(plot, marks, palette)],
      setCursor: [({ cursor }) => (reading.textContent = describeBin(histogram, cursor.idx))]
    }
    this.#plot = new uPlot({ ...options, hooks }, dataOf(histogram), plotted)
  }

  #width(): number {
    return Math.max(240, this.#box.clientWidth)
  }
}

/** Steps: each edge has the height of the bin that it starts. */
function dataOf(histogram: Histogram): uPlot.AlignedData {
  return [histogram.edgesMs.map(onAxis), [...densities(histogram), 0]]
}

/** A logarithmic axis has no zero. */
export function onAxis(ms: number): number {
  return Math.max(0.5, ms)
}

function chartOptions(
  { edgesMs }: Histogram,
  { marks, palette, width }: { marks: readonly Mark[]; palette: Palette; width: number }
): uPlot.Options {
  const low = onAxis(edgesMs[0] ?? 1)
  // Marks beyond the slowest sample are shown unless they would squeeze the rest into a corner.
  const slowest = edgesMs.at(-1) ?? 1
  const high = Math.max(slowest, ...marks.map(({ ms }) => ms).filter((ms) => ms < slowest * 10)) * 1.15
  const { stepped } = uPlot.paths
  return {
    width,
    height: HEIGHT,
    padding: [8, 0, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, distr: LOGARITHMIC, range: () => [low * 0.95, high] },
      y: { range: (_, __, max) => [0, max * (1.1 + (marks.length * ROW_HEIGHT) / HEIGHT)] }
    },
    axes: [
      {
        ...{ ...axisLook(palette), space: 60, size: 28 },
        splits: () => makeSplits(low, high),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map((ms) => (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`))
      },
      { show: false }
    ],
    series: [
      {},
      {
        ...{ stroke: palette.p95, width: 1.5, points: { show: false } },
        fill: tint(palette.p95, 0.22),
        ...(stepped && { paths: stepped({ align: 1 }) })
      }
    ],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } }
  }
}

/** 1, 2 and 5 of each power of ten; fewer if there would be too many. */
export function makeSplits(low: number, high: number): number[] {
  const decades = Math.log10(high / low)
  const digits = decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7]
  const first = Math.floor(Math.log10(low))
  const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, i) => 10 ** (first + i))
  const splits = powers.flatMap((power) => digits.map((digit) => Number((digit * power).toPrecision(3))))
  return splits.filter((split) => split >= low && split <= high)
}

function marksOf({ figures, limits }: View, palette: Palette): Mark[] {
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

function showZones(view: View | undefined): void {
  const list = find('zones', HTMLUListElement)
  const { zones } = view ?? {}
  list.replaceChildren()
  if (zones == null) return
  const { targetMs, satisfied, tolerated, frustrated } = zones
  const items = [
    ['good', `satisfied, up to ${formatMs(targetMs)}`, satisfied],
    ['doubtful', `tolerating, up to ${formatMs(TOLERATED * targetMs)}`, tolerated],
    ['bad', 'frustrated, beyond', frustrated]
  ] as const
  for (const [tone, words, share] of items) {
    const item = make('li', { className: tone })
    item.append(make('strong', { text: formatPercent(share) }), ` ${words}`)
    list.append(item)
  }
}

function describe({ figures, limits, name }: View): string {
  const lines = limits.map(({ text, verdict }) => `${text} (${verdict})`)
  const drawn = lines.length === 0 ? '' : `; thresholds shown: ${lines.join(', ')}`
  return `Distribution of response times, ${name}: from ${formatMs(figures.min)} to ${formatMs(figures.max)}, median ${formatMs(figures.median)}, p95 ${formatMs(figures.p95)}, p99 ${formatMs(figures.p99)}${drawn}`
}

function describeBin({ edgesMs, shares }: Histogram, index: number | null | undefined): string {
  const share = shares[index ?? -1]
  if (index == null || share === undefined) return ' '
  const upTo = shares.slice(0, index + 1).reduce((sum, part) => sum + part, 0)
  return `${formatPercent(share)} of the samples above ${formatMs(edgesMs[index] ?? null)} and up to ${formatMs(edgesMs[index + 1] ?? null)}; ${formatPercent(Math.min(1, upTo))} up to there`
}

function renderHistogram(histogram: Histogram | undefined): string {
  if (histogram === undefined) return ''
  let upTo = 0
  const rows = histogram.shares.map((share, i) => {
    upTo = Math.min(1, upTo + share)
    const cells = [formatMs(histogram.edgesMs[i + 1] ?? null), formatPercent(share), formatPercent(upTo)]
    return `<tr><th scope="row">${formatMs(histogram.edgesMs[i] ?? null)}</th>${cells.map((cell) => `<td class="number">${cell}</td>`).join('')}</tr>`
  })
  const headings = ['Above', 'Up to', 'Share of samples', 'All up to there']
  return renderTable({ name: 'Distribution of response times', headings, rows })
}
