import uPlot from 'uplot'
import type { Trend, TrendPoint } from '../../../../analysis/baseline/build-trend.js'
import {
  axisRange,
  connectedStretches,
  describePlan,
  describePoint,
  describeTrend,
  planTrend,
  renderTrendTable,
  startOfBand,
  writeDates,
  type TrendPlan
} from '../../trend-plan.js'
import { fillWhenOpen, find, make } from '../elements.js'
import type { Cell } from '../export-text.js'
import { makeTakeAway } from '../take-away.js'
import { remarkOn, timeOf } from '../../../trend-points.js'
import {
  axisLook,
  makeFigure,
  numberAxis,
  pointAt,
  readPalette,
  strokeLine,
  type Palette
} from './drawing.js'

interface Drawn {
  readonly plan: TrendPlan
  readonly plot: uPlot
  readonly figure: HTMLElement
  readonly reading: HTMLElement
  readonly tip: HTMLElement
}

const HEIGHT = 170
const AXIS_WIDTH = 52
const LEAST_WIDTH = 200
const POINT = 3.5
const HEAD = 6
/** Dates of so many runs fit below a small chart. */
const DATES = 3

export class TrendCharts {
  readonly #box = find('trend-charts', HTMLDivElement)
  readonly #slider = find('trend-run', HTMLInputElement)
  readonly #words = find('trend-run-words', HTMLElement)
  readonly #refreshTable = fillWhenOpen(find('trend-table', HTMLDetailsElement), () =>
    this.#trend === null ? '' : renderTrendTable(this.#trend)
  )
  #trend: Trend | null = null
  #drawn: Drawn[] = []
  #chosen = 0

  constructor() {
    this.#slider.addEventListener('input', () => this.#choose(Number(this.#slider.value)))
    // What a pointer shows can be dismissed without moving it.
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') for (const { tip } of this.#drawn) tip.hidden = true
    })
    new ResizeObserver(() => this.#fit()).observe(this.#box)
  }

  show(trend: Trend | null): void {
    this.#trend = trend
    find('trend', HTMLElement).hidden = trend === null
    if (trend === null) return
    find('trend-words', HTMLElement).textContent = describeTrend(trend)
    find('trend-scrubber', HTMLElement).hidden = trend.points.length < 2
    this.#slider.max = String(trend.points.length - 1)
    this.#chosen = trend.points.length - 1
    this.redraw()
    this.#refreshTable()
  }

  redraw(): void {
    for (const { plot } of this.#drawn) plot.destroy()
    this.#box.replaceChildren()
    this.#drawn = []
    const trend = this.#trend
    if (trend === null) return
    const palette = readPalette()
    const plans = planTrend(trend)
    // All figures first: how many there are decides how wide each one is.
    const figures = plans.map((plan) => makeParts(plan, trend.points))
    this.#box.append(...figures.map(({ figure }) => figure))
    this.#drawn = plans.flatMap((plan, i) => {
      const parts = figures[i]
      if (parts === undefined) return []
      const plot = this.#draw(plan, parts, palette)
      parts.caption.append(
        makeTakeAway({
          title: `Trend of ${plan.title}`,
          picture: () => ({
            ...{ canvas: plot.ctx.canvas, palette },
            legend: [{ colour: palette[plan.colour], text: plan.unit }]
          }),
          rows: () => listRuns(plan, trend.points)
        })
      )
      return [{ ...parts, plan, plot }]
    })
    this.#tell(this.#chosen)
  }

  #draw(plan: TrendPlan, { figure, canvas }: ReturnType<typeof makeParts>, palette: Palette): uPlot {
    const points = this.#trend?.points ?? []
    const hooks: uPlot.Hooks.Arrays = {
      setCursor: [(plot) => this.#follow(plot)],
      draw: [
        (plot) => drawBand(plot, { plan, points, palette }),
        (plot) => drawRuns(plot, { plan, points, palette })
      ]
    }
    const options = chartOptions(plan, { points, palette, width: widthOf(figure) })
    return new uPlot({ ...options, hooks }, [points.map((_, index) => index), [...plan.values]], canvas)
  }

  /** The pointer is over a chart: the others follow, and this one tells what it is over. */
  #follow(plot: uPlot): void {
    const drawn = this.#drawn.find((other) => other.plot === plot)
    if (drawn === undefined) return
    const { idx } = plot.cursor
    const isOver = idx != null && plot.over.matches(':hover')
    drawn.tip.hidden = !isOver
    if (idx == null || !isOver) return
    this.#slider.value = String(idx)
    this.#tell(idx)
    this.#placeTip(drawn, idx)
  }

  #placeTip({ plot, plan, tip, figure }: Drawn, index: number): void {
    const point = this.#trend?.points[index]
    if (point === undefined) return
    tip.replaceChildren(
      make('strong', { text: plan.write(plan.values[index] ?? null) }),
      ...describePoint(point)
        .split(' · ')
        .map((text) => make('span', { text }))
    )
    const canvas = plot.over.getBoundingClientRect()
    const frame = figure.getBoundingClientRect()
    const x = canvas.left - frame.left + plot.valToPos(index, 'x')
    const most = Math.max(0, frame.width - tip.offsetWidth)
    const beside = x + 12 + tip.offsetWidth > frame.width ? x - 12 - tip.offsetWidth : x + 12
    tip.style.left = `${Math.min(most, Math.max(0, beside))}px`
    tip.style.top = `${canvas.top - frame.top + 4}px`
  }

  #choose(index: number): void {
    pointAt(this.#drawn, index)
    this.#tell(index)
  }

  #tell(index: number): void {
    const point = this.#trend?.points[index]
    if (point === undefined) return
    this.#chosen = index
    this.#slider.value = String(index)
    const readings = this.#drawn.map(({ plan, reading }) => {
      reading.textContent = plan.write(plan.values[index] ?? null)
      return `${plan.title} ${reading.textContent}`
    })
    const words = describePoint(point)
    this.#words.textContent = words
    this.#slider.setAttribute('aria-valuetext', `${words}: ${readings.join(', ')}`)
  }

  #fit(): void {
    for (const { plot, figure } of this.#drawn)
      if (plot.width !== widthOf(figure)) plot.setSize({ width: widthOf(figure), height: HEIGHT })
  }
}

