import { bytesOf, escapeHtml } from '../escape.js'
import type { Outcome } from '../../analysis/outcome.js'
import {
  renderHead,
  renderEditor,
  renderTop,
  type ThresholdEditor,
  type Visitor
} from './served/served-parts.js'
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH, PAGE_STYLE_HASH } from './assets.js'
import { type RunActions, renderActions } from './served/run-actions.js'
import { renderLinks } from './served/run-links.js'
import { buildPageDocument, type PageDocument } from './build-document.js'
import { embedDocument, writeJson } from './label-rows.js'
import { renderSection, wrapTable } from './numbers.js'
import { renderErrors } from './error-section.js'
import { renderLabelChanges } from './label-changes.js'
import { renderOverview, renderPlaces, renderRun, renderStalls, titleOf } from './sections.js'
import { renderInformation, renderThresholds } from './threshold-section.js'

/** Safely below 600 kB. */
const MOST_BYTES = 590_000

/** `report.html`: one file that opens from disk and loads nothing. */
export function renderPage(outcome: Outcome): string {
  return renderPageDocument(buildPageDocument(outcome))
}

export interface PagePaths {
  /** Each server-sent event has a complete new document, which replaces the previous one. */
  readonly eventsPath?: string
  /** A POST to it stops the run; absent if the visitor may not. */
  readonly stopPath?: string | undefined
  readonly homePath?: string
  readonly visitor?: Visitor
  /** Absent if the visitor may not change the thresholds. */
  readonly editor?: ThresholdEditor | undefined
  /** What can be done with the run once it has ended. */
  readonly actions?: RunActions | undefined
}

/** What the page may load and run: its own content, and events from its own origin if it is served. */
export function pagePolicy({ eventsPath, homePath }: PagePaths, scriptHash = PAGE_SCRIPT_HASH): string {
  return [
    `default-src 'none'`,
    `style-src '${PAGE_STYLE_HASH}'`,
    `script-src '${scriptHash}'`,
    ...(eventsPath === undefined ? [] : [`connect-src 'self'`]),
    `base-uri 'none'`,
    `form-action ${homePath === undefined ? `'none'` : `'self'`}`
  ].join('; ')
}

/** The page of a document; with an `eventsPath` it stays connected for updates. */
export function renderPageDocument(page: PageDocument, paths: PagePaths = {}): string {
  let html = ''
  for (const lessen of [(whole: PageDocument) => whole, ...LESS]) {
    const shown = lessen(page)
    const before = renderBeforeData(shown, paths)
    const data = writeJson(embedDocument(shown, MOST_BYTES - bytesOf(before) - bytesOf(AFTER_DATA)))
    html = before + data + AFTER_DATA
    if (bytesOf(html) <= MOST_BYTES) break
  }
  return html
}

const LEFT_OUT = 'Names are so long that this page leaves out a part of what verdict.json has.'
const FEW_ROWS = 5

function withoutDetails(page: PageDocument): PageDocument {
  const { notes, details } = page
  return {
    ...page,
    notes: [...notes, LEFT_OUT],
    details: details && { ...details, labels: [], failures: [] }
  }
}

/** What a page with very long labels does without until it is small enough: their details, then most rows of its tables. */
const LESS = [
  withoutDetails,
  (page: PageDocument): PageDocument => ({
    ...withoutDetails(page),
    errors: page.errors.slice(0, FEW_ROWS),
    labelChanges: page.labelChanges && {
      ...{ ...page.labelChanges, rows: page.labelChanges.rows.slice(0, FEW_ROWS), distributions: [] }
    }
  })
]

const AFTER_DATA = `</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`

function renderBeforeData(page: PageDocument, paths: PagePaths): string {
  const { eventsPath, stopPath, homePath, visitor, editor, actions } = paths
  const title = `Load gate: ${titleOf(page)}${page.rehearsal === null ? '' : ` (${page.rehearsal})`}`
  const labelChanges = renderSection('label-changes', renderLabelChanges(page))
  const isFirst = page.labelChanges?.isFirst ?? false
  const events = eventsPath === undefined ? '' : ` data-events="${escapeHtml(eventsPath)}"`
  return `${renderHead({ policy: pagePolicy(paths), title: escapeHtml(title) })}
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
${homePath === undefined ? '' : renderTop(visitor, { path: homePath, isHere: false })}${eventsPath === undefined ? '' : livePanel(stopPath)}
<div id="overview"${eventsPath === undefined ? '' : ' tabindex="-1"'}>${renderOverview(page)}</div>
${isFirst ? labelChanges : ''}
${renderSection('thresholds', renderThresholds(page))}
${editor === undefined ? '' : renderEditor(editor)}
${actions === undefined ? '' : renderActions(actions, page.live !== undefined)}
${renderSection('comparison', renderInformation(page))}
${isFirst ? '' : labelChanges}
${TREND_PANEL}
${renderSection('errors', renderErrors(page))}
<section id="time" class="card" aria-labelledby="time-title" hidden="">
${timePanel('', 'h2', page)}
</section>
${renderSection('stalls', renderStalls(page))}
${PANELS}
${renderSection('places', renderPlaces(page))}
${renderSection('run', renderRun(page))}
${renderSection('links', renderLinks(page))}
</main>
${labelPanel(page)}
<script type="application/json" id="data"${events}>`
}

