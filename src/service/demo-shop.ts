import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { loginPages } from './demo-shop/login.js'
import { escapeHtml, lastOf, renderPage, type Page, type Reply, type Visit } from './demo-shop/page.js'

interface Product {
  readonly id: string
  readonly name: string
  readonly price: string
  /** What a search finds it by, besides its name. */
  readonly words: string
}

const PRODUCTS: readonly Product[] = [
  { id: 'teapot', name: 'Teapot', price: '24.00', words: 'tea kitchen gift' },
  { id: 'tea-towel', name: 'Tea towel', price: '6.50', words: 'kitchen linen' },
  { id: 'lamp', name: 'Lamp', price: '39.00', words: 'light desk home' },
  { id: 'candle', name: 'Candle', price: '4.00', words: 'light home gift' },
  { id: 'chessboard', name: 'Chessboard', price: '55.00', words: 'board game wood gift' },
  { id: 'dice', name: 'Set of dice', price: '3.50', words: 'board game' },
  { id: 'notebook', name: 'Notebook', price: '7.00', words: 'paper desk' },
  { id: 'pencils', name: 'Pencils', price: '5.00', words: 'paper desk wood' },
  { id: 'oak-desk', name: 'Oak desk', price: '480.00', words: 'furniture wood' },
  { id: 'armchair', name: 'Armchair', price: '210.00', words: 'furniture home' },
  { id: 'organ-pipe', name: 'Organ pipe', price: '130.00', words: 'music wood' },
  { id: 'violin', name: 'Violin', price: '350.00', words: 'music wood gift' }
]

function renderList(products: readonly Product[]): string {
  const items = products.map(
    ({ id, name, price }) =>
      `<li><a href="/products/${id}">${renderPicture(name)}${name}</a> <span class="price">${price}</span></li>`
  )
  return `<ul>${items.join('\n')}</ul>`
}

/** Without a font or a file that the machine may not have. */
function renderPicture(name: string): string {
  const hue = (47 * name.charCodeAt(0) + 91 * name.length) % 360
  return `<span class="picture" style="--hue:${hue}" aria-hidden="true">${name.charAt(0)}</span>`
}

