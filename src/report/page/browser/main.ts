import type { Headline, PageDocument, View } from '../build-document.js'
import { renderErrors } from '../error-section.js'
import { readEmbedded, type EmbeddedDocument } from '../label-rows.js'
import { renderOverview, renderPlaces, renderRun, renderStalls } from '../sections.js'
import { renderLinks } from '../served/run-links.js'
import { renderInformation, renderThresholds } from '../threshold-section.js'
import { readAddress, writeAddress, type Address, type Span } from './address.js'
import { ComparedDistributions } from './comparison/compared-distributions.js'
import { Connection } from './connection.js'
import { DistributionChart } from './charts/distribution-chart.js'
import { watchCopying } from './copy-table.js'
import { find, make, rewrite } from './elements.js'
import { LabelTable } from './label-table.js'
import { LabelView } from './label-view.js'
import { LivePanel } from './live.js'
import { watchTheme } from './theme.js'
import { TimeCharts } from './charts/time-charts.js'
import { planRun } from './charts/time-plan.js'
import { TrendCharts } from './charts/trend-charts.js'

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
  readonly #times = new TimeCharts('', (span) => this.#zoomed(span))
  readonly #trend = new TrendCharts()
  readonly #distribution = new DistributionChart('')
  readonly #labels = new LabelTable()
  readonly #label = new LabelView(
    (span) => this.#zoomed(span),
    (label) => this.#closed(label)
  )
  readonly #compared = new ComparedDistributions()
  readonly #choices = ['distribution-view', 'labels-view'].map((id) => find(id, HTMLSelectElement))
  #page: PageDocument | undefined
  #views: readonly View[] = []
  #chosen = 0
  /** Whether going back leads to the page without the label. */
  #isOpenedHere = false

  constructor() {
    for (const choice of this.#choices)
      choice.addEventListener('change', () => this.#choose(Number(choice.value)))
    window.addEventListener('hashchange', () => this.follow())
    document.addEventListener('click', (event) => this.#clicked(event))
  }

  show(page: PageDocument): void {
    this.#page = page
    this.#views = page.views
    for (const choice of this.#choices) fillChoice(choice, page.views)
    this.#times.show(planRun(page))
    this.#trend.show(page.trend)
    this.#choose(Math.min(this.#chosen, Math.max(0, page.views.length - 1)))
    this.#label.update(page)
  }

  /** Shows what the address asks for. */
  follow(): void {
    const { label, span } = readAddress(location.hash)
    this.#times.zoomTo(span)
    if (label === undefined) {
      this.#isOpenedHere = false
      this.#label.close()
    } else if (this.#page !== undefined) this.#label.open(this.#page, label, span)
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
    this.#label.redraw()
  }

  /** A link to a label keeps the part of the run that is shown. */
  #clicked(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#label="]') : null
    const isForElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0
    if (link === null || isForElsewhere || event.defaultPrevented) return
    event.preventDefault()
    const { label } = readAddress(link.getAttribute('href') ?? '')
    this.#isOpenedHere = true
    location.hash = writeAddress({ label, span: readAddress(location.hash).span })
  }

  #zoomed(span: Span | undefined): void {
    rewriteAddress({ ...readAddress(location.hash), span })
    this.#times.zoomTo(span)
    this.#label.zoomTo(span)
  }

  #closed(label: string): void {
    const { label: open, span } = readAddress(location.hash)
    if (open !== undefined && this.#isOpenedHere) history.back()
    else if (open !== undefined) rewriteAddress({ span })
    // What had the focus before may be gone, or there was nothing.
    const { activeElement } = document
    if (activeElement === document.body || activeElement?.closest('dialog') != null)
      this.#labels.focusOn(label)
  }

  #choose(index: number): void {
    this.#chosen = index
    for (const choice of this.#choices) choice.value = String(index)
    const view = this.#views[index]
    this.#distribution.show(view)
    this.#labels.show(view)
  }
}

/** Without a further step to go back over. */
function rewriteAddress(address: Address): void {
  const hash = writeAddress(address)
  history.replaceState(history.state, '', hash === '' ? location.pathname + location.search : hash)
}

function fillChoice(choice: HTMLSelectElement, views: readonly View[]): void {
  const options = views.map(({ kind, name }, index) => {
    const option = make('option', { text: kind === 'all' ? name : `${kind} ${name}` })
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
const first = readEmbedded(JSON.parse(block.text) as EmbeddedDocument)
watchTheme(() => page.redraw())
watchCopying()
page.show(first)
page.compare(first)
page.follow()

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
