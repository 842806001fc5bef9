import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

/** What one request gets: bytes as they are, after which the connection is ended or broken. */
export type RawAnswer = (socket: Socket, request: string) => void

export const raw = {
  /** A whole answer with its length. */
  whole:
    (body: string, headers: Record<string, string> = {}, status = '200 OK'): RawAnswer =>
    (socket) =>
      socket.end(head(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }) + body),
  /** Promises more than it sends. */
  truncated:
    (body: string, sent: number, headers: Record<string, string> = {}): RawAnswer =>
    (socket) =>
      breakOff(
        socket,
        head('200 OK', { 'content-length': String(body.length), ...headers }) + body.slice(0, sent)
      ),
  /** Nothing but the closed connection marks the end. */
  closed:
    (body: string, headers: Record<string, string> = {}, status = '200 OK'): RawAnswer =>
    (socket) =>
      socket.end(head(status, headers) + body),
  /** In one chunk, or in chunks of `pieces` bytes. */
  chunked:
    (body: string, options: { isCut?: boolean; pieces?: number } = {}): RawAnswer =>
    (socket) => {
      const bytes = Buffer.from(body)
      const step = options.pieces ?? bytes.length
      socket.write(head('200 OK', { 'transfer-encoding': 'chunked' }))
      for (let at = 0; at < bytes.length; at += step) {
        const piece = bytes.subarray(at, at + step)
        socket.write(
          Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
        )
      }
      socket.end(options.isCut ? '' : '0\r\n\r\n')
    },
  reset: ((socket) => socket.resetAndDestroy()) as RawAnswer,
  hold: (() => undefined) as RawAnswer
}

const DELIVERY_MS = 150

/** Bytes that come together with the end of the connection may never reach the reader. */
export function breakOff(socket: Socket, bytes: string): void {
  socket.write(bytes, () => setTimeout(() => socket.end(), DELIVERY_MS))
}

function head(status: string, headers: Record<string, string>): string {
  const lines = Object.entries({ 'content-type': 'text/csv', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`
  )
  return `HTTP/1.1 ${status}\r\n${lines.join('')}connection: close\r\n\r\n`
}

/** Answers one request after the other with the bytes it is given; the last answer stays. */
export class GateRawServer {
  readonly requests: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(answers: RawAnswer[]) {
    const left = [...answers]
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.once('data', (data) => {
        const request = data.toString('latin1')
        this.requests.push(request)
        const answer = left.length > 1 ? left.shift() : left[0]
        answer?.(socket, request)
      })
    })
  }

  static async start(...answers: RawAnswer[]): Promise<GateRawServer> {
    const server = new GateRawServer(answers)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** One header of each request, in their order. */
  headers(name: string): (string | undefined)[] {
    return this.requests.map((request) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(request)?.[1])
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
