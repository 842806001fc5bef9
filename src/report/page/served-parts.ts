import { escapeHtml } from '../escape.js'
import { PAGE_STYLE } from './assets.js'

/** Who looks at a page. */
export interface Visitor {
  readonly name: string
  /** A POST to it ends the visit. */
  readonly logoutPath: string
}

/** The box for a run's thresholds, for those who may change them. */
export interface ThresholdEditor {
  /** A POST to it stores them. */
  readonly path: string
  readonly text: string
  readonly warmUp: string
  /** Of the text that was just sent, each with the place in it; nothing was stored then. */
  readonly problems: readonly string[]
}

/** The top of a page of a service: where else to go, and who is logged in. */
export function renderTop(
  visitor: Visitor | undefined,
  home: { readonly path: string; readonly isHere: boolean }
): string {
  const link = home.isHere ? '' : `<nav><a href="${escapeHtml(home.path)}">All runs</a></nav>`
  if (visitor === undefined) return link
  return `<div class="top">${link}<div class="visitor"><span class="visitor-name">${escapeHtml(visitor.name)}</span>
<form method="post" action="${escapeHtml(visitor.logoutPath)}"><button type="submit">Log out</button></form></div></div>`
}

/** Not part of what updates replace: what is being typed stays. It works without the page's script. */
export function renderEditor({ path, text, warmUp, problems }: ThresholdEditor): string {
  const isRefused = problems.length > 0
  const errors = isRefused
    ? `<div id="editor-problems" role="alert"><p>Nothing was stored:</p><pre>${problems.map(escapeHtml).join('\n')}</pre></div>`
    : ''
  const state = isRefused ? ' aria-invalid="true" autofocus=""' : ''
  const describedBy = isRefused ? 'editor-problems editor-hint' : 'editor-hint'
  const rows = Math.min(12, Math.max(3, text.split('\n').length + 1))
  return `<section id="editor" class="card" aria-label="Change the thresholds"><details${isRefused ? ' open=""' : ''}>
<summary>${text === '' ? 'Judge this run by thresholds' : 'Change the thresholds'}</summary>
<form method="post" action="${escapeHtml(path)}">
<label for="editor-text">Thresholds, one per line</label>
<textarea id="editor-text" name="thresholds" rows="${rows}" spellcheck="false" autocomplete="off" aria-describedby="${describedBy}"${state}>
${escapeHtml(text)}</textarea>
${errors}
<div class="bar"><label>Warm-up in seconds <input type="number" name="warm_up" min="0" max="86400" step="1" value="${escapeHtml(warmUp)}"></label>
<button type="submit">Judge</button></div>
<p id="editor-hint" class="hint">For example <code>p95 &lt; 800ms</code>, <code>error_rate &lt; 1%</code>, <code>apdex &gt;= 0.85</code>, <code>warn: p99{label="checkout"} &lt; 2s</code>. Samples of the warm-up are left out. An empty box removes the thresholds.</p>
</form></details></section>`
}

/** The start of every page, up to its body. */
export function renderHead(page: {
  readonly policy: string
  /** Escaped. */
  readonly title: string
  /** Further elements before the title and after the style of all pages, each with its line end. */
  readonly meta?: string
  readonly style?: string
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${page.policy}">
<meta name="color-scheme" content="light dark">
${page.meta ?? ''}<title>${page.title}</title>
<style>${PAGE_STYLE}</style>
${page.style ?? ''}</head>`
}

/** `1st`, `2nd`, `3rd`, `11th`. */
export function formatPosition(position: number): string {
  const isTeen = Math.floor(position / 10) % 10 === 1
  const ending = isTeen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[position % 10]
  return `${position.toLocaleString('en-US')}${ending ?? 'th'}`
}
