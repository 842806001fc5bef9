import { createServer, request as forward } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer as readAll } from 'node:stream/consumers'

export type Operation =
  | 'create run'
  | 'create grid'
  | 'show run'
  | 'show grid'
  | 'stop'
  | 'repeat'
  | 'list'
  | 'report'
  | 'result'
  | 'terminate grid'

export interface Answer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/** One request on its way through the proxy, in the hands of a fault. */
export interface Exchange {
  /** Lets the service do it, whether or not somebody waits for the answer; doing it twice asks once. */
  commit(): Promise<Answer>
  answer(answer: Answer): void
  /** Sends the start of an answer: as many bytes, with the length of all or without any length. */
  begin(answer: Answer, bytes: number, withLength: boolean): void
  /** Closes the connection, politely or by RST. */
  drop(how?: 'close' | 'reset'): void
}

export type Fault = (exchange: Exchange) => Promise<void> | void

/** When a fault strikes: by the number of the operation's calls so far, and the time since its first. */
export type Moment = (call: { index: number; sinceFirstMs: number }) => boolean

export interface Strike {
  readonly operation: Operation
  readonly moment: Moment
  readonly fault: Fault
}

const ROUTES: readonly (readonly [Operation, string, RegExp])[] = [
  ['create run', 'POST', /^\/runs$/],
  ['create grid', 'POST', /^\/grids$/],
  ['list', 'GET', /^\/runs(\?.*)?$/],
  ['stop', 'GET', /^\/runs\/[^/]+\/stop$/],
  ['repeat', 'GET', /^\/runs\/[^/]+\/repeat$/],
  ['report', 'GET', /^\/runs\/[^/]+\/report$/],
  ['result', 'GET', /^\/runs\/[^/]+\/result\.csv/],
  ['show run', 'GET', /^\/runs\/[^/]+$/],
  ['show grid', 'GET', /^\/grids\/[^/]+$/],
  ['terminate grid', 'DELETE', /^\/grids\/[^/]+$/]
]

function operationOf(method: string, url: string): Operation | undefined {
  const path = url.replace(/^\/api(?=\/)/, '')
  return ROUTES.find(([, verb, pattern]) => verb === method && pattern.test(path))?.[0]
}

/** Stands between the action and the service, and spoils what it is told to. */
export class FaultProxy {
  readonly strikes: Strike[] = []
  /** What came, and what was struck, in order. */
  readonly seen: { operation: Operation; atMs: number; fault: Fault | undefined }[] = []
  readonly #upstream: URL
  readonly #sockets = new Set<Socket>()
  readonly #firstMs = new Map<Operation, number>()
  readonly #pending = new Set<Promise<unknown>>()
  readonly #server: Server

  private constructor(upstream: string) {
    this.#upstream = new URL(upstream)
    this.#server = createServer((request, response) => {
      const work = this.#pass(request, response).catch(() => response.destroy())
      this.#pending.add(work)
      void work.finally(() => this.#pending.delete(work))
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(upstream: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstream)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  count(operation: Operation): number {
    return this.seen.filter((call) => call.operation === operation).length
  }

  hasStruck(fault: Fault): boolean {
    return this.seen.some((call) => call.fault === fault)
  }

  /** Waits for what was let through although nobody waits for its answer any more. */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.race(this.#pending)
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request)
    const { method = '', url = '' } = request
    const operation = operationOf(method, url)
    const exchange = this.#exchange(request, response, body)
    const strike = operation && this.#strikeFor(operation)
    if (strike) await strike.fault(exchange)
    else exchange.answer(await exchange.commit())
  }

  #strikeFor(operation: Operation): Strike | undefined {
    const nowMs = performance.now()
    const firstMs = this.#firstMs.get(operation) ?? nowMs
    this.#firstMs.set(operation, firstMs)
    const call = { index: this.count(operation), sinceFirstMs: nowMs - firstMs }
    const strike = this.strikes.find((each) => each.operation === operation && each.moment(call))
    this.seen.push({ operation, atMs: nowMs, fault: strike?.fault })
    return strike
  }

  #exchange(request: IncomingMessage, response: ServerResponse, body: Buffer): Exchange {
    let committed: Promise<Answer> | undefined
    const send = (answer: Answer, bytes: number, withLength: boolean): void => {
      const length = withLength ? { 'content-length': answer.body.length } : {}
      // Without a length the connection's end is the body's end: no chunks, which would tell.
      response.useChunkedEncodingByDefault = false
      response.writeHead(answer.status, { ...answer.headers, ...length, connection: 'close' })
      response.write(answer.body.subarray(0, bytes))
    }
    return {
      commit: () => (committed ??= this.#forward(request, body)),
      answer: (answer) => {
        send(answer, answer.body.length, true)
        response.end()
      },
      begin: send,
      drop: (how = 'close') => {
        if (how === 'reset') request.socket.resetAndDestroy()
        else request.socket.destroy()
      }
    }
  }

  #forward(request: IncomingMessage, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = forward(
        {
          host: this.#upstream.hostname,
          port: this.#upstream.port,
          method: request.method,
          path: request.url,
          headers: { ...request.headers, host: this.#upstream.host, connection: 'close' },
          agent: false
        },
        (incoming) => {
          readAll(incoming).then((bytes) => resolve(this.#translate(incoming, bytes)), reject)
        }
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  /** Links of the service's own address would lead around the proxy. */
  #translate(incoming: IncomingMessage, bytes: Buffer): Answer {
    const isJson = (incoming.headers['content-type'] ?? '').includes('json')
    const body = isJson ? Buffer.from(bytes.toString().replaceAll(this.#upstream.origin, this.url)) : bytes
    const headers = { ...incoming.headers }
    for (const name of ['connection', 'transfer-encoding', 'content-length'])
      Reflect.deleteProperty(headers, name)
    return { status: incoming.statusCode ?? 0, headers, body }
  }
}
