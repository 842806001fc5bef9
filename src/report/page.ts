import { escapeHtml, safeLink } from './escape.js'
import { judgementRows } from './judgement-rows.js'
import { REHEARSAL } from './outcome.js'
import type { Outcome } from './outcome.js'
import { formatBytes } from './size.js'
import { VERDICT_SIGNS } from './words.js'

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
code { font-family: ui-monospace, monospace; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid #8886; white-space: pre-wrap; }
`

/** `report.html`: one plain file that opens from disk and loads nothing. */
export function renderPage(outcome: Outcome): string {
  const { verdict, reason, rehearsal, run, summary, notes } = outcome
  const title = `Load gate: ${verdict}${rehearsal ? ` (${REHEARSAL})` : ''}`
  const link = safeLink(run?.url)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${VERDICT_SIGNS[verdict]} ${escapeHtml(title)}</h1>
<p>${escapeHtml(reason)}</p>
${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('\n')}
${thresholdSection(outcome)}
${summary === undefined ? '' : `<h2>The service's report</h2>\n<blockquote>${escapeHtml(summary)}</blockquote>`}
${gridSection(outcome)}
${run === undefined ? '' : `<p>Run ${link === undefined ? escapeHtml(run.id) : `<a href="${escapeHtml(link)}" rel="noreferrer">${escapeHtml(run.id)}</a>`}, ${escapeHtml(run.status)}</p>`}
</main>
</body>
</html>
`
}

function thresholdSection({ judgements }: Outcome): string {
  if (judgements.length === 0) return '<p>No thresholds were given.</p>'
  const rows = judgementRows(judgements).map(
    (row) =>
      `<tr><td><code>${escapeHtml(row.threshold)}</code></td><td>${escapeHtml(row.actual)}</td><td>${escapeHtml(row.margin)}</td><td>${escapeHtml(row.verdict)}</td><td>${escapeHtml(row.reason)}</td></tr>`
  )
  return section('Thresholds', ['Threshold', 'Actual', 'Margin', 'Verdict', 'In words'], rows)
}

function gridSection({ grids }: Outcome): string {
  if (grids.length === 0) return ''
  const rows = grids.map(
    ({ gridId, region, nodeCount, bytes, problem }) =>
      `<tr><td>${escapeHtml(gridId)}</td><td>${escapeHtml(region)}</td><td>${nodeCount ?? '–'}</td><td>${bytes === undefined ? 'missing' : formatBytes(bytes)}</td><td>${escapeHtml(problem ?? '')}</td></tr>`
  )
  return section('Grids', ['Grid', 'Region', 'Nodes', 'CSV', ''], rows)
}

function section(title: string, headings: readonly string[], rows: readonly string[]): string {
  const head = headings.map((heading) => `<th scope="col">${heading}</th>`).join('')
  return `<h2>${title}</h2>\n<table><thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody></table>`
}
