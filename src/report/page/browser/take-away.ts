import uPlot from 'uplot'
import { fileNameOf, writeCsv, type Cell } from './export-text.js'
import { make } from './elements.js'
import { FONT, type Palette } from './charts/drawing.js'

/** What a chart gives away: a picture, and the values that it is drawn from. */
interface TakenChart {
  /** What it shows, in the words of its heading. */
  readonly title: string
  /** Whose chart it is, if not the run's. */
  readonly label?: string | undefined
  readonly picture: () => Picture
  readonly rows: () => readonly (readonly Cell[])[]
}

interface Picture {
  readonly canvas: HTMLCanvasElement
  readonly legend: readonly { readonly colour: string; readonly text: string }[]
  readonly palette: Palette
}

const MARGIN = 16
const ROW = 22
const SWATCH = 11
/** Long enough for a browser to have read it. */
const KEPT_MS = 60_000

/** The buttons of a chart. */
export function makeTakeAway(chart: TakenChart): HTMLElement {
  const buttons = make('span', { className: 'take' })
  buttons.append(
    makeButton(chart, 'PNG', () => void savePicture(chart)),
    makeButton(chart, 'CSV', () =>
      save(new Blob([writeCsv(chart.rows())], { type: 'text/csv' }), fileName(chart, 'csv'))
    )
  )
  return buttons
}

function makeButton({ title }: TakenChart, format: string, act: () => void): HTMLButtonElement {
  const button = make('button', { text: format })
  button.type = 'button'
  button.title = `Download ${format === 'PNG' ? 'this chart as a picture' : 'the values of this chart'}`
  button.setAttribute('aria-label', `${format}: download ${title}`)
  button.addEventListener('click', act)
  return button
}

function fileName({ title, label }: TakenChart, ending: string): string {
  return fileNameOf(label === undefined ? [title] : [title, label], ending)
}

async function savePicture(chart: TakenChart): Promise<void> {
  const painted = paint(chart)
  const blob = await new Promise<Blob | null>((resolve) => painted.toBlob(resolve, 'image/png'))
  if (blob !== null) save(blob, fileName(chart, 'png'))
}

function save(blob: Blob, name: string): void {
  const link = make('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
}

/** The chart as it is on the screen, with its heading and its legend, which are not part of its canvas. */
function paint({ title, label, picture }: TakenChart): HTMLCanvasElement {
  const { canvas, legend, palette } = picture()
  const ratio = uPlot.pxRatio
  const margin = MARGIN * ratio
  const row = ROW * ratio
  const painted = make('canvas')
  painted.width = canvas.width + 2 * margin
  const ctx = painted.getContext('2d')
  if (ctx === null) return canvas
  const placed = placeLegend(ctx, legend, canvas.width)
  const rows = (placed.at(-1)?.row ?? -1) + 1
  const top = margin + row * (1 + rows)
  // This clears the canvas and its font.
  painted.height = top + canvas.height + margin
  ctx.fillStyle = palette.card
  ctx.fillRect(0, 0, painted.width, painted.height)
  ctx.textBaseline = 'middle'
  ctx.font = `600 ${14 * ratio}px ${FONT}`
  ctx.fillStyle = palette.text
  ctx.fillText(label === undefined ? title : `${title}: ${label}`, margin, margin + row / 2, canvas.width)
  ctx.font = legendFont()
  for (const { colour, text, x, row: line } of placed) {
    const y = margin + row * (1.5 + line)
    const side = SWATCH * ratio
    ctx.fillStyle = colour
    ctx.fillRect(margin + x, y - side / 2, side, side)
    ctx.fillStyle = palette.text
    ctx.fillText(text, margin + x + side + 6 * ratio, y)
  }
  ctx.drawImage(canvas, margin, top)
  return painted
}

function legendFont(): string {
  return `${12 * uPlot.pxRatio}px ${FONT}`
}

function placeLegend(ctx: CanvasRenderingContext2D, legend: Picture['legend'], width: number) {
  const ratio = uPlot.pxRatio
  ctx.font = legendFont()
  let x = 0
  let row = 0
  return legend.map((item) => {
    const needed = (SWATCH + 6 + 16) * ratio + ctx.measureText(item.text).width
    if (x > 0 && x + needed > width) {
      x = 0
      row++
    }
    const place = { ...item, x, row }
    x += needed
    return place
  })
}
