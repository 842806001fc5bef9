import uPlot from 'uplot'
import { formatElapsed, formatNumber, renderTable } from '../../numbers.js'
import { escapeHtml } from '../../../escape.js'
import { formatTime } from '../../../sentences.js'
import type { Span } from '../address.js'
import { fillWhenOpen, find, make } from '../elements.js'
import type { Cell } from '../export-text.js'
import { makeTakeAway } from '../take-away.js'
import { makeFigure, makeLegendItem, pointAt, readPalette, type Palette } from './drawing.js'
import {
  bandsOf,
  countBands,
  describeBand,
  drawBand,
  drawBands,
  drawSeams,
  NOTHING_ANSWERED,
  isInWarmUp,
  NOT_COUNTED
} from './bands.js'
import { chartOptions, dataOf, drawLimits, seriesOf } from './time-drawing.js'
import { BYTES, type ChartPlan, type Line, type TimePlan } from './time-plan.js'

interface Drawn {
  readonly chart: ChartPlan
  readonly plot: uPlot
  readonly values: readonly HTMLElement[]
  /** Lines that the reader has switched off. */
  readonly hidden: Set<number>
}

const LEAST_POINTS = 4

export class TimeCharts {
  readonly #prefix: string
  readonly #onZoom: (span: Span | undefined) => void
  readonly #box: HTMLDivElement
  readonly #slider: HTMLInputElement
  readonly #words: HTMLElement
  readonly #refreshTable: () => void
  #plan: TimePlan | undefined
  /** Whose charts these are, if not the run's. */
  #label: string | undefined
  #drawn: Drawn[] = []
  #outline = ''
  #moment: number | undefined
  #span: Span | undefined

