import type { ComparedDistribution, LabelChangesPart } from '../../label-changes.js'
import { formatMs, formatPercent, nameLabel, numberCells, renderTable } from '../../numbers.js'
import { readPalette } from '../charts/drawing.js'
import { StepChart } from '../charts/step-chart.js'
import { fillWhenOpen, find, make } from '../elements.js'
import type { Cell } from '../export-text.js'

const HEIGHT = 240

/** How long requests took in base and head, over each other; of all samples, or of a label. */
export class ComparedDistributions {
  #all: readonly ComparedDistribution[] = []
  #chosen = 0
  #chart: StepChart | undefined

  /** Only once: a page that is updated while its run goes on compares nothing. */
  show(part: LabelChangesPart | null): void {
    this.#all = part?.distributions ?? []
    if (part === null || this.#all.length === 0) return
    this.#chosen = firstChoice(part)
    find('compared-times', HTMLElement).hidden = false
    const choice = find('compared-label', HTMLSelectElement)
    choice.replaceChildren(...this.#all.map(({ label }, i) => makeOption(nameOf(label), i)))
    choice.value = String(this.#chosen)
    const refreshTable = fillWhenOpen(find('compared-table', HTMLDetailsElement), () =>
      renderShares(this.#all[this.#chosen])
    )
    choice.addEventListener('change', () => {
      this.#chosen = Number(choice.value)
      this.redraw()
      refreshTable()
    })
    this.#chart = new StepChart('compared-chart', HEIGHT)
    this.redraw()
  }

  redraw(): void {
    const shown = this.#all[this.#chosen]
    if (shown === undefined) return
    const { label, edges, base, head } = shown
    const plan = {
      ...{ unit: '', words: describe(shown), edgesMs: edges, slowestMs: edges.at(-1) ?? 1, headroom: 0.1 },
      ...{
        title: 'Response times of base and this run',
        label: label === null ? undefined : nameLabel(label)
      },
      lines: [
        { name: 'base', colour: 'threads' as const, shares: base },
        { name: 'this run', colour: 'p95' as const, shares: head }
      ],
      describeBin: (index: number) => describeBin(shown, index),
      rows: () => listShares(shown)
    }
    this.#chart?.draw(plan, readPalette())
  }
}

/** The label that got slower, where that is what people look for; else everything. */
function firstChoice({ isFirst, rows, distributions }: LabelChangesPart): number {
  const [slowest] = rows
  if (!isFirst || slowest?.outcome !== 'slower') return 0
  return Math.max(
    0,
    distributions.findIndex(({ label }) => label !== null && nameLabel(label) === slowest.label)
  )
}

/** Null stands for all samples. */
function nameOf(label: string | null): string {
  return label === null ? 'all samples' : nameLabel(label)
}

function makeOption(text: string, index: number): HTMLOptionElement {
  const option = make('option', { text })
  option.value = String(index)
  return option
}

function describe({ label, edges, base, head }: ComparedDistribution): string {
  const [was, is] = [base, head].map((shares) => formatMs(middleOf(edges, shares)))
  return `Distribution of response times, ${nameOf(label)}: half of the samples of the base took up to ${was}, half of this run's up to ${is}`
}

/** The edge that at least half of the samples are below. */
function middleOf(edges: readonly number[], shares: readonly number[]): number | null {
  let upTo = 0
  const index = shares.findIndex((share) => (upTo += share) >= 0.5)
  return edges[index + 1] ?? null
}

function describeBin({ edges, base, head }: ComparedDistribution, index: number): string {
  return `Above ${formatMs(edges[index] ?? null)} and up to ${formatMs(edges[index + 1] ?? null)}: ${formatPercent(base[index] ?? null)} of the base, ${formatPercent(head[index] ?? null)} of this run`
}

function listShares({ edges, base, head }: ComparedDistribution): Cell[][] {
  return [
    ['Above, ms', 'Up to, ms', 'Share of the base', 'Share of this run'],
    ...base.map((share, i) => [edges[i] ?? null, edges[i + 1] ?? null, share, head[i] ?? null])
  ]
}

function renderShares(shown: ComparedDistribution | undefined): string {
  if (shown === undefined) return ''
  const { edges, base, head } = shown
  const rows = base.map((share, i) => {
    const cells = [formatMs(edges[i + 1] ?? null), formatPercent(share), formatPercent(head[i] ?? null)]
    return `<tr><th scope="row">${formatMs(edges[i] ?? null)}</th>${numberCells(cells)}</tr>`
  })
  const headings = ['Above', 'Up to', 'Share of the base', 'Share of this run']
  return renderTable({ name: 'Response times of base and this run', headings, rows })
}
