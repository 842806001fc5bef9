import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface ShopOptions {
  /** A slow shop breaks the example's thresholds on purpose. */
  readonly slow: boolean
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
  readonly text: string
}

const PAGES: readonly Page[] = [
  { name: 'home', method: 'GET', path: /^\/$/, delayMs: 3, slowDelayMs: 250, text: 'Welcome to the shop' },
  {
    name: 'search',
    method: 'GET',
    path: /^\/search$/,
    delayMs: 8,
    slowDelayMs: 600,
    text: '12 things found'
  },
  {
    name: 'product',
    method: 'GET',
    path: /^\/products\/[\w-]+$/,
    delayMs: 5,
    slowDelayMs: 400,
    text: 'A thing'
  },
  {
    name: 'checkout',
    method: 'POST',
    path: /^\/checkout$/,
    delayMs: 12,
    slowDelayMs: 1200,
    text: 'Thank you'
  }
]

/** Starts a small web shop on loopback as a target for load tests; it only needs Node. */
export async function startShop(options: ShopOptions): Promise<Shop> {
  const served = new Map<string, number>()
  const server = createServer((request, response) => {
    const page = findPage(request)
    answer({ request, response, page, slow: options.slow })
    response.once('finish', () => {
      const name = page?.name ?? 'not found'
      served.set(name, (served.get(name) ?? 0) + 1)
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

function findPage(request: IncomingMessage): Page | undefined {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  return PAGES.find((page) => page.method === request.method && page.path.test(path))
}

function answer(exchange: {
  request: IncomingMessage
  response: ServerResponse
  page: Page | undefined
  slow: boolean
}): void {
  const { request, response, page, slow } = exchange
  const send = (): void => {
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' })
    response.end(`${page?.text ?? 'No such page'}\n`)
  }
  // Read the whole body before replying, as a shop does for an order.
  request.resume()
  request.once('end', () => setTimeout(send, page ? (slow ? page.slowDelayMs : page.delayMs) : 0))
}
