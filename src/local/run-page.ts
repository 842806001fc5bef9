import type { RunRecord } from './records.js'

/** A run for people, at its permalink. */
export function renderRunPage(run: RunRecord): string {
  const rows = [
    ['Status', run.status],
    ['Tool', run.toolVersion === null ? run.request.tool : `${run.request.tool}-${run.toolVersion}`],
    ['Apdex', run.apdex ?? '–'],
    ['Summary', run.report?.summary ?? 'not yet'],
    ['Problem', run.remoteErrors ?? '–']
  ]
  const table = rows.map(
    ([name = '', text = '']) => `<tr><th>${name}</th><td><pre>${escapeHtml(text)}</pre></td></tr>`
  )
  const title = escapeHtml(run.request.name ?? `Run ${run.id}`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1><table>${table.join('')}</table></body></html>
`
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;'
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
