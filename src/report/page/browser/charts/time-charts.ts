import uPlot from 'uplot'
import type { Limit, PageDocument } from '../../build-document.js'
import { formatElapsed, formatNumber, renderTable } from '../../numbers.js'
import { formatTime } from '../../../sentences.js'
import { fillWhenOpen, find, make } from '../elements.js'
import {
  axisLook,
  limitColour,
  makeFigure,
  makeLegendItem,
  numberAxis,
  pointAt,
  readPalette,
  strokeLine,
  tint,
  writeOnChart,
  type ColourName,
  type Palette
} from './drawing.js'
import {
  bandsOf,
  countBands,
  describeBand,
  drawBand,
  drawBands,
  NOTHING_ANSWERED,
  greyPart,
  isInWarmUp,
  NOT_COUNTED
} from './bands.js'

interface Line {
  readonly name: string
  readonly colour: ColourName
  /** What counts; all of it without a warm-up. */
  readonly values: readonly (number | null)[]
  /** Drawn in grey, below the line; undefined without a warm-up. */
  readonly grey: readonly (number | null)[] | undefined
  /** What is said about each moment. */
  readonly said: readonly (number | null)[]
}

interface ChartPlan {
  readonly title: string
  readonly unit: string
  readonly height: number
  readonly shape: 'line' | 'area' | 'bars'
  readonly lines: readonly Line[]
  readonly limits: readonly Limit[]
}

interface Drawn {
  readonly plan: ChartPlan
  readonly plot: uPlot
  readonly values: readonly HTMLElement[]
}

type Series = NonNullable<PageDocument['series']>
type SeriesName = Exclude<keyof Series, 'bucketMs' | 'atMs'>
type Timed = PageDocument & { readonly series: Series }

/** Natural steps of a time axis, in seconds. */
const TIME_STEPS = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200]
const AXIS_WIDTH = 62
const LEAST_POINTS = 4
const WIDE = 640
const GUTTER = 112
/** Long enough for `median <= baseline + 10%`; longer ones are cut. */
const WIDEST_GUTTER = 184
const LETTER_WIDTH = 7
const GAP = 6

export class TimeCharts {
  readonly #box = find('time-charts', HTMLDivElement)
  readonly #slider = find('moment', HTMLInputElement)
  readonly #words = find('moment-words', HTMLElement)
  readonly #refreshTable = fillWhenOpen(find('time-table', HTMLDetailsElement), () => this.#renderTable())
  #page: Timed | undefined
  #drawn: Drawn[] = []
  #outline = ''
  #moment: number | undefined

