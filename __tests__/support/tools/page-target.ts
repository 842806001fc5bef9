import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Pages for browsers, on loopback unless given another address, which count how often each was asked for. `/never` is never answered. */
export interface PageTarget {
  readonly port: number
  /** The requests for a path, or all of them. */
  hits(path?: string): number
  close(): Promise<void>
}

const PAGES: Readonly<Record<string, string>> = {
  '/': '<h1>Home</h1><a id="next" href="/second">Next</a>',
  '/second': '<h1>Second</h1>'
}

export async function startPageTarget(address = '127.0.0.1'): Promise<PageTarget> {
  const hits = new Map<string, number>()
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    // Browsers ask for it by themselves.
    if (path !== '/favicon.ico') hits.set(path, (hits.get(path) ?? 0) + 1)
    if (path === '/never') return
    const body = PAGES[path]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' })
    response.end(`<!doctype html><title>Page ${path}</title><link rel="icon" href="data:,">${body ?? ''}`)
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    hits: (path) =>
      path === undefined ? [...hits.values()].reduce((sum, count) => sum + count, 0) : (hits.get(path) ?? 0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