function widthOf(figure: HTMLElement): number {
  return Math.max(LEAST_WIDTH, figure.clientWidth)
}

function makeParts(plan: TrendPlan, points: readonly TrendPoint[]) {
  const { figure, caption, canvas } = makeFigure(plan, describePlan(plan, points))
  const reading = make('span', { className: 'reading' })
  const legend = make('span', { className: 'legend' })
  legend.append(make('i', { className: `swatch ${plan.colour}` }), reading)
  caption.append(legend)
  // The slider tells the same to screen readers.
  const tip = make('div', { className: 'tip' })
  tip.hidden = true
  tip.setAttribute('aria-hidden', 'true')
  figure.append(tip)
  return { figure, caption, canvas, reading, tip }
}

function listRuns({ title, unit, values }: TrendPlan, points: readonly TrendPoint[]): Cell[][] {
  return [
    ['Time', 'Commit', 'Run', `${title}, ${unit}`, 'Remark'],
    ...points.map((point, i) => [
      ...[timeOf(point) ?? '', point.commit, point.runId],
      values[i] ?? null,
      remarkOn(point)
    ])
  ]
}

interface Look {
  readonly points: readonly TrendPoint[]
  readonly palette: Palette
}

function chartOptions(plan: TrendPlan, { points, palette, width }: Look & { width: number }): uPlot.Options {
  return {
    width,
    height: HEIGHT,
    padding: [8, 12, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [-0.5, points.length - 0.5] },
      y: { range: () => axisRange(plan, points) }
    },
    axes: [
      {
        ...{ ...axisLook(palette), grid: { show: false }, size: 28 },
        splits: () => datedRuns(points.length),
        filter: (_, splits) => splits,
        values: (_, splits) => writeDates(splits.map((index) => points[index]))
      },
      numberAxis(palette, { size: AXIS_WIDTH, space: 36 })
    ],
    // Lines with gaps and points of several kinds are drawn by hand.
    series: [{}, { paths: () => null, points: { show: false } }],
    cursor: { y: false, sync: { key: 'trend' }, drag: { x: false, y: false }, points: { show: false } }
  }
}

