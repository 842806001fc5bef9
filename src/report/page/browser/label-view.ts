import type { LabelRow, PageDocument } from '../build-document.js'
import { renderErrorTable } from '../error-section.js'
import { asWritten, formatNumber, nameLabel } from '../numbers.js'
import { sparkPicture } from '../pictures.js'
import { renderLabelPlaces, renderLabelTiles } from '../sections.js'
import type { Span } from './address.js'
import { DistributionChart } from './charts/distribution-chart.js'
import { TimeCharts } from './charts/time-charts.js'
import { planLabel, type DetailedLabel } from './charts/time-plan.js'
import { find, rewrite } from './elements.js'

const REASONS: Readonly<Record<DetailedLabel['why'], string>> = {
  named: 'A threshold names this label.',
  slowest: 'One of the slowest labels of this run.',
  failing: 'One of the labels of this run that failed most.',
  largest: 'One of the labels of this run with the most samples.'
}

interface Found {
  readonly label: string
  /** Undefined if it is not one of the few with series. */
  readonly detailed: DetailedLabel | undefined
  readonly row: LabelRow | undefined
}

/** One label by itself, above the page. */
export class LabelView {
  readonly #dialog = find('label-view', HTMLDialogElement)
  readonly #times: TimeCharts
  readonly #distribution = new DistributionChart('label-')
  #label: string | undefined

  constructor(onZoom: (span: Span | undefined) => void, onClose: (label: string) => void) {
    this.#times = new TimeCharts('label-', onZoom)
    find('label-close', HTMLButtonElement).addEventListener('click', () => this.#dialog.close())
    // Beside the box, on what it covers.
    this.#dialog.addEventListener('click', ({ target }) => {
      if (target === this.#dialog) this.#dialog.close()
    })
    this.#dialog.addEventListener('close', () => {
      const label = this.#label
      this.#label = undefined
      if (label !== undefined) onClose(label)
    })
  }

  open(page: PageDocument, label: string, span: Span | undefined): void {
    const isOther = this.#label !== label
    this.#label = label
    // Charts are as wide as the box that they are drawn in.
    if (!this.#dialog.open) this.#dialog.showModal()
    this.#fill(page, label)
    this.#times.zoomTo(span)
    if (!isOther) return
    this.#dialog.scrollTop = 0
    find('label-title', HTMLElement).focus({ preventScroll: true })
  }

  /** A newer document, while the label is open. */
  update(page: PageDocument): void {
    if (this.#label !== undefined) this.#fill(page, this.#label)
  }

  close(): void {
    if (this.#dialog.open) this.#dialog.close()
  }

  zoomTo(span: Span | undefined): void {
    if (this.#label !== undefined) this.#times.zoomTo(span)
  }

  redraw(): void {
    if (this.#label === undefined) return
    this.#times.redraw()
    this.#distribution.redraw()
  }

  #fill(page: PageDocument, asked: string): void {
    const found = findLabel(page, asked)
    const { label, detailed } = found
    const figures = detailed?.figures ?? found.row
    find('label-title', HTMLElement).textContent = nameLabel(label)
    find('label-why', HTMLElement).textContent = detailed === undefined ? '' : REASONS[detailed.why]
    const change = page.labelChanges?.rows.find((row) => row.label === nameLabel(label))?.words ?? ''
    const compared = find('label-compared', HTMLElement)
    compared.textContent = change
    compared.hidden = change === ''
    rewrite(find('label-tiles', HTMLElement), figures === undefined ? '' : renderLabelTiles(figures))
    find('label-note', HTMLElement).textContent = explain(page, found)
    rewrite(find('label-errors', HTMLElement), renderErrors(page, found))
    rewrite(find('label-figures', HTMLElement), renderFigures(page, found))
    this.#times.show(detailed && planLabel(page, detailed), label)
    this.#distribution.show(detailed && { ...detailed, name: nameLabel(label) })
  }
}

function findLabel({ details, views }: PageDocument, asked: string): Found {
  const isAsked = ({ label }: { readonly label: string }): boolean => asWritten(label) === asked
  const detailed = details?.labels.find(isAsked)
  const row = views[0]?.labels.find(isAsked)
  return { label: detailed?.label ?? row?.label ?? asked, detailed, row }
}

/** What is missing, and why. */
function explain({ details, live, views }: PageDocument, { detailed, row }: Found): string {
  if (row?.isAside)
    return 'Samples of setUp and tearDown thread groups are outside the time of the load: they count neither for throughput nor in the charts.'
  if (detailed !== undefined) return ''
  if (row === undefined)
    return (views[0]?.labelsLeftOut ?? 0) > 0
      ? 'This page has no figures of this label: it shows those with the most samples, and verdict.json has all of them.'
      : 'This run has no such label.'
  if (live !== undefined) return 'Charts over time by label appear when the run has ended.'
  if (details === null || details.labels.length === 0)
    return 'There are no charts over time by label for this run.'
  const count = details.labels.length === 1 ? 'one label' : `${formatNumber(details.labels.length)} labels`
  return `Charts over time are kept for ${count}: those that thresholds name, the slowest, those that failed most and those with the most samples. This is not one of them.`
}

/** Without details there are those of the run's most frequent errors that belong to the label. */
function renderErrors(page: PageDocument, { label, detailed, row }: Found): string {
  const errors = detailed?.errors ?? page.errors.filter((error) => error.label === nameLabel(label))
  const failures = (detailed?.figures ?? row)?.failures ?? 0
  if (errors.length === 0)
    return failures === 0
      ? ''
      : `<h3>Errors</h3><p class="note">${formatNumber(failures)} failed; their errors are not among the most frequent ones of the run.</p>`
  const samples = (page.details?.failures ?? []).filter((sample) => sample.label === label)
  return `<h3>Errors</h3>${renderErrorTable(errors, { samples, startMs: page.startMs, isOfLabel: true })}`
}

function renderFigures({ views }: PageDocument, { label, detailed, row }: Found): string {
  const table = renderLabelPlaces(views, label)
  const spark =
    detailed !== undefined || row === undefined || row.spark === ''
      ? ''
      : `<h3>Response times</h3><div class="large-spark">${sparkPicture(row.spark)}<p class="hint">From the fastest sample of the run on the left to the slowest on the right, on a logarithmic scale.</p></div>`
  return `${spark}${table === '' ? '' : `<h3>Figures</h3>${table}`}`
}
