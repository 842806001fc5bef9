import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { plainAddress } from '../config/addresses.js'

/** What one caller may take from the others. */
export interface Limits {
  /** Until the headers of a request are there, from the start of the connection or the end of the request before. */
  readonly headersMs: number
  /** Until the body of a request without files is there. */
  readonly bodyMs: number
  /** A body with files may take any time, as long as it brings this many bytes in each window. */
  readonly uploadBytes: number
  readonly uploadWindowMs: number
  /** Between two requests on a connection. */
  readonly keepAliveMs: number
  /** A connection on which nothing is sent or received, not even the beats of an event stream. */
  readonly silenceMs: number
  readonly headerBytes: number
  readonly connections: number
  /** Proxies and this machine itself are exempt: many callers share their address. */
  readonly connectionsPerAddress: number
}

export const DEFAULT_LIMITS: Limits = {
  headersMs: 20_000,
  bodyMs: 60_000,
  uploadBytes: 10_000,
  uploadWindowMs: 20_000,
  keepAliveMs: 72_000,
  silenceMs: 10 * 60_000,
  headerBytes: 16 * 1024,
  connections: 2000,
  connectionsPerAddress: 200
}

/** For `http.createServer` and `https.createServer`. */
export function limitedOptions({ headersMs, keepAliveMs, headerBytes }: Limits): ServerOptions {
  return {
    headersTimeout: headersMs,
    // Uploads take their time: bodies are watched by `limitServer`.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.ceil(headersMs / 10),
    maxHeaderSize: headerBytes,
    // A request without a host gets the same JSON error as any other mistake.
    requireHostHeader: false
  }
}

/** Cuts off slow bodies and silent connections, and refuses connections beyond their number. */
export function limitServer(
  server: Server,
  { limits, isExempt }: { limits: Limits; isExempt: (address: string) => boolean }
): void {
  server.setTimeout(limits.silenceMs)
  limitConnections(server, limits, isExempt)
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!hasBody(request)) return
    const stop = watchBody(request, limits, () => cutOff(server, request, response))
    request.once('end', stop)
    request.once('close', stop)
  })
}

/** Before anything is read: a refused connection costs nothing. */
function limitConnections(server: Server, limits: Limits, isExempt: (address: string) => boolean): void {
  server.maxConnections = limits.connections
  const counts = new Map<string, number>()
  server.prependListener('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    if (isExempt(address)) return
    const count = (counts.get(address) ?? 0) + 1
    counts.set(address, count)
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
    if (count > limits.connectionsPerAddress) socket.destroy()
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Calls back once if the body is too slow; returns what ends the watch. */
function watchBody(request: IncomingMessage, limits: Limits, onSlow: () => void): () => void {
  const isUpload = (request.headers['content-type'] ?? '').startsWith('multipart/')
  const { socket } = request
  let before = socket.bytesRead
  const look = (): void => {
    // A full buffer waits for us, not for the caller.
    const isOurs = request.readableLength >= request.readableHighWaterMark
    if (!isUpload || (!isOurs && socket.bytesRead - before < limits.uploadBytes)) onSlow()
    before = socket.bytesRead
  }
  const timer = setInterval(look, isUpload ? limits.uploadWindowMs : limits.bodyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** As Node does with slow headers: a reply that has begun cannot become another one. */
function cutOff(server: Server, { socket }: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) socket.destroy()
  else server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
}