/** Not at the edges, where a date would be cut off. */
function datedRuns(count: number): number[] {
  const at = Array.from({ length: DATES }, (_, i) => Math.floor((count * (2 * i + 1)) / (2 * DATES)))
  return [...new Set(at)]
}

type Drawing = Look & { readonly plan: TrendPlan }

/** Where the next run is expected, beside the runs that it is comparable with. */
function drawBand(plot: uPlot, { plan, points, palette }: Drawing): void {
  if (plan.band === undefined) return
  const { ctx, bbox } = plot
  const left = plot.valToPos(startOfBand(points) - 0.5, 'x', true)
  const right = bbox.left + bbox.width
  const yOf = (value: number): number =>
    Math.max(bbox.top, Math.min(bbox.top + bbox.height, plot.valToPos(value, 'y', true)))
  const [top, bottom] = [yOf(plan.band.high), yOf(plan.band.low)]
  ctx.save()
  ctx.globalAlpha = 0.16
  ctx.fillStyle = palette[plan.colour]
  ctx.fillRect(left, top, right - left, bottom - top)
  ctx.globalAlpha = 0.7
  ctx.strokeStyle = palette[plan.colour]
  ctx.lineWidth = uPlot.pxRatio
  ctx.setLineDash([4 * uPlot.pxRatio, 4 * uPlot.pxRatio])
  strokeLine(ctx, [left, yOf(plan.band.centre)], [right, yOf(plan.band.centre)])
  ctx.restore()
}

function drawRuns(plot: uPlot, { plan, points, palette }: Drawing): void {
  const { ctx, bbox } = plot
  const colour = palette[plan.colour]
  const placeOf = (index: number): [number, number] => [
    plot.valToPos(index, 'x', true),
    // A run beyond the axis is at its edge.
    Math.max(bbox.top, Math.min(bbox.top + bbox.height, plot.valToPos(plan.values[index] ?? 0, 'y', true)))
  ]
  ctx.save()
  ctx.lineWidth = uPlot.pxRatio
  ctx.strokeStyle = palette.muted
  ctx.setLineDash([uPlot.pxRatio, 3 * uPlot.pxRatio])
  points.forEach((point, index) => {
    if (!point.isAfterChange || index === 0) return
    const x = plot.valToPos(index - 0.5, 'x', true)
    strokeLine(ctx, [x, bbox.top], [x, bbox.top + bbox.height])
  })
  ctx.setLineDash([])
  ctx.lineWidth = 1.5 * uPlot.pxRatio
  ctx.strokeStyle = colour
  for (const stretch of connectedStretches(plan, points)) strokeLine(ctx, ...stretch.map(placeOf))
  points.forEach((point, index) => {
    const value = plan.values[index] ?? null
    const { min = 0, max = 0 } = plot.scales.y ?? {}
    // 1 above the axis, -1 below it.
    const beyond = value === null ? 0 : value > max ? 1 : value < min ? -1 : 0
    if (value !== null) drawPoint(ctx, point, { at: placeOf(index), beyond, colour, palette })
  })
  ctx.restore()
}

/** A dot, hollow if outside the baseline; a diamond for the run that was judged; an arrow for one beyond the axis, pointing there. */
function drawPoint(
  ctx: CanvasRenderingContext2D,
  point: TrendPoint,
  look: { at: readonly [number, number]; beyond: number; colour: string; palette: Palette }
): void {
  const {
    at: [x, y],
    beyond,
    colour,
    palette
  } = look
  const size = (point.isHead ? HEAD : POINT) * uPlot.pxRatio
  ctx.beginPath()
  if (beyond !== 0) {
    ctx.moveTo(x, y)
    ctx.lineTo(x + 1.3 * size, y + beyond * 2 * size)
    ctx.lineTo(x - 1.3 * size, y + beyond * 2 * size)
    ctx.closePath()
  } else if (point.isHead) {
    ctx.moveTo(x, y - size)
    ctx.lineTo(x + size, y)
    ctx.lineTo(x, y + size)
    ctx.lineTo(x - size, y)
    ctx.closePath()
  } else ctx.arc(x, y, size, 0, 2 * Math.PI)
  ctx.fillStyle = point.unusable === undefined ? (point.isHead ? palette.text : colour) : palette.card
  ctx.strokeStyle = point.isHead ? palette.text : colour
  ctx.fill()
  ctx.stroke()
}
