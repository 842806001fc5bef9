import { renderHead } from './served-parts.js'
import { createHash } from 'node:crypto'
import { escapeHtml } from '../escape.js'
import { PAGE_STYLE_HASH } from './assets.js'
import type { RenderedPage } from './run-page.js'

export interface LoginForm {
  /** Where to go afterwards, on this service. */
  readonly next: string
  /** Why the last try failed. */
  readonly problem?: string | undefined
}

const STYLE =
  '.login{max-width:30rem;width:100%;margin:10vh auto 0}.login form{display:grid;gap:.75rem;margin-top:1rem}.login input{font:inherit;color:var(--text);background:var(--page);border:1px solid var(--muted);border-radius:8px;padding:.5rem .7rem;width:100%}.login button{min-height:2.5rem;font-size:1rem}.login .wrong{color:var(--bad)}'
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`
const TITLE = 'Log in to loadgate'

/** The page in which a person logs in with a token; it has no script. */
export function renderLoginPage({ next, problem }: LoginForm): RenderedPage {
  const isWrong = problem !== undefined
  return renderCard({
    title: `${isWrong ? 'Not logged in: ' : ''}${TITLE}`,
    heading: TITLE,
    content: `<form method="post" action="/login">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<input type="text" name="username" value="loadgate" autocomplete="username" hidden="">
<label for="token">Token</label>
<input type="password" id="token" name="token" required autofocus autocomplete="current-password" spellcheck="false"${isWrong ? ' aria-invalid="true" aria-describedby="problem"' : ' aria-describedby="hint"'}>
${isWrong ? `<p id="problem" class="wrong" role="alert">${escapeHtml(problem)}</p>` : '<p id="hint" class="hint">The one you were given for this service. It starts with lg_, or was printed when the service started.</p>'}
<button type="submit">Log in</button>
</form>`
  })
}

/** Leads on to this path by itself, as a page of this service. */
export function renderDetourPage(path: string): RenderedPage {
  const address = escapeHtml(path)
  return renderCard({
    title: 'Opening loadgate',
    heading: 'Opening the page',
    head: `<meta http-equiv="refresh" content="0; url=${address}">\n`,
    content: `<p>You come from another site. <a href="${address}">Go on</a> if the page does not open by itself.</p>`
  })
}

function renderCard(card: {
  readonly title: string
  readonly heading: string
  readonly head?: string
  readonly content: string
}): RenderedPage {
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
