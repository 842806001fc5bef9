import type { ClientRequest, IncomingMessage } from 'node:http'
import WebSocket from 'ws'
import { readUpTo } from '../../../contract/files.js'
import { attempt } from '../../errors.js'
import { ClusterError, type ExecStreams, refusal, SILENCE_MS, type Status, unreachable } from './cluster.js'
import type { Access, Credentials } from './credentials.js'

/** With 5 one can close the standard input; clusters before 1.30 only have 4. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const CLOSE = 255

/** Frames of the standard input: small enough for every server. */
const CHUNK_BYTES = 64 * 1024
/** How many messages may wait for their receiver before nothing is read any more. */
const MOST_WAITING = 2
const MOST_REFUSAL_BYTES = 64 * 1024
const LARGEST_FRAME_BYTES = 32 * 1024 * 1024
/** Until it is open, and how long it may be silent before it closes. */
const LIMITS = { openMs: SILENCE_MS, closeMs: 10_000 }
/** How often something is sent, so that no proxy closes an idle connection. The caller of a command notices if nothing arrives. */
const PING_MS = 10_000

export interface ExecParts {
  readonly server: string
  readonly credentials: Credentials
  readonly namespace: string
  readonly pod: string
  readonly command: readonly string[]
  readonly streams: ExecStreams
  readonly signal: AbortSignal
  readonly openings: Openings
  readonly limits?: typeof LIMITS
}

/** The cluster answered, but not with a stream. */
class UpgradeRefused extends Error {
  constructor(
    readonly status: number,
    readonly text: string
  ) {
    super(`HTTP ${status}`)
  }
}

/** Runs a command in a pod. The package's own way has no backpressure and loses errors. */
export async function execInPod(parts: ExecParts): Promise<{ code: number }> {
  const { credentials, signal, pod } = parts
  signal.throwIfAborted()
  const access = await credentials.access(signal)
  try {
    return await connect(parts, access).catch(async (thrown: unknown) => {
      if (!(thrown instanceof UpgradeRefused) || thrown.status !== 401) throw thrown
      // Refused before anything was started or read, so this is not a second start.
      return connect(parts, await credentials.renew(access, signal))
    })
  } catch (thrown) {
    throw thrown instanceof UpgradeRefused ? refusal(`Running a command in the pod ${pod}`, thrown) : thrown
  }
}

async function connect(parts: ExecParts, access: Access): Promise<{ code: number }> {
  const { openings, signal } = parts
  await openings.enter()
  let isOpening = true
  const onOpened = (): void => {
    if (isOpening) openings.leave()
    isOpening = false
  }
  try {
    signal.throwIfAborted()
    return await converse(parts, access, onOpened)
  } finally {
    onOpened()
  }
}

/** The command has ended; the server need not close the connection. */
const OVER = new Error('over')

/**
 * One command over one WebSocket: the first byte of each message is its channel. Reading stops while a receiver is busy, and the
 * standard input is read only as fast as it is sent. When it returns, no receiver is running any more, so that nobody writes to a file
 * that somebody else continues.
 */
async function converse(parts: ExecParts, access: Access, onOpened: () => void): Promise<{ code: number }> {
  const { server, streams, pod, limits = LIMITS } = parts
  const failed = new AbortController()
  const signal = AbortSignal.any([parts.signal, failed.signal])
  const socket = openSocket(parts, access, limits.openMs)
  let status: Buffer | undefined
  let closeCode = 0
  let timer: NodeJS.Timeout | undefined
  socket.once('open', () => {
    onOpened()
    streams.onOpen?.()
    timer = setInterval(() => socket.ping(), PING_MS)
    sendStdin(socket, streams.stdin, () => status !== undefined || signal.aborted).catch((error: unknown) =>
      failed.abort(error)
    )
  })
  socket.on('unexpected-response', (_: ClientRequest, response: IncomingMessage) => {
    const refuse = (body: string): void => failed.abort(new UpgradeRefused(response.statusCode ?? 0, body))
    readUpTo(response, MOST_REFUSAL_BYTES).then(
      ({ bytes }) => refuse(bytes.toString('utf8')),
      () => refuse('')
    )
  })
  // Once the status is here, it does not matter how the connection ends.
  socket.on('error', (error) => failed.abort(status === undefined ? unreachable(server, error) : OVER))
  socket.once('close', (code) => (closeCode = code))
  try {
    for await (const message of messagesOf(socket, signal)) {
      // A first, empty message on each channel says that it is open.
      if (message.length < 2) continue
      const bytes = message.subarray(1)
      if (message[0] === STATUS) status = bytes
      // The API server sends the status beside the outputs, so the rest of them may follow it, as slowly as a busy cluster likes.
      if (status !== undefined) clearInterval(timer)
      if (message[0] === STDOUT) await streams.onStdout?.(bytes)
      if (message[0] === STDERR) await streams.onStderr?.(bytes)
      // A server that forgets to close is not waited for.
      if (status !== undefined) timer = setTimeout(() => failed.abort(OVER), limits.closeMs)
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
    if (signal.reason !== OVER) throw signal.reason
  } finally {
    clearInterval(timer)
    hangUp(socket, limits.closeMs)
  }
  if (status !== undefined) return { code: exitCodeOf(status, pod) }
  throw new ClusterError(
    `The stream from the pod ${pod} was cut before the command ended (WebSocket close code ${closeCode}).`
  )
}

/** One at a time, until it is closed. `events.on` would do, but it keeps 32 KB of empty queues for each connection. */
async function* messagesOf(socket: WebSocket, signal: AbortSignal): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = []
  let wake = (): void => undefined
  const onMessage = (message: Buffer): void => {
    waiting.push(message)
    if (waiting.length >= MOST_WAITING) socket.pause()
    wake()
  }
  socket.on('message', onMessage)
  socket.once('close', () => wake())
  signal.addEventListener('abort', () => wake(), { once: true })
  try {
    for (;;) {
      signal.throwIfAborted()
      const message = waiting.shift()
      if (message !== undefined) yield message
      else if (socket.readyState === WebSocket.CLOSED) return
      else {
        if (socket.isPaused) socket.resume()
        await new Promise<void>((resolve) => (wake = resolve))
      }
    }
  } finally {
    socket.off('message', onMessage)
  }
}

