import uPlot from 'uplot'
import { densities } from '../../distribution.js'
import { find, make } from '../elements.js'
import type { Cell } from '../export-text.js'
import { makeTakeAway } from '../take-away.js'
import { axisLook, makeFigure, makeLegendItem, tint, type ColourName, type Palette } from './drawing.js'

interface StepLine {
  readonly name: string
  readonly colour: ColourName
  readonly shares: readonly number[]
}

export interface StepPlan {
  readonly unit: string
  /** What the chart shows, for those who do not see it. */
  readonly words: string
  /** Heading and name of what is downloaded. */
  readonly title: string
  readonly label: string | undefined
  readonly edgesMs: readonly number[]
  /** Drawn over each other. */
  readonly lines: readonly StepLine[]
  /** How far the axis reaches. */
  readonly slowestMs: number
  /** The space above the highest step, as a share of its height. */
  readonly headroom: number
  readonly hooks?: uPlot.Hooks.Arrays
  /** Said while the pointer is over a bin. */
  readonly describeBin: (index: number) => string
  readonly rows: () => readonly (readonly Cell[])[]
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- an enum of declarations alone has no value at run time
const LOGARITHMIC: uPlot.Scale.Distr = 3
/** By the least width of a power of ten, in pixels, at which they do not touch each other. */
const SPLITS = [
  { least: 560, digits: [1, 1.5, 2, 3, 4, 5, 7] },
  { least: 180, digits: [1, 2, 5] },
  { least: 100, digits: [1, 3] }
]

/** A distribution of response times on a logarithmic axis. */
export class StepChart {
  readonly #box: HTMLDivElement
  #plot: uPlot | undefined

  constructor(
    boxId: string,
    private readonly height: number
  ) {
    this.#box = find(boxId, HTMLDivElement)
    new ResizeObserver(() => {
      const width = this.#width()
      if (this.#plot?.width !== width) this.#plot?.setSize({ width, height })
    }).observe(this.#box)
  }

  clear(): void {
    this.#plot?.destroy()
    this.#plot = undefined
  }

  draw(plan: StepPlan, palette: Palette): void {
    this.clear()
    const { title, label, rows } = plan
    const named = plan.lines.length > 1 ? plan.lines : []
    const { figure, caption, canvas } = makeFigure({ title: 'Distribution', unit: plan.unit }, plan.words)
    caption.append(...named.map(({ colour, name }) => makeLegendItem(colour, name)))
    const reading = make('p', { className: 'hint reading-line', text: ' ' })
    figure.append(reading)
    this.#box.replaceChildren(figure)
    const hooks: uPlot.Hooks.Arrays = {
      ...plan.hooks,
      setCursor: [({ cursor: { idx } }) => (reading.textContent = readBin(plan, idx))]
    }
    const size = { width: this.#width(), height: this.height }
    const plot = new uPlot({ ...chartOptions(plan, palette), ...size, hooks }, dataOf(plan), canvas)
    this.#plot = plot
    const legend = named.map(({ colour, name }) => ({ colour: palette[colour], text: name }))
    const picture = () => ({ canvas: plot.ctx.canvas, legend, palette })
    caption.append(makeTakeAway({ title, label, picture, rows }))
  }

  #width(): number {
    return Math.max(240, this.#box.clientWidth)
  }
}

/** The last edge starts no bin. */
function readBin({ edgesMs, describeBin }: StepPlan, index: number | null | undefined): string {
  return index == null || index >= edgesMs.length - 1 ? ' ' : describeBin(index)
}

/** Each edge has the height of the bin that it starts. */
function dataOf({ edgesMs, lines }: StepPlan): uPlot.AlignedData {
  return [edgesMs.map(onAxis), ...lines.map(({ shares }) => [...densities({ edgesMs, shares }), 0])]
}

/** A logarithmic axis has no zero. */
export function onAxis(ms: number): number {
  return Math.max(0.5, ms)
}

function chartOptions(plan: StepPlan, palette: Palette): Omit<uPlot.Options, 'width' | 'height'> {
  const [low, high] = [onAxis(plan.edgesMs[0] ?? 1), plan.slowestMs * 1.15]
  const { stepped } = uPlot.paths
  return {
    // Half of a time below the axis, so that neither the first nor the last one is cut off.
    padding: [8, 24, 0, 24],
    legend: { show: false },
    scales: {
      x: { time: false, distr: LOGARITHMIC, range: () => [low * 0.95, high] },
      y: { range: (_, __, max) => [0, max * (1 + plan.headroom)] }
    },
    axes: [
      {
        ...{ ...axisLook(palette), space: 60, size: 28 },
        splits: ({ bbox }) => makeSplits(low, high, bbox.width / uPlot.pxRatio),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map((ms) => (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`))
      },
      { show: false }
    ],
    series: [
      {},
      ...plan.lines.map(({ colour }) => ({
        ...{ stroke: palette[colour], width: 2, points: { show: false }, fill: tint(palette[colour], 0.2) },
        ...(stepped && { paths: stepped({ align: 1 }) })
      }))
    ],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } }
  }
}

/** As many per power of ten as fit beside each other. */
function makeSplits(low: number, high: number, width: number): number[] {
  const decades = Math.log10(high / low)
  const decadeWidth = width / decades
  const digits = SPLITS.find(({ least }) => decadeWidth >= least)?.digits ?? [1]
  const first = Math.floor(Math.log10(low))
  const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, i) => 10 ** (first + i))
  const splits = powers.flatMap((power) => digits.map((digit) => Number((digit * power).toPrecision(3))))
  return splits.filter((split) => split >= low && split <= high)
}
