import uPlot from 'uplot'
import { densities } from '../../distribution.js'
import type { ComparedDistribution, LabelChangesPart } from '../../label-changes.js'
import { formatMs, formatPercent, renderTable } from '../../numbers.js'
import {
  axisLook,
  makeLegendItem,
  makePlot,
  readPalette,
  tint,
  type ColourName,
  type Palette
} from '../charts.js'
import { LOGARITHMIC, makeSplits, onAxis } from '../distribution-chart.js'
import { fillWhenOpen, find, make } from '../elements.js'

const HEIGHT = 240
const BASE: ColourName = 'threads'
const HEAD: ColourName = 'p95'

/** How long requests took in base and head, over each other; of all samples, or of a label. */
export class ComparedDistributions {
  #all: readonly ComparedDistribution[] = []
  #chosen = 0
  #plot: uPlot | undefined

  /** Only once: a page that is updated while its run goes on compares nothing. */
  show(part: LabelChangesPart | null): void {
    this.#all = part?.distributions ?? []
    if (part === null || this.#all.length === 0) return
    this.#chosen = firstChoice(part)
    find('compared-times', HTMLElement).hidden = false
    const choice = find('compared-label', HTMLSelectElement)
    choice.replaceChildren(...this.#all.map(({ label }, i) => makeOption(label ?? 'everything', i)))
    choice.value = String(this.#chosen)
    const refreshTable = fillWhenOpen(find('compared-table', HTMLDetailsElement), () =>
      renderShares(this.#all[this.#chosen])
    )
    choice.addEventListener('change', () => {
      this.#chosen = Number(choice.value)
      this.redraw()
      refreshTable()
    })
    const box = find('compared-chart', HTMLDivElement)
    new ResizeObserver(() => {
      if (this.#plot?.width !== widthOf(box)) this.#plot?.setSize({ width: widthOf(box), height: HEIGHT })
    }).observe(box)
    this.redraw()
  }

  redraw(): void {
    this.#plot?.destroy()
    this.#plot = undefined
    const shown = this.#all[this.#chosen]
    if (shown === undefined) return
    const box = find('compared-chart', HTMLDivElement)
    const plotted = makePlot(describe(shown))
    const legend = make('p', { className: 'legends' })
    legend.append(makeLegendItem(BASE, 'base'), makeLegendItem(HEAD, 'this run'))
    const reading = make('p', { className: 'hint reading-line', text: ' ' })
    box.replaceChildren(legend, plotted, reading)
    const hooks: uPlot.Hooks.Arrays = {
      setCursor: [({ cursor }) => (reading.textContent = describeBin(shown, cursor.idx))]
    }
    this.#plot = new uPlot({ ...chartOptions(shown, widthOf(box)), hooks }, dataOf(shown), plotted)
  }
}

/** The label that got slower, where that is what people look for; else everything. */
function firstChoice({ isFirst, rows, distributions }: LabelChangesPart): number {
  const [slowest] = rows
  if (!isFirst || slowest?.outcome !== 'slower') return 0
  return Math.max(
    0,
    distributions.findIndex(({ label }) => label === slowest.label)
  )
}

function makeOption(text: string, index: number): HTMLOptionElement {
  const option = make('option', { text: text.trim() === '' ? '(no name)' : text })
  option.value = String(index)
  return option
}

function widthOf(box: HTMLElement): number {
  return Math.max(240, box.clientWidth)
}

/** Steps: each edge has the height of the bin that it starts. */
function dataOf({ edges, base, head }: ComparedDistribution): uPlot.AlignedData {
  const heights = (shares: number[]): number[] => [...densities({ edgesMs: edges, shares }), 0]
  return [edges.map(onAxis), heights(base), heights(head)]
}

function chartOptions({ edges }: ComparedDistribution, width: number): uPlot.Options {
  const palette = readPalette()
  const [low, high] = [onAxis(edges[0] ?? 1), (edges.at(-1) ?? 1) * 1.15]
  return {
    width,
    height: HEIGHT,
    padding: [8, 16, 0, 16],
    legend: { show: false },
    scales: {
      x: { time: false, distr: LOGARITHMIC, range: () => [low * 0.95, high] },
      y: { range: (_, __, max) => [0, max * 1.1] }
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
    series: [{}, lineOf(BASE, palette), lineOf(HEAD, palette)],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } }
  }
}

function lineOf(name: ColourName, palette: Palette): uPlot.Series {
  const { stepped } = uPlot.paths
  return {
    ...{ stroke: palette[name], width: 2, points: { show: false }, fill: tint(palette[name], 0.18) },
    ...(stepped && { paths: stepped({ align: 1 }) })
  }
}

function describe({ label, edges, base, head }: ComparedDistribution): string {
  const [was, is] = [base, head].map((shares) => formatMs(middleOf(edges, shares)))
  return `Distribution of response times, ${label ?? 'all samples'}: half of the samples of the base took up to ${was}, half of this run's up to ${is}`
}

/** The edge that at least half of the samples are below. */
function middleOf(edges: readonly number[], shares: readonly number[]): number | null {
  let upTo = 0
  const index = shares.findIndex((share) => (upTo += share) >= 0.5)
  return edges[index + 1] ?? null
}

function describeBin({ edges, base, head }: ComparedDistribution, index: number | null | undefined): string {
  if (index == null || index >= base.length) return ' '
  return `Above ${formatMs(edges[index] ?? null)} and up to ${formatMs(edges[index + 1] ?? null)}: ${formatPercent(base[index] ?? null)} of the base, ${formatPercent(head[index] ?? null)} of this run`
}

function renderShares(shown: ComparedDistribution | undefined): string {
  if (shown === undefined) return ''
  const { edges, base, head } = shown
  const rows = base.map((share, i) => {
    const cells = [formatMs(edges[i + 1] ?? null), formatPercent(share), formatPercent(head[i] ?? null)]
    return `<tr><th scope="row">${formatMs(edges[i] ?? null)}</th>${cells.map((cell) => `<td class="number">${cell}</td>`).join('')}</tr>`
  })
  const headings = ['Above', 'Up to', 'Share of the base', 'Share of this run']
  return renderTable({ name: 'Response times of base and this run', headings, rows })
}
