import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { comparedDelayMs } from './demo-shop-delay.js'
import { renderHome, renderNotFound, renderProduct, renderSearch, renderThanks } from './demo-shop-pages.js'

export interface ShopOptions {
  /** A slow shop breaks the example's thresholds on purpose. */
  readonly slow: boolean
  /**
   * For comparisons: a shop that takes about a hundred milliseconds, never twice the same, and this share longer (0.2 is 20 %).
   * Without it a page takes a few milliseconds, where one more is already a large change.
   */
  readonly slowerBy?: number
  /** Stands still once: from so long after its first request on, and for how long. */
  readonly stall?: { readonly afterMs: number; readonly ms: number }
  readonly port?: number
  /** Called with one line per answered request. */
  readonly accessLog?: (line: string) => void
}

export interface Shop {
  readonly url: string
  readonly port: number
  /** Requests answered so far: all, or those for one page (`home`, `search`, `product`, `checkout`). */
  served(page?: string): number
  close(): Promise<void>
}

interface Page {
  readonly name: string
  readonly method: string
  readonly path: RegExp
  readonly delayMs: number
  readonly slowDelayMs: number
  readonly render: (url: URL) => string
}

const PAGES: readonly Page[] = [
  { name: 'home', method: 'GET', path: /^\/$/, delayMs: 3, slowDelayMs: 250, render: renderHome },
  {
    name: 'search',
    method: 'GET',
    path: /^\/search$/,
    delayMs: 8,
    slowDelayMs: 600,
    render: (url) => renderSearch(url.searchParams.get('q') ?? '')
  },
  {
    name: 'product',
    method: 'GET',
    path: /^\/products\/[\w-]+$/,
    delayMs: 5,
    slowDelayMs: 400,
    render: (url) => renderProduct(url.pathname.split('/').at(-1) ?? '')
  },
  {
    name: 'checkout',
    method: 'POST',
    path: /^\/checkout$/,
    delayMs: 12,
    slowDelayMs: 1200,
    render: renderThanks
  }
]

/** Browsers request these on their own: they are nobody's load. */
const UNASKED = /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png|robots\.txt|\.well-known\/.*)$/

/** Starts a small web shop on loopback as a target for load tests; it only needs Node. */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const served = new Map<string, number>()
  let firstMs: number | undefined
  const server = createServer((request, response) => {
    const url = readUrl(request)
    const isUnasked = UNASKED.test(url.pathname)
    // The same without a body, which Node leaves out.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const page = PAGES.find((page) => page.method === method && page.path.test(url.pathname))
    const nowMs = performance.now()
    firstMs ??= nowMs
    const delayMs = page ? delayOf(page, options) : 0
    answer({ request, response, url, page, delayMs: hold(delayMs, { sinceMs: nowMs - firstMs, ...options }) })
    response.once('finish', () => {
      const name = page?.name ?? 'not found'
      if (!isUnasked) served.set(name, (served.get(name) ?? 0) + 1)
      options.accessLog?.(`${request.method ?? '-'} ${request.url ?? '-'} ${response.statusCode} ${name}`)
    })
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    served: (page) =>
      page === undefined ? [...served.values()].reduce((sum, n) => sum + n, 0) : (served.get(page) ?? 0),
    close: async () => {
      server.close()
      // Load generators keep their connections open; waiting for them would take forever.
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
}

function delayOf(page: Page, { slow, slowerBy }: ShopOptions): number {
  if (slow) return page.slowDelayMs
  if (slowerBy === undefined) return page.delayMs
  return comparedDelayMs(page.delayMs, slowerBy)
}

/** What would be answered while the shop stands still is answered after it. */
function hold(
  delayMs: number,
  { sinceMs, stall }: { sinceMs: number; stall?: ShopOptions['stall'] }
): number {
  if (stall === undefined || sinceMs + delayMs < stall.afterMs) return delayMs
  return Math.max(delayMs, stall.afterMs + stall.ms - sinceMs)
}

/** A load generator may request anything; what is not an address is no page. */
function readUrl({ url = '/' }: IncomingMessage): URL {
  // A client that takes the shop for a proxy sends the whole address.
  const address = /^https?:\/\//i.test(url) ? url : `http://shop${url}`
  return new URL(URL.canParse(address) ? address : 'http://shop/not-an-address')
}

function answer(exchange: {
  request: IncomingMessage
  response: ServerResponse
  url: URL
  page: Page | undefined
  delayMs: number
}): void {
  const { request, response, url, page, delayMs } = exchange
  const send = (): void => {
    const html = page ? page.render(url) : renderNotFound()
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-length': Buffer.byteLength(html),
      // Never from a browser's cache: what a user visits is what the shop counts.
      'cache-control': 'no-store'
    }
    response.writeHead(page ? 200 : 404, headers)
    response.end(html)
  }
  // Read the whole body before replying, as a shop does for an order.
  request.resume()
  request.once('end', () => setTimeout(send, delayMs))
}
