import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type Operation =
  | 'account'
  | 'createGrid'
  | 'showGrid'
  | 'terminateGrid'
  | 'createRun'
  | 'listRuns'
  | 'showRun'
  | 'stopRun'
  | 'repeatRun'
  | 'report'
  | 'result'
  | 'resultSize'

/** A server on loopback that reads each request completely. The documents are in fake-documents.ts. */
export abstract class FakeServiceCore {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor() {
    this.#server = createServer((request, response) => void this.#read(request, response))
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  protected abstract receive(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse
  ): Promise<void> | void

  async #read(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return // the other side is gone
    }
    await this.receive(request, Buffer.concat(chunks), response)
  }
}

const ROUTES: Readonly<Record<string, Operation>> = {
  'GET account': 'account',
  'POST grids': 'createGrid',
  'GET grids :': 'showGrid',
  'DELETE grids :': 'terminateGrid',
  'POST runs': 'createRun',
  'GET runs': 'listRuns',
  'GET runs :': 'showRun',
  'GET runs : stop': 'stopRun',
  'GET runs : repeat': 'repeatRun',
  'POST runs : pin': 'showRun',
  'POST runs : unpin': 'showRun',
  'GET runs : report': 'report',
  'GET runs : result.csv': 'result',
  'HEAD runs : result.csv': 'resultSize'
}

/** What a request asks for; `word` is what the service calls a run. */
export function routeOf(
  method: string,
  url: string,
  word = 'run'
): { operation: Operation | 'unknown'; id: string; query: URLSearchParams } {
  const { pathname, searchParams } = new URL(url, 'http://x')
  const [, root = '', id = '', action = ''] =
    /^\/api\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(pathname) ?? []
  const kind = root === `${word}s` ? 'runs' : root === 'runs' ? 'unknown' : root
  const key = [method, kind, ...(id === '' ? [] : [':']), ...(action === '' ? [] : [action])].join(' ')
  return { operation: ROUTES[key] ?? 'unknown', id, query: searchParams }
}
