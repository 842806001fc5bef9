import type { ClientRequest, IncomingMessage } from 'node:http'
import WebSocket from 'ws'
import { ClusterError, type ExecStreams } from './cluster.js'
import type { Access } from './credentials.js'
import { SILENCE_MS } from './request.js'
import { unreachable, type Status } from './words.js'

/** With 5 one can close the standard input; clusters before 1.30 only have 4. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const CLOSE = 255

/** Frames of the standard input: small enough for every server. */
const CHUNK_BYTES = 64 * 1024
/** How much of the standard input is on its way at a time. */
const SENDING_BYTES = 1024 * 1024
/** How much of the output may wait for its receiver before nothing is read any more. */
const WAITING_BYTES = 128 * 1024
const LARGEST_FRAME_BYTES = 32 * 1024 * 1024
const LARGEST_REFUSAL_BYTES = 64 * 1024

export interface ExecLimits {
  readonly openMs: number
  /** How often the other side is asked whether it is there; it has as long to answer. */
  readonly pingMs: number
  /** How long it may take to close. */
  readonly closeMs: number
}

const LIMITS: ExecLimits = { openMs: SILENCE_MS, pingMs: 10_000, closeMs: 2_000 }

/** The cluster answered, but not with a stream. */
export class UpgradeRefused extends Error {
  constructor(
    readonly status: number,
    readonly body: string
  ) {
    super(`HTTP ${status}`)
  }
}

interface ConnectionParts {
  readonly server: string
  readonly url: string
  readonly access: Access
  readonly pod: string
  readonly streams: ExecStreams
  readonly signal: AbortSignal
  readonly limits: ExecLimits | undefined
  readonly onOpened?: (() => void) | undefined
}

/**
 * One command in a pod over one WebSocket: the first byte of each message is its channel. Reading stops while a receiver is busy, and
 * the standard input is read only as fast as it is sent.
 */
