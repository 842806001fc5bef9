import type { IncomingHttpHeaders } from 'node:http'

const STYLE = `
:root{color-scheme:light dark;--ink:#1d2733;--soft:#5b6b7c;--paper:#fbfaf7;--card:#fff;--line:#e3dfd6;--accent:#0b6e5f}
@media(prefers-color-scheme:dark){:root{--ink:#e9eef3;--soft:#9fb0c0;--paper:#14191f;--card:#1d242c;--line:#303a45;--accent:#4cc3ae}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:56rem;padding:0 1.25rem 3rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;gap:1rem;align-items:center;justify-content:space-between;padding:1.25rem 0;border-bottom:1px solid var(--line)}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
.brand{font-weight:700;font-size:1.15rem;color:var(--ink)}
h1{font-size:1.7rem;line-height:1.2;margin:1.75rem 0 1rem}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
input,button{font:inherit;padding:.45rem .8rem;border-radius:.45rem;border:1px solid var(--line);background:var(--card);color:inherit}
button{background:var(--accent);border-color:var(--accent);color:var(--paper);cursor:pointer}
ul{list-style:none;margin:0;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:1rem}
li,.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem}
.picture{display:grid;place-items:center;height:5rem;margin-bottom:.6rem;border-radius:.5rem;font-size:2rem;font-weight:700;color:#fff;background:linear-gradient(135deg,hsl(var(--hue) 55% 45%),hsl(calc(var(--hue) + 40) 60% 32%))}.card .picture{height:9rem;font-size:4rem}
li a{display:block}
.price,p{color:var(--soft)}`

/** The whole page; it needs no further request, so that a browser makes exactly one. */
export function renderPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">
<style>${STYLE}</style></head>
<body><header><a class="brand" id="home" href="/">The demo shop</a>
<form action="/search"><input id="term" name="q" type="search" aria-label="Search" placeholder="tea, light, music …"> <button id="find">Search</button></form>
<a id="log-in" href="/login">Log in</a></header>
<main>${content}</main></body></html>
`
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** A request as the shop reads it. */
export interface Visit {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The last part of the path, such as an id. */
export function lastOf({ url }: Visit): string {
  return url.pathname.split('/').at(-1) ?? ''
}

export interface Reply {
  /** 200 without one. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** HTML unless the headers say otherwise. */
  readonly text: string
}

export interface Page {
  readonly name: string
  /** The method and the path. */
  readonly asked: RegExp
  /** How long it takes, and in a slow shop. */
  readonly delayMs: number
  readonly slowDelayMs: number
  readonly answer: (visit: Visit) => Reply
}
