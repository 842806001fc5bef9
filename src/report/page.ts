import { escapeHtml } from './escape.js'
import type { Outcome } from './outcome.js'
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH, PAGE_STYLE, PAGE_STYLE_HASH } from './page/assets.js'
import { buildPageDocument } from './page/build-document.js'
import type { PageDocument } from './page/document.js'
import { PANELS } from './page/panels.js'
import { renderOverview, renderPlaces, renderRun, renderThresholds } from './page/sections.js'

/** `report.html`: one file that opens from disk and loads nothing. */
export function renderPage(outcome: Outcome): string {
  return renderPageDocument(buildPageDocument(outcome))
}

/**
 * The page of a document. With `eventsPath` it stays open to that address on its own origin: each server-sent event holds
 * a whole new document, which takes the place of the one before.
 */
export function renderPageDocument(page: PageDocument, { eventsPath }: { eventsPath?: string } = {}): string {
  const title = `Load gate: ${page.headline}${page.rehearsal === null ? '' : ` (${page.rehearsal})`}`
  const policy = [
    `default-src 'none'`,
    `style-src '${PAGE_STYLE_HASH}'`,
    `script-src '${PAGE_SCRIPT_HASH}'`,
    ...(eventsPath === undefined ? [] : [`connect-src 'self'`]),
    `base-uri 'none'`,
    `form-action 'none'`
  ]
  const events = eventsPath === undefined ? '' : ` data-events="${escapeHtml(eventsPath)}"`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
<div id="overview">${renderOverview(page)}</div>
<section id="thresholds" class="card" aria-labelledby="thresholds-title">${renderThresholds(page)}</section>
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

/** Inside a script element `</script` and `<!--` would end it or change how it is read: no `<` is left. */
function escapeJson(page: PageDocument): string {
  return JSON.stringify(page).replaceAll('<', '\\u003c')
}