  constructor() {
    this.#slider.addEventListener('input', () => this.#showMoment(Number(this.#slider.value)))
    find('zoom-in', HTMLButtonElement).addEventListener('click', () => this.#zoomBy(0.5))
    find('zoom-out', HTMLButtonElement).addEventListener('click', () => this.#zoomBy(2))
    find('zoom-reset', HTMLButtonElement).addEventListener('click', () => this.#zoomBy(Infinity))
    new ResizeObserver(() => this.#fit()).observe(this.#box)
  }

  show(page: PageDocument): void {
    this.#page = hasSeries(page) ? page : undefined
    find('time', HTMLElement).hidden = this.#page === undefined
    if (this.#page === undefined) return
    if (!this.#refill(this.#page)) this.redraw()
    this.#refreshTable()
  }

  /** Updates the values if the charts stay the same: dragging and hidden lines are not disturbed. */
  #refill(page: Timed): boolean {
    const { series } = page
    const plans = planCharts(page)
    if (outlineOf(plans, page) !== this.#outline) return false
    const scale = this.#zoom() ?? { min: 0, max: (series.atMs.at(-1) ?? 0) / 1000 }
    this.#drawn = this.#drawn.map((drawn, i) => {
      const plan = plans[i] ?? drawn.plan
      drawn.plot.setData(dataOf(plan, series), false)
      drawn.plot.setScale('x', scale)
      drawn.plot.root.parentElement?.setAttribute('aria-label', describeChart(plan, page))
      return { ...drawn, plan }
    })
    this.#slider.max = String(series.atMs.length - 1)
    if (this.#moment !== undefined) this.#tell(Math.min(this.#moment, series.atMs.length - 1))
    return true
  }

  /** Redraws everything in the current colours; zoom and crosshair stay. */
  redraw(): void {
    const page = this.#page
    if (page === undefined) return
    const { series } = page
    const zoom = this.#zoom()
    for (const { plot } of this.#drawn) plot.destroy()
    this.#box.replaceChildren()
    const palette = readPalette()
    const plans = planCharts(page)
    this.#outline = outlineOf(plans, page)
    this.#drawn = plans.map((plan) => this.#draw(plan, page, palette))
    this.#slider.max = String(series.atMs.length - 1)
    if (zoom !== undefined) for (const { plot } of this.#drawn) plot.setScale('x', zoom)
    if (this.#moment !== undefined) this.#showMoment(Math.min(this.#moment, series.atMs.length - 1))
  }

  #draw(plan: ChartPlan, page: Timed, palette: Palette): Drawn {
    const { series, warmUp } = page
    const limits = limitsOf(page)
    const untilMs = warmUp?.untilMs ?? null
    const { figure, caption, canvas } = makeFigure(plan, describeChart(plan, page))
    const values = plan.lines.map((line) => makeLegend(caption, line, plan.lines.length > 1))
    if (untilMs !== null) caption.append(makeLegendItem('warm-up', NOT_COUNTED))
    if (bandsOf(page).length > 0) caption.append(makeLegendItem('stall', NOTHING_ANSWERED))
    this.#box.append(figure)
    const options = chartOptions(plan, { palette, limits, width: this.#width() })
    const hooks = {
      drawClear: [
        (plot: uPlot) => {
          if (untilMs !== null) drawBand(plot, untilMs, palette)
          // There may be more of them by now.
          drawBands(plot, bandsOf(this.#page ?? page), palette)
        }
      ],
      setCursor: [({ cursor }: uPlot) => this.#follow(cursor.idx)],
      draw: [(plot: uPlot) => drawLimits(plot, plan, palette)]
    }
    const plot = new uPlot({ ...options, hooks }, dataOf(plan, series), canvas)
    const drawn = { plan, plot, values }
    this.#wireLegend(caption, drawn)
    return drawn
  }

  #wireLegend(caption: HTMLElement, { plot, plan }: Drawn): void {
    caption.querySelectorAll('button').forEach((button, index) => {
      button.addEventListener('click', () => {
        const show = button.getAttribute('aria-pressed') !== 'true'
        button.setAttribute('aria-pressed', String(show))
        for (const at of seriesOf(plan, index)) plot.setSeries(at, { show })
      })
    })
  }

  /** The pointer is over a chart: everything else that shows a moment follows. */
  #follow(index: number | null | undefined): void {
    if (index == null || index === this.#moment) return
    this.#moment = index
    this.#slider.value = String(index)
    this.#tell(index)
  }

  #showMoment(index: number): void {
    const at = this.#page?.series.atMs[index]
    if (at === undefined) return
    this.#moment = index
    this.#slider.value = String(index)
    pointAt(this.#drawn, at / 1000)
    this.#tell(index)
  }

  #tell(index: number): void {
    const page = this.#page
    const at = page?.series.atMs[index]
    if (page === undefined || at === undefined) return
    const readings = this.#drawn.flatMap(({ plan, values }) =>
      plan.lines.map((line, i) => {
        const text = withUnit(line.said[index] ?? null, plan.unit)
        const element = values[i]
        if (element !== undefined) element.textContent = text
        return `${line.name} ${text}`
      })
    )
    const clock = page.startMs === null ? '' : ` · ${formatTime(page.startMs + at)}`
    const notes = notesOn(page, index)
    this.#words.textContent = [formatElapsed(at / 1000) + clock, ...notes].join(' · ')
    const moment = [formatElapsed(at / 1000), ...notes].join(', ')
    this.#slider.setAttribute('aria-valuetext', `${moment}: ${readings.join(', ')}`)
  }

  /** The visible part of the time axis, unless it is all of it. */
  #zoom(): { min: number; max: number } | undefined {
    const { min, max } = this.#drawn[0]?.plot.scales.x ?? {}
    const whole = this.#drawn[0]?.plot.data[0]
    if (min == null || max == null || whole === undefined) return undefined
    return min > (whole[0] ?? 0) || max < (whole[whole.length - 1] ?? 0) ? { min, max } : undefined
  }

  #zoomBy(factor: number): void {
    const { series } = this.#page ?? {}
    const plot = this.#drawn[0]?.plot
    if (series === undefined || plot === undefined) return
    const last = (series.atMs.at(-1) ?? 0) / 1000
    const { min, max } = this.#zoom() ?? { min: 0, max: last }
    const moment = (series.atMs[this.#moment ?? -1] ?? NaN) / 1000
    const middle = moment >= min && moment <= max ? moment : (min + max) / 2
    const least = (series.bucketMs / 1000) * LEAST_POINTS
    const width = Math.min(last, Math.max(least, (max - min) * factor))
    const from = Math.max(0, Math.min(last - width, middle - width / 2))
    for (const drawn of this.#drawn) drawn.plot.setScale('x', { min: from, max: from + width })
    if (this.#moment !== undefined) queueMicrotask(() => this.#showMoment(this.#moment ?? 0))
  }

  #width(): number {
    return Math.max(240, this.#box.clientWidth)
  }

  #fit(): void {
    for (const { plot, plan } of this.#drawn) {
      if (plot.width !== this.#width()) plot.setSize({ width: this.#width(), height: plan.height })
    }
  }

  #renderTable(): string {
    const page = this.#page
    if (page === undefined) return ''
    const columns = planCharts(page).flatMap(({ lines, unit }) => lines.map((line) => ({ ...line, unit })))
    const rows = page.series.atMs.map((at, i) => {
      const cells = columns.map(({ said }) => `<td class="number">${formatNumber(said[i] ?? null)}</td>`)
      const notes = notesOn(page, i)
      const mark = notes.length === 0 ? '' : ` (${notes.join(', ')})`
      return `<tr><th scope="row">${formatElapsed(at / 1000)}${mark}</th>${cells.join('')}</tr>`
    })
    const headings = ['Time', ...columns.map(({ name, unit }) => (unit === '' ? name : `${name}, ${unit}`))]
    return renderTable({ name: 'Figures over time', headings, rows })
  }
}

function hasSeries(page: PageDocument): page is Timed {
  return page.series !== null
}

function limitsOf({ views }: PageDocument): readonly Limit[] {
  return views[0]?.limits ?? []
}

function planCharts(page: Timed): ChartPlan[] {
  const plans: ChartPlan[] = [
    {
      ...{ title: 'Response time', unit: 'ms', height: 220, shape: 'line', limits: limitsOf(page) },
      lines: [planLine(page, 'p50Ms', 'p50'), planLine(page, 'p95Ms', 'p95'), planLine(page, 'p99Ms', 'p99')]
    },
    {
      ...{ title: 'Throughput', unit: '/s', height: 150, shape: 'area', limits: [] },
      lines: [planLine(page, 'throughput', 'throughput', 'Throughput')]
    },
    {
      ...{ title: 'Failures', unit: '', height: 110, shape: 'bars', limits: [] },
      lines: [planLine(page, 'failures', 'failures', 'Failures')]
    },
    {
      ...{ title: 'Active threads', unit: '', height: 120, shape: 'area', limits: [] },
      lines: [planLine(page, 'activeThreads', 'threads', 'Active threads')]
    }
  ]
  // What the CSVs do not contain gets no empty chart.
  return plans.filter(({ lines }) => lines.some(({ said }) => said.some((value) => value !== null)))
}

/** Everything but the values. */
function outlineOf(plans: readonly ChartPlan[], page: Timed): string {
  return JSON.stringify([plans.map(({ title, limits }) => [title, limits]), bandsOf(page).length > 0])
}

function notesOn(page: Timed, index: number): string[] {
  const band = describeBand(page, index)
  return [...(isInWarmUp(page, index) ? [NOT_COUNTED] : []), ...(band === undefined ? [] : [band])]
}

function planLine(page: Timed, of: SeriesName, colour: ColourName, name: string = colour): Line {
  const whole = page.series[of]
  const values = page.warmUp?.counted?.[of]
  if (values === undefined) return { name, colour, values: whole, grey: undefined, said: whole }
  const said = whole.map((value, i) => (isInWarmUp(page, i) ? value : (values[i] ?? null)))
  return { name, colour, values, grey: greyPart(whole, values), said }
}

function makeLegend(caption: HTMLElement, { name, colour }: Line, canHide: boolean): HTMLElement {
  const item = canHide ? make('button', { className: 'legend' }) : make('span', { className: 'legend' })
  if (item instanceof HTMLButtonElement) {
    item.type = 'button'
    item.setAttribute('aria-pressed', 'true')
  }
  const value = make('span', { className: 'reading' })
  item.append(make('i', { className: `swatch ${colour}` }))
  if (canHide) item.append(make('span', { text: name }))
  item.append(value)
  caption.append(item)
  return value
}

function chartOptions(
  plan: ChartPlan,
  { palette, limits, width }: { palette: Palette; limits: readonly Limit[]; width: number }
): uPlot.Options {
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
      numberAxis(palette, AXIS_WIDTH, 28)
    ],
    series: [
      {},
      ...plan.lines.flatMap(({ grey }) =>
        grey === undefined ? [] : [seriesOptions(plan, palette['warm-up'])]
      ),
      ...plan.lines.map(({ colour }) => seriesOptions(plan, palette[colour]))
    ],
    // The crosshair stays where the pointer left it.
    cursor: { y: false, sync: { key: 'time' }, drag: { x: true, y: false }, bind: { mouseleave: () => null } }
  }
}

function seriesOptions({ shape }: ChartPlan, stroke: string): uPlot.Series {
  const base: uPlot.Series = { stroke, width: 1.75, points: { show: false } }
  if (shape === 'area') return { ...base, fill: tint(stroke, 0.14) }
  if (shape === 'line') return base
  const { bars } = uPlot.paths
  return { ...base, width: 0, fill: stroke, ...(bars && { paths: bars({ size: [0.7, 24] }) }) }
}

/** Limits are labelled beside the charts, which all have the same width; a narrow screen has no space for them. */
function gutterOf(limits: readonly Limit[], width: number): number {
  if (limits.length === 0 || width <= WIDE) return 16
  const longest = Math.max(...limits.map(({ text }) => text.length))
  return Math.min(WIDEST_GUTTER, Math.max(GUTTER, longest * LETTER_WIDTH + 2 * GAP))
}

/** Space above the highest point, and for limits that are close. */
function topOf(max: number | null, limits: readonly Limit[]): number {
  const highest = Math.max(1, max ?? 0)
  return Math.max(highest, ...limits.map(({ ms }) => ms).filter((ms) => ms < highest * 2)) * 1.1
}

/** Limits as dashed lines with their labels beside them, moved up if two are close. */
function drawLimits(plot: uPlot, { limits, lines }: ChartPlan, palette: Palette): void {
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

function describeChart({ title, unit, lines }: ChartPlan, page: Timed): string {
  const { series, warmUp } = page
  const isAnyCounted = lines.some(({ values }) => values.some((value) => value !== null))
  const parts = lines.map(({ name, values, said }) => {
    const told = isAnyCounted ? values : said
    const known = told.filter((value) => value !== null)
    const highest = Math.max(...known)
    const at = formatElapsed((series.atMs[told.indexOf(highest)] ?? 0) / 1000)
    return `${name} from ${withUnit(Math.min(...known), unit)} to ${withUnit(highest, unit)}, highest at ${at}`
  })
  const length = formatElapsed(((series.atMs.at(-1) ?? 0) + series.bucketMs) / 1000)
  const until = formatElapsed((warmUp?.untilMs ?? 0) / 1000)
  const part = isAnyCounted ? `the first ${until}` : 'all of it'
  const leftOut = warmUp?.untilMs == null ? '' : `, ${part} ${NOT_COUNTED}`
  return `${title} over ${length}${leftOut}${countBands(page)}: ${parts.join('; ')}`
}

function withUnit(value: number | null, unit: string): string {
  return value === null ? '–' : `${formatNumber(value)}${unit === 'ms' ? ' ms' : unit}`
}

function dataOf({ lines }: ChartPlan, { atMs }: Series): uPlot.AlignedData {
  const grey = lines.flatMap((line) => (line.grey === undefined ? [] : [[...line.grey]]))
  return [atMs.map((at) => at / 1000), ...grey, ...lines.map(({ values }) => [...values])]
}

/** Where a line is in the chart's data: its grey part and itself. */
function seriesOf({ lines }: ChartPlan, index: number): number[] {
  const greyCount = lines.filter(({ grey }) => grey !== undefined).length
  return greyCount === 0 ? [index + 1] : [index + 1, greyCount + index + 1]
}
