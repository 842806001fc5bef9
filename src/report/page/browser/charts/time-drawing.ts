import uPlot from 'uplot'
import type { Limit } from '../../build-document.js'
import { formatElapsed, formatNumber } from '../../numbers.js'
import { axisLook, limitColour, numberAxis, strokeLine, tint, writeOnChart, type Palette } from './drawing.js'
import { BYTES, type ChartPlan, type Line, type TimePlan, type Values } from './time-plan.js'

/** Natural steps of a time axis, in seconds. */
const TIME_STEPS = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200]
const AXIS_WIDTH = 62
const WIDE = 640
/** Half of the longest time of day on the axis, so that the last one is not cut off. */
const LEAST_GUTTER = 26
const GUTTER = 112
/** Long enough for `median <= baseline + 10%`; longer ones are cut. */
const WIDEST_GUTTER = 184
const LETTER_WIDTH = 7
const GAP = 6

export function chartOptions(
  plan: ChartPlan,
  look: { palette: Palette; limits: readonly Limit[]; width: number; syncKey: string }
): uPlot.Options {
  const { palette, limits, width, syncKey } = look
  const lines = plan.shape === 'stack' ? [...plan.lines].reverse() : plan.lines
  return {
    width,
    height: plan.height,
    padding: [8, (plot) => gutterOf(limits, plot.width), 0, 0],
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, topOf(max, plan.limits)] } },
    axes: [
      {
        ...{ ...axisLook(palette), size: 28, incrs: TIME_STEPS, space: 70 },
        values: (_, splits) => splits.map(formatElapsed)
      },
      numberAxis(palette, { size: AXIS_WIDTH, space: 28, write: axisWords(plan) })
    ],
    series: [
      {},
      ...lines.flatMap(({ grey }) => (grey === undefined ? [] : [seriesOptions(plan, palette['warm-up'])])),
      ...lines.map(({ colour }) => seriesOptions(plan, palette[colour]))
    ],
    // The crosshair stays where the pointer left it.
    cursor: {
      y: false,
      sync: { key: syncKey },
      drag: { x: true, y: false },
      bind: { mouseleave: () => null }
    }
  }
}

/** Beside an axis there is space for numbers alone, but bytes need their unit. */
function axisWords({ unit, write }: ChartPlan): (value: number) => string {
  return unit === BYTES ? (value) => write(value).replace('/s', '') : formatNumber
}

function seriesOptions({ shape }: ChartPlan, stroke: string): uPlot.Series {
  const base: uPlot.Series = { stroke, width: 1.75, points: { show: false } }
  if (shape === 'stack') return { ...base, width: 0, fill: stroke }
  if (shape === 'area') return { ...base, fill: tint(stroke, 0.14) }
  if (shape === 'line') return base
  const { bars } = uPlot.paths
  return { ...base, width: 0, fill: stroke, ...(bars && { paths: bars({ size: [0.7, 24] }) }) }
}

/** Limits are labelled beside the charts, which all have the same width; a narrow screen has no space for them. */
function gutterOf(limits: readonly Limit[], width: number): number {
  if (limits.length === 0 || width <= WIDE) return LEAST_GUTTER
  const longest = Math.max(...limits.map(({ text }) => text.length))
  return Math.min(WIDEST_GUTTER, Math.max(GUTTER, longest * LETTER_WIDTH + 2 * GAP))
}

/** Space above the highest point, and for limits that are close. */
function topOf(max: number | null, limits: readonly Limit[]): number {
  const highest = Math.max(1, max ?? 0)
  return Math.max(highest, ...limits.map(({ ms }) => ms).filter((ms) => ms < highest * 2)) * 1.1
}

/** Limits as dashed lines with their labels beside them, moved up if two are close. */
export function drawLimits(plot: uPlot, { limits, lines }: ChartPlan, palette: Palette): void {
  const { ctx, bbox } = plot
  const ratio = uPlot.pxRatio
  const isDrawn = ({ name, ms }: Limit): boolean =>
    ms <= (plot.scales.y?.max ?? 0) && lines.some((line) => line.name === (name === 'median' ? 'p50' : name))
  let lastY = Infinity
  for (const limit of limits.filter(isDrawn).sort((a, b) => a.ms - b.ms)) {
    const y = plot.valToPos(limit.ms, 'y', true)
    const colour = limitColour(limit, palette)
    ctx.save()
    ctx.strokeStyle = colour
    ctx.setLineDash([6 * ratio, 4 * ratio])
    ctx.lineWidth = 1.25 * ratio
    const right = bbox.left + bbox.width
    strokeLine(ctx, [bbox.left, y], [right, y])
    ctx.restore()
    if (plot.width <= WIDE) continue
    lastY = Math.min(y + 4 * ratio, lastY - 15 * ratio)
    const at = { x: right + GAP * ratio, y: lastY, align: 'left' as const }
    writeOnChart(ctx, { text: limit.text, mostWidth: ctx.canvas.width - at.x, ...at, colour, palette })
  }
}

export function dataOf(
  { shape, lines }: ChartPlan,
  { atMs }: TimePlan['series'],
  hidden: ReadonlySet<number>
): uPlot.AlignedData {
  const seconds = atMs.map((at) => at / 1000)
  if (shape === 'stack') return [seconds, ...stack(lines, hidden).reverse()]
  const grey = lines.flatMap((line) => (line.grey === undefined ? [] : [[...line.grey]]))
  return [seconds, ...grey, ...lines.map(({ values }) => [...values])]
}

/** Each on top of those before it; the top one is drawn first, and the others over it. */
function stack(lines: readonly Line[], hidden: ReadonlySet<number>): (number | null)[][] {
  let below: Values = []
  return lines.map(({ values }, index) => {
    const top = values.map((value, i) =>
      value === null ? null : (below[i] ?? 0) + (hidden.has(index) ? 0 : value)
    )
    below = top
    return top
  })
}

/** Where a line is in the chart's data: its grey part and itself. */
export function seriesOf({ shape, lines }: ChartPlan, index: number): number[] {
  if (shape === 'stack') return [lines.length - index]
  const greyCount = lines.filter(({ grey }) => grey !== undefined).length
  return greyCount === 0 ? [index + 1] : [index + 1, greyCount + index + 1]
}