function openSocket(parts: ExecParts, { agent, headers }: Access, openMs: number): WebSocket {
  const { server, namespace, pod, command, streams } = parts
  const stdin = String(streams.stdin !== undefined)
  // Our pods have one container.
  const query = new URLSearchParams({ container: 'node', stdin, stdout: 'true', stderr: 'true' })
  for (const word of command) query.append('command', word)
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec`
  return new WebSocket(`${server.replace(/^http/, 'ws')}${path}?${query.toString()}`, PROTOCOLS, {
    agent,
    headers: { ...headers },
    handshakeTimeout: openMs,
    maxPayload: LARGEST_FRAME_BYTES,
    perMessageDeflate: false,
    skipUTF8Validation: true,
    // Masks protect caches that read plain HTTP; not needed within TLS, and a zero mask saves a copy.
    generateMask: (mask) => mask.fill(0)
  })
}

/** Says goodbye, but does not wait for the reply. */
function hangUp(socket: WebSocket, closeMs: number): void {
  if (socket.readyState === WebSocket.CLOSED) return
  if (socket.readyState === WebSocket.CONNECTING) {
    socket.terminate()
    return
  }
  if (socket.readyState === WebSocket.OPEN) socket.close(1000)
  if (socket.isPaused) socket.resume()
  const timer = setTimeout(() => socket.terminate(), closeMs)
  socket.once('close', () => clearTimeout(timer))
}

async function sendStdin(socket: WebSocket, stdin: ExecStreams['stdin'], isOver: () => boolean) {
  if (stdin === undefined || stdin === 'hold') return
  for await (const bytes of stdin) {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const message = Buffer.concat([Buffer.of(STDIN), bytes.subarray(at, at + CHUNK_BYTES)])
      await new Promise((resolve) => socket.send(message, resolve))
      if (isOver() || socket.readyState !== WebSocket.OPEN) return
    }
  }
  // Without it, the command must know how much to read.
  if (socket.protocol === PROTOCOLS[0]) socket.send(Buffer.of(CLOSE, STDIN), () => undefined)
}

/** The exit code in the last message of a stream; a `ClusterError` if the command could not be run or watched to its end. */
function exitCodeOf(bytes: Buffer, pod: string): number {
  const message = bytes.toString('utf8')
  const status: Status = attempt(() => JSON.parse(message) as Status) ?? { message }
  if (status.status === 'Success') return 0
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? ''
  if (status.reason === 'NonZeroExitCode' && /^\d+$/.test(code)) return Number(code)
  throw new ClusterError(
    `A command in the pod ${pod} could not be run to its end: ${status.message ?? status.reason ?? 'the cluster does not say why'}`,
    status.code
  )
}

/**
 * How many connections are opened at the same time: a thousand handshakes at once take memory here that is never given back, and
 * overload an API server. Not fewer: a thousand streams to a distant cluster, a second each, must be open before anyone calls them silent.
 */
const AT_ONCE = 100

/** Connections wait here until it is their turn to be opened; what is open does not count. */
export class Openings {
  readonly #waiting: (() => void)[] = []

  constructor(private free = AT_ONCE) {}

  async enter(): Promise<void> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** The one that has waited longest is next. */
  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.free++
    else next()
  }
}