export class ExecConnection {
  /** Fulfilled or rejected when no receiver is running any more, so that nobody writes to a file that somebody else continues. */
  readonly done: Promise<{ code: number }>
  readonly #parts: ConnectionParts
  readonly #limits: ExecLimits
  readonly #socket: WebSocket
  /** Messages that came while the receiver was busy. */
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #isBusy = false
  #sendingBytes = 0
  #onSent: (() => void) | undefined
  #status: Buffer | undefined
  #closeCode: number | undefined
  #outcome: (() => void) | undefined
  #unanswered = 0
  #timer: NodeJS.Timeout | undefined
  #resolve!: (exit: { code: number }) => void
  #reject!: (error: unknown) => void

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#limits = parts.limits ?? LIMITS
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#socket = new WebSocket(parts.url, PROTOCOLS, {
      agent: parts.access.streamAgent,
      headers: parts.access.headers,
      handshakeTimeout: this.#limits.openMs,
      maxPayload: LARGEST_FRAME_BYTES,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      // Masks protect caches that read plain HTTP; not needed within TLS, and a zero mask saves a copy.
      generateMask: (mask) => mask.fill(0)
    })
    this.#listen()
  }

  #listen(): void {
    const { signal, server } = this.#parts
    this.#socket.on('open', () => {
      this.#parts.onOpened?.()
      this.#parts.streams.onOpen?.()
      this.#startPings()
      void this.#sendStdin()
    })
    this.#socket.on('message', (data: Buffer) => this.#receive(data))
    this.#socket.on('pong', () => (this.#unanswered = 0))
    this.#socket.on('unexpected-response', (request, response) => this.#readRefusal(request, response))
    this.#socket.on('error', (error) => {
      // With the status, all is known; the connection may end as it likes.
      if (this.#status === undefined) this.#end(() => this.#reject(unreachable(server, error)))
    })
    this.#socket.on('close', (code) => this.#closed(code))
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  readonly #abort = (): void => {
    this.#end(() => this.#reject(this.#parts.signal.reason))
  }

  /** The first call decides. The connection closes at once. */
  #end(outcome: () => void): void {
    if (this.#outcome !== undefined) return
    this.#outcome = outcome
    this.#waiting.length = 0
    clearInterval(this.#timer)
    this.#parts.signal.removeEventListener('abort', this.#abort)
    this.#onSent?.()
    this.#hangUp()
    if (!this.#isBusy) outcome()
  }

  /** Says goodbye, but does not wait for the reply. */
  #hangUp(): void {
    const socket = this.#socket
    if (socket.readyState === WebSocket.CLOSED) return
    if (socket.readyState === WebSocket.CONNECTING) {
      socket.terminate()
      return
    }
    if (socket.readyState === WebSocket.OPEN) socket.close(1000)
    if (socket.isPaused) socket.resume()
    const timer = setTimeout(() => socket.terminate(), this.#limits.closeMs)
    socket.once('close', () => clearTimeout(timer))
  }

  #receive(message: Buffer): void {
    this.#unanswered = 0
    if (this.#outcome !== undefined) return
    if (this.#isBusy) this.#keep(message)
    else this.#handle(message)
  }

  /** A receiver that is a little slower should not stop and start the socket for every message. */
  #keep(message: Buffer): void {
    this.#waiting.push(message)
    this.#waitingBytes += message.length
    if (this.#waitingBytes > WAITING_BYTES) this.#socket.pause()
  }

  #handle(message: Buffer): void {
    const channel = message[0]
    // A first, empty message on each channel says that it is open.
    if (message.length < 2) return
    if (channel === STATUS) {
      this.#status = message.subarray(1)
      this.#awaitClose()
      return
    }
    const receiver =
      channel === STDOUT
        ? this.#parts.streams.onStdout
        : channel === STDERR
          ? this.#parts.streams.onStderr
          : undefined
    if (receiver !== undefined) this.#give(receiver, message.subarray(1))
  }

  /** What ends the connection meanwhile takes effect when the receiver is done. */
  #give(receiver: (bytes: Uint8Array) => void | Promise<void>, bytes: Uint8Array): void {
    this.#isBusy = true
    try {
      const work = receiver(bytes)
      if (work !== undefined) {
        void this.#await(work)
        return
      }
    } catch (error) {
      this.#end(() => this.#reject(error))
    }
    this.#release()
  }

  async #await(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#end(() => this.#reject(error))
    }
    this.#release()
    this.#handleWaiting()
  }

  #release(): void {
    this.#isBusy = false
    this.#outcome?.()
  }

  #handleWaiting(): void {
    while (!this.#isStopped()) {
      const next = this.#waiting.shift()
      if (next === undefined) {
        this.#resume()
        return
      }
      this.#handle(next)
    }
  }

  #isStopped(): boolean {
    return this.#isBusy || this.#outcome !== undefined
  }

  #resume(): void {
    this.#unanswered = 0
    this.#waitingBytes = 0
    if (this.#closeCode !== undefined) this.#closed(this.#closeCode)
    else if (this.#socket.isPaused) this.#socket.resume()
  }

  /** After the status comes the end; a server that forgets to close is not waited for. */
  #awaitClose(): void {
    clearInterval(this.#timer)
    this.#timer = setTimeout(() => this.#finish(), this.#limits.closeMs)
  }

  #closed(code: number): void {
    this.#closeCode = code
    // What was read before is handled first.
    if (this.#isBusy) return
    if (this.#status !== undefined) this.#finish()
    else
      this.#end(() =>
        this.#reject(
          new ClusterError(
            `The stream from the pod ${this.#parts.pod} was cut before the command ended (WebSocket close code ${code}).`,
            undefined
          )
        )
      )
  }

  #finish(): void {
    this.#end(() => {
      try {
        this.#resolve({ code: exitCodeOf(this.#status ?? Buffer.alloc(0), this.#parts.pod) })
      } catch (error) {
        this.#reject(error)
      }
    })
  }

  #startPings(): void {
    const { pod, streams } = this.#parts
    // A server that waits for the command to read its input does not read on, and so does not answer either.
    const patience = typeof streams.stdin === 'object' ? 6 : 1
    this.#timer = setInterval(() => {
      // While reading is stopped, answers are not seen.
      if (this.#isBusy) return
      if (this.#unanswered >= patience) {
        const silentSec = (this.#unanswered * this.#limits.pingMs) / 1000
        const words = `The stream from the pod ${pod} is dead: no answer for ${silentSec} s.`
        this.#end(() => this.#reject(new ClusterError(words, undefined)))
        this.#socket.terminate()
        return
      }
      this.#unanswered++
      this.#socket.ping()
    }, this.#limits.pingMs)
  }

  async #sendStdin(): Promise<void> {
    const { stdin } = this.#parts.streams
    if (stdin === undefined || stdin === 'hold') return
    try {
      for await (const bytes of stdin) {
        for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
          await this.#sendChunk(bytes.subarray(at, at + CHUNK_BYTES))
          if (this.#isOver()) return
        }
      }
      // Without it, the command must know how much to read.
      if (this.#socket.protocol === PROTOCOLS[0]) this.#socket.send(Buffer.from([CLOSE, STDIN]))
    } catch (error) {
      this.#end(() => this.#reject(error))
    }
  }

  #isOver(): boolean {
    return (
      this.#outcome !== undefined || this.#status !== undefined || this.#socket.readyState !== WebSocket.OPEN
    )
  }

  async #sendChunk(bytes: Uint8Array): Promise<void> {
    const message = Buffer.allocUnsafe(bytes.length + 1)
    message[0] = STDIN
    message.set(bytes, 1)
    this.#sendingBytes += message.length
    this.#socket.send(message, () => {
      this.#sendingBytes -= message.length
      if (this.#sendingBytes <= SENDING_BYTES) this.#onSent?.()
    })
    if (this.#sendingBytes > SENDING_BYTES)
      await new Promise<void>((resolve) => {
        this.#onSent = resolve
      })
  }

  #readRefusal(request: ClientRequest, response: IncomingMessage): void {
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      if (size < LARGEST_REFUSAL_BYTES) chunks.push(chunk)
      size += chunk.length
    })
    const end = (): void => {
      const body = Buffer.concat(chunks).toString('utf8')
      this.#end(() => this.#reject(new UpgradeRefused(response.statusCode ?? 0, body)))
      request.destroy()
    }
    response.on('end', end)
    response.on('error', end)
  }
}

/** The exit code in the last message of a stream; a `ClusterError` if the command could not be run or watched to its end. */
function exitCodeOf(bytes: Uint8Array, pod: string): number {
  const status = parseStatus(bytes)
  if (status.status === 'Success') return 0
  if (status.reason === 'NonZeroExitCode') {
    const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
    if (code !== undefined && /^\d+$/.test(code)) return Number(code)
  }
  throw new ClusterError(
    `A command in the pod ${pod} could not be run to its end: ${status.message ?? status.reason ?? 'the cluster does not say why'}`,
    status.code
  )
}

function parseStatus(bytes: Uint8Array): Status {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  try {
    return JSON.parse(text) as Status
  } catch {
    return { message: text }
  }
}
