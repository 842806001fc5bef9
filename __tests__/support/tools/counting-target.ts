import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A target, on loopback unless given another address, that counts what it was asked for. `/fail` gets a 500; every answer takes a few milliseconds. */
export interface CountingTarget {
  readonly port: number
  /** The requests for a path, or all of them. */
  hits(path?: string): number
  /** What a path was sent, in order. */
  seen(path: string): readonly { headers: Record<string, unknown>; query: string }[]
  /** Resolves when it has been asked this often; a tool takes its time to start. */
  reaches(hits: number): Promise<void>
  close(): Promise<void>
}

const ANSWER_MS = 10
const PATIENCE_MS = 120_000

export async function startCountingTarget(address = '127.0.0.1'): Promise<CountingTarget> {
  const requests: { path: string; headers: Record<string, unknown>; query: string }[] = []
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    requests.push({ path, query, headers: request.headers })
    setTimeout(() => {
      response.writeHead(path === '/fail' ? 500 : 200, { 'content-type': 'text/plain' })
      response.end('hello')
    }, ANSWER_MS)
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const reaches = async (hits: number): Promise<void> => {
    const deadlineMs = Date.now() + PATIENCE_MS
    while (requests.length < hits) {
      if (Date.now() > deadlineMs) throw new Error(`only ${requests.length} of ${hits} requests came`)
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS))
    }
  }
  const of = (path?: string): typeof requests =>
    requests.filter((request) => path === undefined || request.path === path)
  return {
    port: (server.address() as AddressInfo).port,
    hits: (path) => of(path).length,
    seen: (path) => of(path),
    reaches,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
