import { createHash } from 'node:crypto'
import { escapeHtml } from '../../escape.js'
import { PAGE_STYLE, PAGE_STYLE_HASH } from '../assets.js'

export interface RenderedPage {
  readonly html: string
  /** The Content-Security-Policy. */
  readonly policy: string
}

export interface Visitor {
  readonly name: string
  /** What they should know, such as that their token ends. */
  readonly note?: string | undefined
  /** Why no queued run starts, if none does, and for those who may let the queue go, where a POST does it. */
  readonly hold?: { readonly words: string; readonly resumePath?: string | undefined } | undefined
  /** A POST to it ends the visit. */
  readonly logoutPath: string
}

/** The box for a run's thresholds, for those who may change them. */
export interface ThresholdEditor {
  /** A POST to it stores them. */
  readonly path: string
  readonly text: string
  readonly warmUp: string
  /** The problems of the text that was just sent, each with its place; then nothing was stored. */
  readonly problems: readonly string[]
}

/** The top of a page of a service: where else to go, and who is logged in. */
export function renderTop(
  visitor: Visitor | undefined,
  home: { readonly path: string; readonly isHere: boolean }
): string {
  const link = home.isHere ? '' : `<nav><a href="${escapeHtml(home.path)}">All runs</a></nav>`
  if (visitor === undefined) return link
  const note =
    visitor.note === undefined ? '' : `\n<p class="hint" role="note">${escapeHtml(visitor.note)}</p>`
  return `<div class="top">${link}<div class="visitor"><span class="visitor-name">${escapeHtml(visitor.name)}</span>
<form method="post" action="${escapeHtml(visitor.logoutPath)}"><button type="submit">Log out</button></form></div></div>${note}${renderHold(visitor.hold)}`
}

function renderHold(hold: Visitor['hold']): string {
  if (hold === undefined) return ''
  const { words, resumePath } = hold
  const button =
    resumePath === undefined
      ? ''
      : `<form method="post" action="${escapeHtml(resumePath)}"><button type="submit">Let the queue go</button></form>`
  return `\n<section id="hold" class="card" aria-label="The queue is held"><div class="bar"><p role="note">${escapeHtml(words)}</p>${button}</div></section>`
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

export interface LoginForm {
  /** Where to go afterwards, on this service. */
  readonly next: string
  /** Why the last try failed. */
  readonly problem?: string | undefined
  /** Where single sign-on starts, and the host that it leads to. */
  readonly signOn?: { readonly path: string; readonly host: string } | undefined
  /** Why single sign-on failed. */
  readonly signOnProblem?: string | undefined
}

const STYLE =
  '.login{max-width:30rem;width:100%;margin:10vh auto 0}.login form{display:grid;gap:.75rem;margin-top:1rem}.login input{font:inherit;color:var(--text);background:var(--page);border:1px solid var(--muted);border-radius:8px;padding:.5rem .7rem;width:100%}.login button{min-height:2.5rem;font-size:1rem}.login .wrong{color:var(--bad)}.login .way{display:block;margin:1rem 0;padding:.6rem;text-align:center;border:1px solid var(--muted);border-radius:8px}'
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`
const TITLE = 'Log in to loadgate'

/** The page in which a person logs in with a token, or goes to single sign-on; it has no script. */
export function renderLoginPage({ next, problem, signOn, signOnProblem }: LoginForm): RenderedPage {
  const isWrong = problem !== undefined
  const hasFailed = isWrong || signOnProblem !== undefined
  const failure = signOnProblem && `<p class="wrong" role="alert">${escapeHtml(signOnProblem)}</p>\n`
  const way =
    signOn &&
    `<a class="way" href="${escapeHtml(signOn.path)}">Sign in with ${escapeHtml(signOn.host)}</a>\n<p class="hint">Or with a token of this service:</p>\n`
  return renderCard({
    title: `${hasFailed ? 'Not logged in: ' : ''}${TITLE}`,
    heading: TITLE,
    content: `${failure ?? ''}${way ?? ''}<form method="post" action="/login">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<input type="text" name="username" value="loadgate" autocomplete="username" hidden="">
<label for="token">Token</label>
<input type="password" id="token" name="token" required${signOn ? '' : ' autofocus'} autocomplete="current-password" spellcheck="false"${isWrong ? ' aria-invalid="true" aria-describedby="problem"' : ' aria-describedby="hint"'}>
${isWrong ? `<p id="problem" class="wrong" role="alert">${escapeHtml(problem)}</p>` : '<p id="hint" class="hint">The one you were given for this service. It starts with lg_, or was printed when the service started.</p>'}
<button type="submit">Log in</button>
</form>`
  })
}

/** Leads on to this address by itself, as a page of this service. */
export function renderDetourPage(
  path: string,
  words = 'You followed a link from another site.'
): RenderedPage {
  const address = escapeHtml(path)
  return renderCard({
    title: 'Opening loadgate',
    heading: 'Opening the page',
    head: `<meta http-equiv="refresh" content="0; url=${address}">\n`,
    content: `<p>${escapeHtml(words)} <a href="${address}">Go on</a> if the page does not open by itself.</p>`
  })
}

function renderCard(card: { title: string; heading: string; head?: string; content: string }): RenderedPage {
  const policy = [
    `default-src 'none'`,
    `style-src '${PAGE_STYLE_HASH}' '${STYLE_HASH}'`,
    `base-uri 'none'`,
    `form-action 'self'`
  ].join('; ')
  const head = renderHead({
    ...{ policy, title: card.title, meta: card.head ?? '' },
    style: `<style>${STYLE}</style>\n`
  })
  const html = `${head}
<body>
<main>
<section class="card login" aria-labelledby="title">
<h1 id="title">${card.heading}</h1>
${card.content}
</section>
</main>
</body>
</html>
`
  return { html, policy }
}
