import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse
} from 'node:http'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import { plainAddress } from '../addresses.js'

export const DEFAULT_LIMITS = {
  /** Until the headers of a request are there, from the start of the connection or the end of the request before. */
  headersMs: 20_000,
  /** Until all of a request is there: uploads take their time, and others do not. */
  requestMs: 2 * 3_600_000,
  smallRequestMs: 60_000,
  /** Between two requests on a connection. */
  keepAliveMs: 72_000,
  /** A connection on which nothing is sent or received, not even the beats of an event stream. */
  silenceMs: 10 * 60_000,
  headerBytes: 16 * 1024,
  connections: 2000,
  /** Of one address, or one /64 of IPv6. Proxies and this machine itself are exempt: many callers share their address. */
  connectionsPerNetwork: 200
}
export type Limits = Readonly<typeof DEFAULT_LIMITS>

interface LimitedParts {
  readonly limits: Limits
  readonly isExempt: (address: string) => boolean
  /** For https; callers that speak plain HTTP on the same port get what `redirect` answers. */
  readonly secure?: { readonly pair: ServerOptions; readonly redirect: RequestListener } | undefined
}

const TOO_SLOW = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

/** Cuts off slow and silent connections, and refuses those beyond their number. */
export function createLimitedServer(handler: RequestListener, { limits, isExempt, secure }: LimitedParts) {
  const { headersMs, requestMs, keepAliveMs, headerBytes } = limits
  const options = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.ceil(headersMs / 10),
    maxHeaderSize: headerBytes
  }
  const server = secure
    ? createHttpsServer({ ...secure.pair, ...options, handshakeTimeout: headersMs }, handler)
    : createServer(options, handler)
  if (secure) answerPlainHttp(server, createServer(options, secure.redirect), headersMs)
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type } = request.headers
    if ((length ?? encoding) === undefined || type?.startsWith('multipart/')) return
    const timer = setTimeout(() => {
      if (request.complete) return
      if (!response.headersSent) request.socket.write(TOO_SLOW)
      request.socket.destroySoon()
    }, limits.smallRequestMs).unref()
    request.once('close', () => clearTimeout(timer))
  })
  server.setTimeout(limits.silenceMs)
  server.maxConnections = limits.connections
  const counts = new Map<string, number>()
  // Before anything is read: a refused connection costs nothing.
  server.prependListener('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    if (isExempt(address)) return
    // As wrong tokens are counted: a caller by IPv6 usually has a whole /64.
    const network = normalizeIP(address)
    const count = (counts.get(network) ?? 0) + 1
    counts.set(network, count)
    socket.once('close', () => {
      const left = (counts.get(network) ?? 1) - 1
      if (left > 0) counts.set(network, left)
      else counts.delete(network)
    })
    if (count > limits.connectionsPerNetwork) socket.destroy()
  })
  return server
}

/** The first byte of a TLS connection: a record of the handshake. */
const HANDSHAKE = 0x16

/** Connections that do not begin with a handshake are handed over to the other server. */
function answerPlainHttp(server: Server, plain: Server, headersMs: number): void {
  // Nothing can be said to a caller without a shared secret.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_thrown, socket: Socket) => socket.destroy())
  const [startTls] = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    // For callers that send nothing, or little: a redirect takes no longer, and a handshake has its own limit.
    const timer = setTimeout(() => socket.destroy(), headersMs)
    socket.once('close', () => {
      clearTimeout(timer)
      open.delete(socket)
    })
    socket.on('error', () => socket.destroy())
    socket.once('data', (chunk: Buffer) => {
      socket.pause()
      socket.unshift(chunk)
      if (chunk[0] === HANDSHAKE) {
        clearTimeout(timer)
        startTls?.call(server, socket)
      } else plain.emit('connection', socket)
      // The new owner has its listeners now.
      process.nextTick(() => socket.resume())
    })
  })
  // Node knows only those that have sent a request over a secure connection; the others would keep the server from closing.
  const closeKnown = server.closeAllConnections.bind(server)
  server.closeAllConnections = () => {
    closeKnown()
    for (const socket of open) socket.destroy()
  }
}

/** Where a request is redirected to, with 308, which keeps method and body; never to a host that the request names. */
export function redirectTo(baseUrl: string, url: string): string {
  // A request to a proxy has the whole address.
  const path = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  // A token does not belong in an address: histories and logs would keep it.
  const safe = /[?&]token=/i.test(path) ? path.slice(0, path.indexOf('?')) : path
  return `${baseUrl}${safe.startsWith('/') ? '' : '/'}${safe}`
}
