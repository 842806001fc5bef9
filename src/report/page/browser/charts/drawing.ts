import uPlot from 'uplot'
import type { Limit } from '../../build-document.js'
import { formatNumber } from '../../numbers.js'
import { make } from '../elements.js'

/** Names of the style sheet's colours that the canvas needs too. */
const NAMES = [
  ...['text', 'muted', 'line', 'card', 'good', 'bad', 'doubtful'],
  ...['p50', 'p95', 'p99', 'throughput', 'failures', 'threads'],
  ...['connect', 'ttfb', 'download', 'received', 'sent'],
  ...['code-2a', 'code-2b', 'code-2c', 'code-3a', 'code-3b', 'code-4a', 'code-4b', 'code-4c'],
  ...['code-5a', 'code-5b', 'code-5c', 'code-none', 'code-none-b', 'code-other'],
  ...['warm-up', 'warm-up-band', 'stall', 'stall-band'],
  ...['zone-good', 'zone-doubtful', 'zone-bad']
] as const

export type ColourName = (typeof NAMES)[number]
export type Palette = Readonly<Record<ColourName, string>>

/** The current colours; an element resolves those that depend on the theme. */
export function readPalette(): Palette {
  const probe = document.createElement('span')
  document.body.append(probe)
  const entries = NAMES.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color] as const
  })
  probe.remove()
  return Object.fromEntries(entries) as Palette
}

export const FONT = 'ui-sans-serif, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

export function axisLook(palette: Palette): uPlot.Axis {
  return {
    ...{ stroke: palette.muted, font: `12px ${FONT}`, ticks: { show: false } },
    grid: { stroke: palette.line, width: 1 }
  }
}

export function numberAxis(
  palette: Palette,
  { size, space, write = formatNumber }: { size: number; space: number; write?: (value: number) => string }
): uPlot.Axis {
  return { ...axisLook(palette), size, space, values: (_, splits) => splits.map((value) => write(value)) }
}

export function setFont(ctx: CanvasRenderingContext2D): void {
  ctx.font = `${12 * uPlot.pxRatio}px ${FONT}`
}

/** The same colour, partly transparent. */
export function tint(colour: string, opacity: number): string {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`)
}

export function makeFigure({ title, unit }: { title: string; unit: string }, words: string) {
  const figure = make('figure', { className: 'chart' })
  const caption = make('figcaption')
  caption.append(make('strong', { text: title }), make('span', { className: 'unit', text: unit }))
  const canvas = make('div', { className: 'plot' })
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', words)
  figure.append(caption, canvas)
  return { figure, caption, canvas }
}

/** A colour of a chart, and what it stands for. */
export function makeLegendItem(swatch: string, text: string): HTMLElement {
  const item = make('span', { className: 'legend' })
  item.append(make('i', { className: `swatch ${swatch}` }), make('span', { text }))
  return item
}

/** Moves the crosshairs to a value of their common axis. */
export function pointAt(plots: readonly { readonly plot: uPlot }[], value: number): void {
  for (const { plot } of plots)
    plot.setCursor({ left: plot.valToPos(value, 'x'), top: plot.over.clientHeight / 2 }, false)
}

export function strokeLine(ctx: CanvasRenderingContext2D, ...places: (readonly [number, number])[]): void {
  ctx.beginPath()
  for (const [x, y] of places) ctx.lineTo(x, y)
  ctx.stroke()
}

interface Writing {
  readonly text: string
  /** Longer text is cut, and ends with `…`. */
  readonly mostWidth?: number
  readonly x: number
  readonly y: number
  readonly align: CanvasTextAlign
  readonly colour: string
  readonly palette: Palette
}

/** Text with an outline in the colour of the card, so that lines behind it do not make it hard to read. */
export function writeOnChart(ctx: CanvasRenderingContext2D, writing: Writing): void {
  const { x, y, align, colour, palette } = writing
  ctx.save()
  setFont(ctx)
  const text = cutToWidth(ctx, writing)
  ctx.textAlign = align
  ctx.lineJoin = 'round'
  ctx.lineWidth = 4 * uPlot.pxRatio
  ctx.strokeStyle = palette.card
  ctx.strokeText(text, x, y)
  ctx.fillStyle = colour
  ctx.fillText(text, x, y)
  ctx.restore()
}

function cutToWidth(ctx: CanvasRenderingContext2D, { text, mostWidth = Infinity }: Writing): string {
  if (ctx.measureText(text).width <= mostWidth) return text
  let kept = text
  while (kept !== '' && ctx.measureText(`${kept}…`).width > mostWidth) kept = kept.slice(0, -1)
  return `${kept}…`
}

/** Green if the limit holds, red if it does not. */
export function limitColour({ verdict }: Limit, palette: Palette): string {
  if (verdict === 'passed' || verdict === 'holds') return palette.good
  return verdict === 'failed' || verdict === 'broken' ? palette.bad : palette.doubtful
}