function renderSearch(term: string): string {
  const words = term.toLowerCase().split(/\s+/).filter(Boolean)
  const found = PRODUCTS.filter((product) => {
    const text = `${product.name} ${product.words}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const things = `${found.length} ${found.length === 1 ? 'thing' : 'things'} found`
  const about = words.length === 0 ? '' : `<p>Searched for “${escapeHtml(term)}”.</p>`
  return renderPage('Search: the demo shop', `<h1>${things}</h1>\n${about}\n${renderList(found)}`)
}

/** Any product exists, so that a plan can use data of its own. */
function renderProduct(id: string): string {
  const { name, price } = PRODUCTS.find((product) => product.id === id) ?? { name: 'A thing', price: '10.00' }
  return renderPage(
    `${name}: the demo shop`,
    `<h1>${name}</h1>
<div class="card">${renderPicture(name)}<p>In stock. <span class="price">${price}</span></p>
<form action="/checkout" method="post"><input type="hidden" name="product" value="${escapeHtml(id)}"><input id="user" name="user" aria-label="Your name" placeholder="Your name" required> <button id="buy">Buy</button></form></div>`
  )
}

const HOME = renderPage('The demo shop', `<h1>Welcome to the shop</h1>\n${renderList(PRODUCTS)}`)
const THANKS = renderPage(
  'Thank you: the demo shop',
  '<h1>Thank you</h1>\n<p>Your order is on its way.</p>\n<p><a id="again" href="/">Back to the shop</a></p>'
)
const NOT_FOUND = renderPage(
  'Not found: the demo shop',
  '<h1>No such page</h1>\n<p><a href="/">Back to the shop</a></p>'
)

interface ShopOptions {
  /** A slow shop breaks the example's thresholds on purpose. */
  readonly slow: boolean
  /** For comparisons: a shop that takes about 100 ms, varying, and this share longer (0.2 is 20 %); of a few ms, one more is a lot. */
  readonly slowerBy?: number
  /** The names of the pages that are slower; all of them if left out. */
  readonly slowerPages?: readonly string[]
  /** Hangs once: how long after its first request, and for how long. */
  readonly stall?: { readonly afterMs: number; readonly ms: number }
  readonly port?: number
  /** Called with one line per answered request. */
  readonly accessLog?: (line: string) => void
}

export type Shop = Awaited<ReturnType<typeof startShop>>

const searchOf = ({ url }: Visit): Reply => ({ text: renderSearch(url.searchParams.get('q') ?? '') })
const productOf = (visit: Visit): Reply => ({ text: renderProduct(lastOf(visit)) })
const PAGES: readonly Page[] = [
  { name: 'home', asked: /^GET \/$/, delayMs: 3, slowDelayMs: 250, answer: () => ({ text: HOME }) },
  { name: 'search', asked: /^GET \/search$/, delayMs: 8, slowDelayMs: 600, answer: searchOf },
  { name: 'product', asked: /^GET \/products\/[\w-]+$/, delayMs: 5, slowDelayMs: 400, answer: productOf },
  {
    name: 'checkout',
    asked: /^POST \/checkout$/,
    delayMs: 12,
    slowDelayMs: 1200,
    answer: () => ({ text: THANKS })
  }
]

const MOST_BODY_BYTES = 64 * 1024

/** Browsers request these on their own: they are not part of the load. */
const UNASKED = /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png|robots\.txt|\.well-known\/.*)$/

/** Starts a small web shop on loopback as a target for load tests; it only needs Node. */
export async function startShop(options: ShopOptions) {
  const served = new Map<string, number>()
  const pages = [...PAGES, ...loginPages()]
  let firstMs: number | undefined
  const server = createServer((request, response) => {
    const url = readUrl(request)
    const isUnasked = UNASKED.test(url.pathname)
    // The same without a body, which Node leaves out.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const page = pages.find(({ asked }) => asked.test(`${method} ${url.pathname}`))
    const nowMs = performance.now()
    firstMs ??= nowMs
    const delayMs = page ? delayOf(page, options) : 0
    const chunks: Buffer[] = []
    const answer = (): void => {
      const visit = { url, headers: request.headers, body: Buffer.concat(chunks).toString() }
      const { status = 200, headers, text } = page?.answer(visit) ?? { status: 404, text: NOT_FOUND }
      response.writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        // Never from a browser's cache: what a user visits is what the shop counts.
        'cache-control': 'no-store',
        ...headers
      })
      response.end(text)
    }
    const heldMs = hold(delayMs, nowMs - firstMs, options)
    // The whole body is read before the reply, as a shop does for an order.
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      // A form of the shop is smaller.
      if (bytes <= MOST_BODY_BYTES) chunks.push(chunk)
    })
    request.once('end', () => setTimeout(answer, heldMs))
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
    /** Requests answered so far: all, or those for one page (`home`, `search`, `product`, `checkout`, `account` and others). */
    served: (page?: string) =>
      page === undefined ? [...served.values()].reduce((sum, n) => sum + n, 0) : (served.get(page) ?? 0),
    close: async () => {
      server.close()
      // Load generators keep their connections open; waiting for them would take forever.
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
}

function delayOf(page: Page, { slow, slowerBy, slowerPages }: ShopOptions): number {
  if (slow) return page.slowDelayMs
  if (slowerBy === undefined) return page.delayMs
  return comparedDelayMs(page.delayMs, (slowerPages?.includes(page.name) ?? true) ? slowerBy : 0)
}

/** Responses that are due during the stall are sent after it. */
function hold(delayMs: number, sinceMs: number, { stall }: ShopOptions): number {
  if (stall === undefined || sinceMs + delayMs < stall.afterMs) return delayMs
  return Math.max(delayMs, stall.afterMs + stall.ms - sinceMs)
}

/** A load generator may request anything; what is not an address is not a page. */
function readUrl({ url = '/' }: IncomingMessage): URL {
  // A client that takes the shop for a proxy sends the whole address.
  const address = /^https?:\/\//i.test(url) ? url : `http://shop${url}`
  return new URL(URL.canParse(address) ? address : 'http://shop/not-an-address')
}

/** How long a shop for comparisons takes, in terms of the quick one: long enough for what a busy machine adds to be a small part. */
const FACTOR = 20
/** The standard deviation of the logarithm of its times, from request to request. */
const SPREAD = 0.2

/** A service time of a shop that is slower by the given share: never twice the same, like that of a real server. */
export function comparedDelayMs(quickMs: number, slowerBy: number, random = Math.random): number {
  return quickMs * FACTOR * (1 + slowerBy) * Math.exp(SPREAD * normal(random))
}

/** Standard normal, by Box and Muller. */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