  /** The ids of what the charts are in begin with the prefix. */
  constructor(prefix: string, onZoom: (span: Span | undefined) => void) {
    this.#prefix = prefix
    this.#onZoom = onZoom
    this.#box = find(`${prefix}time-charts`, HTMLDivElement)
    this.#slider = find(`${prefix}moment`, HTMLInputElement)
    this.#words = find(`${prefix}moment-words`, HTMLElement)
    this.#refreshTable = fillWhenOpen(find(`${prefix}time-table`, HTMLDetailsElement), () =>
      this.#renderTable()
    )
    this.#slider.addEventListener('input', () => this.#showMoment(Number(this.#slider.value)))
    const zooms = { 'zoom-in': 0.5, 'zoom-out': 2, 'zoom-reset': Infinity }
    for (const [id, factor] of Object.entries(zooms))
      find(prefix + id, HTMLButtonElement).addEventListener('click', () => this.#zoomBy(factor))
    new ResizeObserver(() => this.#fit()).observe(this.#box)
  }

  show(plan: TimePlan | undefined, label?: string): void {
    const isOther = label !== this.#label
    this.#plan = plan
    this.#label = label
    if (isOther) this.#moment = undefined
    find(`${this.#prefix}time`, HTMLElement).hidden = plan === undefined
    if (plan === undefined) return
    if (isOther || !this.#refill(plan)) this.redraw()
    this.#refreshTable()
  }

  /** Shows a part of the run, or all of it; the address may ask for one that is not there. */
  zoomTo(span: Span | undefined): void {
    const [first, last] = this.#ends()
    const [from, to] = span ?? [first, last]
    const isThere = from < last && to > first
    this.#span = isThere ? span : undefined
    const scale = isThere
      ? { min: Math.max(first, from), max: Math.min(last, to) }
      : { min: first, max: last }
    for (const { plot } of this.#drawn) plot.setScale('x', scale)
    if (this.#moment !== undefined) queueMicrotask(() => this.#showMoment(this.#moment ?? 0))
  }

  /** Updates the values if the charts stay the same: dragging and hidden lines are not disturbed. */
  #refill(plan: TimePlan): boolean {
    const { series, charts } = plan
    if (outlineOf(plan) !== this.#outline) return false
    const scale = this.#zoom() ?? asScale(this.#ends())
    this.#drawn = this.#drawn.map((drawn, i) => {
      const chart = charts[i] ?? drawn.chart
      drawn.plot.setData(dataOf(chart, series, drawn.hidden), false)
      drawn.plot.setScale('x', scale)
      drawn.plot.root.parentElement?.setAttribute('aria-label', describeChart(chart, plan))
      return { ...drawn, chart }
    })
    this.#slider.max = String(series.atMs.length - 1)
    if (this.#moment !== undefined) this.#tell(Math.min(this.#moment, series.atMs.length - 1))
    return true
  }

  /** Redraws everything in the current colours; zoom and crosshair stay. */
  redraw(): void {
    const plan = this.#plan
    for (const { plot } of this.#drawn) plot.destroy()
    this.#drawn = []
    this.#box.replaceChildren()
    if (plan === undefined) return
    const palette = readPalette()
    this.#outline = outlineOf(plan)
    this.#drawn = plan.charts.map((chart) => this.#draw(chart, plan, palette))
    this.#slider.max = String(plan.series.atMs.length - 1)
    if (this.#span !== undefined) this.zoomTo(this.#span)
    if (this.#moment === undefined) this.#words.textContent = ''
    else this.#showMoment(Math.min(this.#moment, plan.series.atMs.length - 1))
  }

  #draw(chart: ChartPlan, plan: TimePlan, palette: Palette): Drawn {
    const { series, warmUp } = plan
    const limits = plan.charts.flatMap((other) => other.limits)
    const untilMs = warmUp?.untilMs ?? null
    const { figure, caption, canvas } = makeFigure(chart, describeChart(chart, plan))
    const values = chart.lines.map((line) => makeLegend(caption, line, chart.lines.length > 1))
    if (untilMs !== null) caption.append(makeLegendItem('warm-up', NOT_COUNTED))
    if (bandsOf(plan).length > 0) caption.append(makeLegendItem('stall', NOTHING_ANSWERED))
    this.#box.append(figure)
    const options = chartOptions(chart, {
      ...{ palette, limits, width: this.#width(), syncKey: `${this.#prefix}time` }
    })
    const hooks: uPlot.Hooks.Arrays = {
      drawClear: [
        (plot) => {
          if (untilMs !== null) drawBand(plot, untilMs, palette)
          // There may be more of them by now.
          drawBands(plot, bandsOf(this.#plan ?? plan), palette)
          drawSeams(plot, plan.seamsMs, palette)
        }
      ],
      setCursor: [({ cursor }) => this.#follow(cursor.idx)],
      setScale: [(_, name) => (name === 'x' ? this.#noticeZoom() : undefined)],
      draw: [(plot) => drawLimits(plot, chart, palette)]
    }
    const hidden = new Set<number>()
    const plot = new uPlot({ ...options, hooks }, dataOf(chart, series, hidden), canvas)
    const drawn = { chart, plot, values, hidden }
    this.#wireLegend(caption, drawn)
    caption.append(this.#makeTakeAway(drawn, palette))
    return drawn
  }

  #makeTakeAway({ chart, plot, hidden }: Drawn, palette: Palette): HTMLElement {
    const { title, unit, lines } = chart
    return makeTakeAway({
      title,
      label: this.#label,
      picture: () => ({
        canvas: plot.ctx.canvas,
        palette,
        legend: lines.flatMap(({ name, colour }, i) =>
          hidden.has(i) ? [] : [{ colour: palette[colour], text: lines.length > 1 ? name : unit || name }]
        )
      }),
      rows: () => (this.#plan === undefined ? [] : listValues(this.#plan, this.#chartOf(plot) ?? chart))
    })
  }

  #wireLegend(caption: HTMLElement, { plot, chart, hidden }: Drawn): void {
    caption.querySelectorAll('button').forEach((button, index) => {
      button.addEventListener('click', () => {
        const show = button.getAttribute('aria-pressed') !== 'true'
        button.setAttribute('aria-pressed', String(show))
        if (show) hidden.delete(index)
        else hidden.add(index)
        for (const at of seriesOf(chart, index)) plot.setSeries(at, { show })
        const { min, max } = plot.scales.x ?? {}
        // What lies above a line that is gone comes down.
        if (chart.shape !== 'stack' || this.#plan === undefined || min == null || max == null) return
        plot.setData(dataOf(this.#chartOf(plot) ?? chart, this.#plan.series, hidden), false)
        plot.setScale('x', { min, max })
      })
    })
  }

  /** The chart with its newest values. */
  #chartOf(plot: uPlot): ChartPlan | undefined {
    return this.#drawn.find((drawn) => drawn.plot === plot)?.chart
  }

  /** The pointer is over a chart: everything else that shows a point in time follows. */
  #follow(index: number | null | undefined): void {
    if (index == null || index === this.#moment) return
    this.#moment = index
    this.#slider.value = String(index)
    this.#tell(index)
  }

  #showMoment(index: number): void {
    const at = this.#plan?.series.atMs[index]
    if (at === undefined) return
    this.#moment = index
    this.#slider.value = String(index)
    pointAt(this.#drawn, at / 1000)
    this.#tell(index)
  }

  #tell(index: number): void {
    const plan = this.#plan
    const at = plan?.series.atMs[index]
    if (plan === undefined || at === undefined) return
    const readings = this.#drawn.flatMap(({ chart, values }) =>
      chart.lines.map((line, i) => {
        const text = chart.write(line.said[index] ?? null)
        const element = values[i]
        if (element !== undefined) element.textContent = text
        return `${line.name} ${text}`
      })
    )
    const clock = plan.startMs === null ? '' : ` · ${formatTime(plan.startMs + at)}`
    const notes = notesOn(plan, index)
    this.#words.textContent = [formatElapsed(at / 1000) + clock, ...notes].join(' · ')
    const moment = [formatElapsed(at / 1000), ...notes].join(', ')
    this.#slider.setAttribute('aria-valuetext', `${moment}: ${readings.join(', ')}`)
  }

  /** All of the axis, in seconds. */
  #ends(): Span {
    const { atMs = [] } = this.#plan?.series ?? {}
    return [(atMs[0] ?? 0) / 1000, (atMs.at(-1) ?? 0) / 1000]
  }

  /** The visible part of the time axis, unless it is all of it. */
  #zoom(): { min: number; max: number } | undefined {
    const { min, max } = this.#drawn[0]?.plot.scales.x ?? {}
    const whole = this.#drawn[0]?.plot.data[0]
    if (min == null || max == null || whole === undefined) return undefined
    return min > (whole[0] ?? 0) || max < (whole[whole.length - 1] ?? 0) ? { min, max } : undefined
  }

  /** Once for all charts, after they have all been drawn; what the address asked for is no news. */
  #noticeZoom(): void {
    queueMicrotask(() => {
      const zoom = this.#zoom()
      const [from, to] = this.#span ?? []
      const [first, last] = this.#ends()
      const isSame =
        zoom === undefined
          ? from === undefined || to === undefined || (from <= first && to >= last)
          : Math.max(first, from ?? first) === zoom.min && Math.min(last, to ?? last) === zoom.max
      if (isSame) return
      this.#span = zoom === undefined ? undefined : [zoom.min, zoom.max]
      this.#onZoom(this.#span)
    })
  }

  #zoomBy(factor: number): void {
    const { series } = this.#plan ?? {}
    const plot = this.#drawn[0]?.plot
    if (series === undefined || plot === undefined) return
    const [first, last] = this.#ends()
    const { min, max } = this.#zoom() ?? { min: first, max: last }
    const moment = (series.atMs[this.#moment ?? -1] ?? NaN) / 1000
    const middle = moment >= min && moment <= max ? moment : (min + max) / 2
    const least = (series.bucketMs / 1000) * LEAST_POINTS
    const width = Math.min(last - first, Math.max(least, (max - min) * factor))
    const from = Math.max(first, Math.min(last - width, middle - width / 2))
    for (const drawn of this.#drawn) drawn.plot.setScale('x', { min: from, max: from + width })
    if (this.#moment !== undefined) queueMicrotask(() => this.#showMoment(this.#moment ?? 0))
  }

  #width(): number {
    return Math.max(240, this.#box.clientWidth)
  }

  #fit(): void {
    for (const { plot, chart } of this.#drawn) {
      if (plot.width !== this.#width()) plot.setSize({ width: this.#width(), height: chart.height })
    }
  }

  #renderTable(): string {
    const plan = this.#plan
    if (plan === undefined) return ''
    const columns = plan.charts.flatMap(({ lines, unit, write }) =>
      lines.map((line) => ({ ...line, unit, write: unit === BYTES ? write : formatNumber }))
    )
    const rows = plan.series.atMs.map((at, i) => {
      const cells = columns.map(({ said, write }) => `<td class="number">${write(said[i] ?? null)}</td>`)
      const notes = notesOn(plan, i)
      const mark = notes.length === 0 ? '' : ` (${notes.join(', ')})`
      return `<tr><th scope="row">${formatElapsed(at / 1000)}${mark}</th>${cells.join('')}</tr>`
    })
    const headings = ['Time', ...columns.map(({ name, unit }) => escapeHtml(withUnit(name, unit)))]
    return renderTable({ name: 'Figures over time', headings, rows })
  }
}

function asScale([min, max]: Span): { min: number; max: number } {
  return { min, max }
}

/** The values of a chart, for a spreadsheet. */
function listValues(plan: TimePlan, { lines, unit }: ChartPlan): Cell[][] {
  const { startMs, series, warmUp } = plan
  const hasNotes = warmUp?.untilMs != null || bandsOf(plan).length > 0
  const headings = [
    'Seconds',
    ...(startMs === null ? [] : ['Time']),
    ...lines.map(({ name }) => withUnit(name, unit)),
    ...(hasNotes ? ['Note'] : [])
  ]
  const rows = series.atMs.map((at, i): Cell[] => [
    at / 1000,
    ...(startMs === null ? [] : [new Date(startMs + at).toISOString()]),
    ...lines.map(({ said }) => said[i] ?? null),
    ...(hasNotes ? [notesOn(plan, i).join(', ')] : [])
  ])
  return [headings, ...rows]
}

function withUnit(name: string, unit: string): string {
  return unit === '' ? name : `${name}, ${unit}`
}

/** Everything but the values. */
function outlineOf(plan: TimePlan): string {
  const charts = plan.charts.map(({ title, limits, lines }) => [title, limits, lines.map(({ name }) => name)])
  return JSON.stringify([charts, bandsOf(plan).length > 0])
}

function notesOn(plan: TimePlan, index: number): string[] {
  const band = describeBand(plan, index)
  return [...(isInWarmUp(plan, index) ? [NOT_COUNTED] : []), ...(band === undefined ? [] : [band])]
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

function describeChart({ title, write, lines }: ChartPlan, plan: TimePlan): string {
  const { series, warmUp } = plan
  const isAnyCounted = lines.some(({ values }) => values.some((value) => value !== null))
  const parts = lines.map(({ name, values, said }) => {
    const told = isAnyCounted ? values : said
    const known = told.filter((value) => value !== null)
    const highest = Math.max(...known)
    const at = formatElapsed((series.atMs[told.indexOf(highest)] ?? 0) / 1000)
    return `${name} from ${write(Math.min(...known))} to ${write(highest)}, highest at ${at}`
  })
  const length = formatElapsed(((series.atMs.at(-1) ?? 0) + series.bucketMs) / 1000)
  const until = formatElapsed((warmUp?.untilMs ?? 0) / 1000)
  const part = isAnyCounted ? `the first ${until}` : 'all of it'
  const leftOut = warmUp?.untilMs == null ? '' : `, ${part} ${NOT_COUNTED}`
  return `${title} over ${length}${leftOut}${countBands(plan)}: ${parts.join('; ')}`
}
