import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import { answerUnreadable } from './front.js'
import { limitedOptions, type Limits } from './limits.js'

/** The first byte of a TLS connection: a record of the handshake. */
const HANDSHAKE = 0x16

/** https, and on the same port a redirect for callers that speak plain HTTP. */
export function createSecureServer(
  handler: RequestListener,
  {
    pair,
    limits,
    baseUrl,
    headers
  }: { pair: ServerOptions; limits: Limits; baseUrl: () => string; headers: Readonly<Record<string, string>> }
): Server {
  const server = createServer(
    { ...pair, ...limitedOptions(limits), handshakeTimeout: limits.headersMs },
    handler
  )
  const redirects = createPlainServer(limitedOptions(limits), (request, response) => {
    const { status, location } = redirectTo(baseUrl(), request.url ?? '/')
    // The body is not read: it is not for us.
    response.writeHead(status, { ...headers, location, connection: 'close', 'content-length': 0 }).end()
  })
  redirects.on('clientError', (thrown: Error, socket) => answerUnreadable(thrown, socket, headers))
  // Nothing can be said to a caller without a shared secret.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_thrown, socket) => socket.destroy())
  const [startTls] = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    // Whoever says nothing, or little: a redirect takes no longer, and a handshake has its own limit.
    const timer = setTimeout(() => socket.destroy(), limits.headersMs)
    socket.once('close', () => {
      clearTimeout(timer)
      open.delete(socket)
    })
    socket.on('error', () => socket.destroy())
    peek(socket, (first) => {
      if (first === HANDSHAKE) {
        clearTimeout(timer)
        startTls?.call(server, socket)
      } else redirects.emit('connection', socket)
    })
  })
  // Node knows only those that have sent a request over a secure connection; the others would keep the server from closing.
  const closeKnown = server.closeAllConnections.bind(server)
  server.closeAllConnections = () => {
    closeKnown()
    for (const socket of open) socket.destroy()
  }
  return server
}

/** The first byte, which stays to be read. */
function peek(socket: Socket, act: (first: number) => void): void {
  socket.once('data', (chunk: Buffer) => {
    socket.pause()
    socket.unshift(chunk)
    act(chunk[0] ?? 0)
    // Whoever takes over has its listeners now.
    process.nextTick(() => socket.resume())
  })
}

/**
 * To the same path at the address of the service, never at a host that the request names. 308 keeps method and body. A token in
 * the query has crossed the network in plain text; it is not repeated where histories and logs would keep it.
 */
export function redirectTo(baseUrl: string, url: string): { status: 308; location: string } {
  // A request to a proxy has the whole address.
  const path = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  return { status: 308, location: `${baseUrl}${path.startsWith('/') ? '' : '/'}${withoutToken(path)}` }
}

/** Everything else stays as it was written. */
function withoutToken(path: string): string {
  const start = path.indexOf('?')
  if (start === -1) return path
  const pairs = path.slice(start + 1).split('&')
  const kept = pairs.filter((pair) => ![...new URLSearchParams(pair).keys()].some(isToken))
  return kept.length === pairs.length
    ? path
    : `${path.slice(0, start)}${kept.length === 0 ? '' : `?${kept.join('&')}`}`
}

const isToken = (key: string): boolean => /^token\b/i.test(key)
