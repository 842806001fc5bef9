import type { Headline, PageDocument, View } from '../build-document.js'
import { renderErrors, renderOverview, renderPlaces, renderRun, renderStalls } from '../sections.js'
import { renderLinks } from '../served/run-links.js'
import { renderInformation, renderThresholds } from '../threshold-section.js'
import { ComparedDistributions } from './comparison/compared-distributions.js'
import { Connection } from './connection.js'
import { DistributionChart } from './distribution-chart.js'
import { find, make, rewrite } from './elements.js'
import { LabelTable } from './label-table.js'
import { LivePanel } from './live.js'
import { watchTheme } from './theme.js'
import { TimeCharts } from './time-charts.js'
import { TrendCharts } from './trend-charts.js'

const SECTIONS = {
  overview: renderOverview,
  thresholds: renderThresholds,
  comparison: renderInformation,
  stalls: renderStalls,
  errors: renderErrors,
  places: renderPlaces,
  run: renderRun,
  links: renderLinks
}

const GOES_ON: readonly Headline[] = ['queued', 'running', 'stopping']

/** The open page: shows a document, and replaces it with newer ones. */
class Page {
  readonly #times = new TimeCharts()
  readonly #trend = new TrendCharts()
  readonly #distribution = new DistributionChart()
  readonly #labels = new LabelTable()
  readonly #compared = new ComparedDistributions()
  readonly #choices = ['distribution-view', 'labels-view'].map((id) => find(id, HTMLSelectElement))
  #views: readonly View[] = []
  #chosen = 0

  constructor() {
    for (const choice of this.#choices)
      choice.addEventListener('change', () => this.#choose(Number(choice.value)))
  }

  show(page: PageDocument): void {
    this.#views = page.views
    for (const choice of this.#choices) fillChoice(choice, page.views)
    this.#times.show(page)
    this.#trend.show(page.trend)
    this.#choose(Math.min(this.#chosen, Math.max(0, page.views.length - 1)))
  }

  /** Once, with the document that the page was made from. */
  compare({ labelChanges }: PageDocument): void {
    this.#compared.show(labelChanges)
  }

  redraw(): void {
    this.#compared.redraw()
    this.#times.redraw()
    this.#trend.redraw()
    this.#distribution.redraw()
  }

  #choose(index: number): void {
    this.#chosen = index
    for (const choice of this.#choices) choice.value = String(index)
    const view = this.#views[index]
    this.#distribution.show(view)
    this.#labels.show(view)
  }
}

function fillChoice(choice: HTMLSelectElement, views: readonly View[]): void {
  const options = views.map(({ kind, name }, index) => {
    const option = make('option', { text: kind === 'all' ? 'everything' : `${kind} ${name}` })
    option.value = String(index)
    return option
  })
  // A list that is open stays so.
  const isSame =
    choice.length === options.length && options.every(({ text }, i) => choice.item(i)?.text === text)
  if (!isSame) choice.replaceChildren(...options)
  const label = choice.closest('label')
  if (label !== null) label.hidden = views.length < 2
}

/** Sections rendered with the page are only rendered again for a newer document. */
function rewriteSections(page: PageDocument): void {
  for (const [id, render] of Object.entries(SECTIONS)) {
    const section = find(id, HTMLElement)
    const html = render(page)
    rewrite(section, html)
    section.hidden = html === ''
  }
  document.title = document.title.replace(/^Load gate: [\w-]+/, `Load gate: ${page.headline}`)
}

const block = find('data', HTMLScriptElement)
const page = new Page()
const first = JSON.parse(block.text) as PageDocument
watchTheme(() => page.redraw())
page.show(first)
page.compare(first)

const { events } = block.dataset
if (events !== undefined) {
  const panel = new LivePanel((request) => connection.makeRoom(request))
  panel.show(first)
  const connection = new Connection(events, (data) => {
    const newer = JSON.parse(data) as PageDocument
    rewriteSections(newer)
    page.show(newer)
    panel.show(newer)
    return !GOES_ON.includes(newer.headline)
  })
}