/** Charts over time; the page's script finds them by ids that begin with the prefix. */
function timePanel(prefix: string, level: 'h2' | 'h3', { seamsMs }: PageDocument): string {
  const seams =
    seamsMs.length === 0
      ? ''
      : `<p class="note">The charts show the ${seamsMs.length + 1} segments of this run one after the other, without the time between them: a thin line is where the next one begins.</p>\n`
  return `<div class="bar"><${level} id="${prefix}time-title">Over time</${level}><div class="tools" role="group" aria-label="Zoom">
<button type="button" id="${prefix}zoom-in">Zoom in</button><button type="button" id="${prefix}zoom-out">Zoom out</button><button type="button" id="${prefix}zoom-reset">Whole run</button></div></div>
<p class="hint">Drag across a chart to zoom in, double-click for the whole run. The address of this page then leads to what you see.</p>
${seams}<div id="${prefix}time-charts"></div>
<div class="scrubber"><label for="${prefix}moment">Time</label><input type="range" id="${prefix}moment" min="0" max="0" value="0"><span id="${prefix}moment-words" class="moment-words" aria-hidden="true"></span></div>
<details id="${prefix}time-table"><summary>Show as a table</summary></details>`
}

function distributionPanel(prefix: string): string {
  return `<div id="${prefix}distribution-chart"></div>
<ul id="${prefix}zones" class="zones"></ul>
<details id="${prefix}distribution-table"><summary>Show as a table</summary></details>`
}

/** What the page's script fills, as the charts over time: the distribution, the table of labels. Hidden until then. */
const PANELS = `<section id="distribution" class="card" aria-labelledby="distribution-title" hidden="">
<div class="bar"><h2 id="distribution-title">Response times</h2><div class="tools"><label>Show <select id="distribution-view"></select></label></div></div>
${distributionPanel('')}
</section>
<section id="labels" class="card" aria-labelledby="labels-title" hidden="">
<div class="bar"><h2 id="labels-title">Labels</h2><div class="tools"><label>Show <select id="labels-view"></select></label><label>Search <input type="search" id="label-search" autocomplete="off" spellcheck="false"></label></div></div>
<p id="label-count" class="hint" role="status"></p>
${wrapTable('Labels', '<table id="label-table"><thead></thead><tbody></tbody></table>')}
<button type="button" id="more-labels" hidden="">Show all</button>
</section>
<noscript><p class="card">The charts and the table of labels need JavaScript; it is part of this file and loads nothing.</p></noscript>`

/** One label by itself, above the page; the page's script opens it. */
function labelPanel(page: PageDocument): string {
  return `<dialog id="label-view" aria-labelledby="label-title">
<div class="bar label-head"><div><p class="eyebrow">Label</p><h2 id="label-title" tabindex="-1"></h2></div><button type="button" id="label-close">Close</button></div>
<p id="label-why" class="hint"></p>
<p id="label-compared" hidden=""></p>
<div id="label-tiles"></div>
<p id="label-note" class="note"></p>
<section id="label-errors" aria-label="Errors of the label"></section>
<section id="label-time" aria-labelledby="label-time-title">${timePanel('label-', 'h3', page)}</section>
<section id="label-distribution" aria-labelledby="label-distribution-title"><h3 id="label-distribution-title">Response times</h3>
${distributionPanel('label-')}</section>
<section id="label-figures" aria-label="Figures of the label"></section>
</dialog>`
}

/** The last runs of the branch, filled by the page's script as well. */
const TREND_PANEL = `<section id="trend" class="card" aria-labelledby="trend-title" hidden="">
<h2 id="trend-title">Trend</h2>
<p id="trend-words" class="hint"></p>
<div id="trend-charts"></div>
<div id="trend-scrubber" class="scrubber"><label for="trend-run">Run</label><input type="range" id="trend-run" min="0" max="0" value="0"><span id="trend-run-words" aria-hidden="true"></span></div>
<details id="trend-table"><summary>Show as a table</summary></details>
</section>`

/** The run's progress and the stop button; the page's script shows it while the run is in progress. */
function livePanel(stopPath: string | undefined): string {
  const stop =
    stopPath === undefined
      ? ''
      : `<button type="button" id="stop" data-path="${escapeHtml(stopPath)}">Stop the run</button>
<span id="confirm" role="group" aria-labelledby="confirm-words" hidden=""><span id="confirm-words">Stop this run?</span> <button type="button" id="stop-now">Stop it</button> <button type="button" id="keep-going">Keep going</button></span>`
  return `<section id="live" class="card" aria-label="Progress" hidden="">
<div class="bar"><p id="progress-words" tabindex="-1"></p><div class="tools"><span id="connection" role="status"></span>
${stop}</div></div>
<p id="announcement" class="unseen" role="status"></p>
<p id="quiet" hidden=""></p>
<progress id="progress" aria-label="Progress" max="1" hidden=""></progress>
</section>`
}
