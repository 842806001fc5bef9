import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { RenderedPage } from '../../report/page/served/served-pages.js'
import type * as served from '../../report/page/served/served-pages.js'
import { RequestError } from '../errors.js'

/** For every reply to a browser: no caching, no framing, no sniffing. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin'
}

export function sendPage(reply: FastifyReply, { html, policy }: RenderedPage): FastifyReply {
  return reply
    .headers({
      ...PAGE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${policy}; frame-ancestors 'none'`
    })
    .send(html)
}

/** Renders the pages. Handed in by the entry, because a gate that starts the embedded service has no pages to show. */
export type Pages = typeof served

const LOGIN = '/login'
/** The way to the provider of single sign-on, and back. */
export const signOnPath = {
  start: `${LOGIN}/start`,
  callback: `${LOGIN}/callback`,
  /** The link that leads there. */
  from: (next: string): string =>
    next === '/' ? signOnPath.start : `${signOnPath.start}?next=${encodeURIComponent(next)}`
}
const LONGEST = 2000
/** Never leaves this service: browsers read a backslash as a slash and skip tabs and line feeds. */
const OWN = 'http://service.invalid'

export function loginPath(address: string): string {
  const next = readNextPath(address)
  return next === '/' ? LOGIN : `${LOGIN}?next=${encodeURIComponent(next)}`
}

/** A path of this service, without a token; the list of runs for anything else. */
export function readNextPath(given: unknown): string {
  if (typeof given !== 'string' || given.length > LONGEST || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given))
    return '/'
  if (!URL.canParse(given, OWN)) return '/'
  const url = new URL(given, OWN)
  if (url.searchParams.has('token')) url.searchParams.delete('token')
  const path = url.pathname + url.search
  const isOwn = url.origin === OWN && !/^\/[/\\]/.test(path) && !/[\\]/.test(path)
  // A login does not lead to a login.
  return isOwn && url.pathname !== LOGIN && !url.pathname.startsWith(`${LOGIN}/`) ? path : '/'
}

/** What a form of one of our pages sends. The guard has rejected foreign pages; one of ours always has its origin. */
export function readForm({ headers, body }: FastifyRequest, what: string): Map<string, string> {
  if (headers.origin === undefined) throw new RequestError(403, `${what} with the form on its page.`)
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
  const { fields } = (body ?? {}) as { fields?: readonly (readonly [string, string])[] }
  if (!isForm || fields === undefined) throw new RequestError(422, `${what} with a form, not with JSON.`)
  // If a field is there twice, the first counts.
  return new Map(fields.toReversed())
}

/** How soon a browser reconnects after losing its connection. */
const RETRY_MS = 1000

/** One browser listening to server-sent events. */
export class EventStream {
  readonly #response: ServerResponse

  constructor(reply: FastifyReply) {
    reply.hijack()
    this.#response = reply.raw
    this.#response.writeHead(200, { ...PAGE_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' })
    this.#response.write(`retry: ${RETRY_MS}\n\n`)
  }

  onClose(act: () => void): void {
    this.#response.once('close', act)
  }

  /** Each event is complete, so a slow reader can skip those in between. */
  send(data: string): void {
    if (!this.#response.writableNeedDrain) this.#response.write(eventOf(data))
  }

  /** Keeps the connection from looking dead. */
  beat(): void {
    this.#response.write(':\n\n')
  }

  end(data?: string): void {
    this.#response.end(data === undefined ? '' : eventOf(data))
  }
}

/** Lines of a stream end with CR, LF or both only: U+2028 is an ordinary character. */
function eventOf(data: string): string {
  const lines = data.split(/\r\n|\r|\n/)
  return `${lines.map((line) => `data: ${line}\n`).join('')}\n`
}
