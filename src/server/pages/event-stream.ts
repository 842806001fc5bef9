import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { PAGE_HEADERS } from './send-page.js'

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
