import { channel } from 'node:diagnostics_channel'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Dispatcher } from 'undici'
import { ServiceClient } from '../../src/client/client.js'
import type { ClientOptions } from '../../src/client/client.js'
import { errors } from '../../src/client/http/undici.js'
import { underWay } from './under-way.js'

/** A request as it came, with its whole body. */
export interface Incoming {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export type Receive = (incoming: Incoming, reply: Reply) => void

/** What undici's `request` hands to a dispatcher. */
interface Handler {
  onConnect(abort: (reason?: Error) => void): void
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void, text: string): void
  onData(chunk: Buffer): void
  onComplete(trailers: readonly Buffer[]): void
  onError(error: Error): void
}

const listening = new Map<string, Receive>()
const replies = new Set<Reply>()
let count = 0

/** A service in this process at an address of its own. Clients of `openInProcess` reach it without a socket, by turns of the event loop. */
export function listen(receive: Receive): { readonly url: string; close(): void } {
  count++
  // Loopback, as a client demands; nobody listens on this port.
  const url = `http://127.${count >> 16}.${(count >> 8) & 255}.${count & 255}:1`
  listening.set(url, receive)
  return {
    url,
    close: () => {
      listening.delete(url)
      for (const reply of replies) if (reply.url === url) reply.fail(closed())
    }
  }
}

/** A client that reaches services of this process; others over real connections. */
export function openInProcess(options: ClientOptions): ServiceClient {
  const isHere = /^http:\/\/127\.\d+\.\d+\.\d+:1$/.test(options.address.origin)
  return new ServiceClient({ ...options, ...(isHere && { dispatcher: new InProcess() }) })
}

class InProcess extends Dispatcher {
  override dispatch(options: Dispatcher.DispatchOptions, handler: unknown): boolean {
    void exchange(options, handler as Handler)
    return true
  }
}

async function exchange(options: Dispatcher.DispatchOptions, handler: Handler): Promise<void> {
  const url = String(options.origin)
  const reply = new Reply(handler, { url, isHead: options.method === 'HEAD' })
  await nextTurn()
  const receive = listening.get(url)
  if (receive === undefined) {
    reply.fail(refusalOf(url))
    return
  }
  if (!reply.connect()) return
  const body = await readBody(options.body)
  const headers = Object.fromEntries(
    Object.entries(options.headers as Record<string, string>).map(([name, value]) => [
      name.toLowerCase(),
      value
    ])
  )
  if (!reply.isOver) receive({ method: options.method, url: options.path, headers, body }, reply)
}

/** What a service answers, with the methods of Node's ServerResponse. The caller hears of each step in a turn of its own. */
export class Reply {
  /** Of the service. */
  readonly url: string
  readonly #handler: Handler
  readonly #isHead: boolean
  readonly #headers = new Map<string, string>()
  #steps: Promise<void> = Promise.resolve()
  #isBegun = false
  #isOver = false

  constructor(handler: Handler, { url, isHead }: { url: string; isHead: boolean }) {
    this.url = url
    this.#handler = handler
    this.#isHead = isHead
    replies.add(this)
    underWay.add(this)
  }

  /** Answered, broken off or given up. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** False where the caller has given up. */
  connect(): boolean {
    this.#handler.onConnect((reason = new errors.RequestAbortedError()) => this.fail(reason))
    return !this.#isOver
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name.toLowerCase(), value)
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> = {}): this {
    this.#isBegun = true
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    const raw = [...this.#headers].flat().map((text) => Buffer.from(text))
    this.#step(() => this.#handler.onHeaders(status, raw, () => undefined, ''))
    return this
  }

  write(text: string): void {
    if (!this.#isBegun) this.writeHead(200)
    const bytes = Buffer.from(text)
    if (bytes.length > 0 && !this.#isHead) this.#step(() => this.#handler.onData(bytes))
  }

  end(text = ''): void {
    this.write(text)
    this.#step(() => {
      this.#finish()
      this.#handler.onComplete([])
    })
  }

  /** The connection is gone, after what was written before. */
  destroy(): void {
    this.#step(() => this.fail(closed()))
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#finish()
    this.#handler.onError(error)
  }

  #step(act: () => void): void {
    this.#steps = this.#steps.then(async () => {
      await nextTurn()
      if (!this.#isOver) act()
    })
  }

  #finish(): void {
    this.#isOver = true
    replies.delete(this)
    underWay.delete(this)
  }
}

function closed(): Error {
  return new errors.SocketError('other side closed')
}

/** As undici tells it: nothing was sent. */
function refusalOf(url: string): Error {
  const { host } = new URL(url)
  const error = Object.assign(new Error(`connect ECONNREFUSED ${host}`), { code: 'ECONNREFUSED' })
  channel('undici:client:connectError').publish({ error })
  return error
}

async function readBody(body: unknown): Promise<Buffer> {
  if (body === null || body === undefined) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    // Whoever sent it has hung up.
  }
  return Buffer.concat(chunks)
}
