import { renderHead } from './head.js'
import { escapeHtml } from '../escape.js'
import type { Outcome } from '../outcome.js'
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH, PAGE_STYLE_HASH } from './assets.js'
import { buildPageDocument } from './build-document.js'
import type { PageDocument } from './document.js'
import { livePanel, PANELS, TREND_PANEL } from './panels.js'
import { renderErrors, renderOverview, renderPlaces, renderRun, renderStalls, titleOf } from './sections.js'
import { renderEditor, renderTop, type ThresholdEditor, type Visitor } from './served-parts.js'
import { renderInformation, renderThresholds } from './threshold-section.js'

/** `report.html`: one file that opens from disk and loads nothing. */
export function renderPage(outcome: Outcome): string {
  return renderPageDocument(buildPageDocument(outcome))
}

/** The paths of a served page, on its own origin. */
export interface PagePaths {
  /** Each server-sent event has a complete new document, which replaces the previous one. */
  readonly eventsPath?: string
  /** A POST to it stops the run; absent if the visitor may not. */
  readonly stopPath?: string | undefined
  /** The list of all runs. */
  readonly homePath?: string
  readonly visitor?: Visitor
  /** Absent if the visitor may not change the thresholds. */
  readonly editor?: ThresholdEditor | undefined
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
  const { eventsPath, stopPath, homePath, visitor, editor } = paths
  const title = `Load gate: ${titleOf(page)}${page.rehearsal === null ? '' : ` (${page.rehearsal})`}`
  const events = eventsPath === undefined ? '' : ` data-events="${escapeHtml(eventsPath)}"`
  return `${renderHead({ policy: pagePolicy(paths), title: escapeHtml(title) })}
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
${homePath === undefined ? '' : renderTop(visitor, { path: homePath, isHere: false })}${eventsPath === undefined ? '' : livePanel(stopPath)}
<div id="overview"${eventsPath === undefined ? '' : ' tabindex="-1"'}>${renderOverview(page)}</div>
${wrapSection('thresholds', renderThresholds(page))}
${editor === undefined ? '' : renderEditor(editor)}
${wrapSection('comparison', renderInformation(page))}
${TREND_PANEL}
${wrapSection('stalls', renderStalls(page))}
${wrapSection('errors', renderErrors(page))}
${PANELS}
${wrapSection('places', renderPlaces(page))}
${wrapSection('run', renderRun(page))}
</main>
<script type="application/json" id="data"${events}>${escapeJson(page)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`
}

function wrapSection(id: string, content: string): string {
  const hidden = content === '' ? ' hidden=""' : ''
  return `<section id="${id}" class="card" aria-labelledby="${id}-title"${hidden}>${content}</section>`
}

/** Inside a script element `</script` and `<!--` would end it or change how it is parsed, so every `<` is escaped. */
function escapeJson(page: PageDocument): string {
  return JSON.stringify(page).replaceAll('<', '\\u003c')
}
