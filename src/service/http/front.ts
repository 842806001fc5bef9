import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify'
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { RequestError } from '../errors.js'

/** How the service is reached. */
export interface Front {
  /** For the web framework. */
  readonly settings: FastifyServerOptions
  /** Before there is any route. */
  prepare?(app: FastifyInstance): void
  listen(app: FastifyInstance): Promise<void>
  /** Where callers reach the service, without a slash at the end; known once it listens. */
  baseUrl(): string
  /** Refuses what pages of other sites make a browser send. */
  check(request: FastifyRequest): void
  /** For the cookie of the web pages. */
  cookie(): { readonly name: string; readonly attributes: string }
}

/** For callers on this machine only: any page or process can reach a loopback server. */
export function createLoopbackFront(port = 0): Front {
  let actual = port
  return {
    settings: {},
    listen: async (app) => {
      await app.listen({ host: '127.0.0.1', port }).catch((thrown: unknown) => {
        const why = explainListen(thrown)
        throw why === undefined ? thrown : new Error(`--port: 127.0.0.1:${port} ${why}`, { cause: thrown })
      })
      actual = (app.server.address() as AddressInfo).port
    },
    baseUrl: () => `http://127.0.0.1:${actual}`,
    check: (request) => {
      checkHost(request, actual)
      checkOrigin(request, [`http://127.0.0.1:${actual}`, `http://localhost:${actual}`])
    },
    cookie: () => plainCookie(actual)
  }
}

/** Cookies ignore ports: without the number, two services would use each other's. */
export function plainCookie(port: number): ReturnType<Front['cookie']> {
  return { name: `loadgate-${port}`, attributes: 'Path=/; HttpOnly; SameSite=Strict' }
}

/** DNS rebinding: a foreign host name that resolves to this address gets a page around the browser's same-origin policy. */
function checkHost({ headers }: FastifyRequest, port: number): void {
  if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(headers.host ?? ''))
    throw new RequestError(403, 'this service only accepts requests to its own address')
}

export function checkOrigin({ headers }: FastifyRequest, own: readonly string[]): void {
  if (headers.origin !== undefined && !own.includes(headers.origin)) throw foreignPage()
}

export function foreignPage(): RequestError {
  return new RequestError(403, 'this service does not accept requests from pages of other sites')
}

/** Why nobody can be served there, and what to do, to follow the name of the address; undefined for any other error. */
export function explainListen(thrown: unknown): string | undefined {
  const { code = '' } = thrown as NodeJS.ErrnoException
  switch (code) {
    case 'EADDRINUSE':
      return 'is in use by another process; end that one (`ss -ltnp` shows it), or choose another port'
    case 'EACCES':
    case 'EPERM':
      return 'may not be used by this user; choose a port from 1024 on, or give the process the right (CAP_NET_BIND_SERVICE)'
    case 'EADDRNOTAVAIL':
      return 'is not an address of this machine; choose one of its own, or 0.0.0.0 for all of them'
    case 'EAFNOSUPPORT':
      return 'is an address of IPv6, which this machine does not have; choose one of IPv4, such as 0.0.0.0'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'is a name that this machine cannot resolve; choose an address of its own'
    default:
      return undefined
  }
}

/** For whatever restarts the service, and whatever sends callers to it. */
export function addProbes(app: FastifyInstance, whyNotReady: () => string | undefined): void {
  const config = { open: 'probe' } as const
  app.get('/healthz', { config }, () => ({ status: 'ok' }))
  app.get('/readyz', { config }, (_request, reply) => {
    const reason = whyNotReady()
    if (reason === undefined) return { status: 'ready' }
    return reply.code(503).header('retry-after', '10').send({ error: reason })
  })
}

const HARMLESS = /^[\w-]{1,64}$/

/** The caller's own id if it is harmless in logs and headers, so that a request can be followed through a proxy; else a new one. */
export class RequestIds {
  readonly #ids = new WeakMap<object, string>()

  of(request: Pick<IncomingMessage, 'headers'>): string {
    const known = this.#ids.get(request)
    if (known !== undefined) return known
    const given = request.headers['x-request-id']
    const id = typeof given === 'string' && HARMLESS.test(given) ? given : randomUUID()
    this.#ids.set(request, id)
    return id
  }
}

/**
 * A caller who resets the connection right behind a request takes the address along; so it is asked for as soon as there is a
 * connection, after which the socket knows it. Whoever has gone before that is not served: nobody could say from where it came.
 */
export function keepAddresses(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    if (socket.remoteAddress === undefined) socket.destroy()
  })
  server.prependListener('secureConnection', (socket: Socket & { readonly _parent?: Socket }) => {
    const value = socket._parent?.remoteAddress
    if (socket.remoteAddress !== undefined) return
    if (value === undefined) socket.destroy()
    else Object.defineProperty(socket, 'remoteAddress', { value })
  })
}

interface Refusal {
  readonly status: number
  readonly error: string
}

/** Requests that are not valid HTTP never reach a route; they get the same JSON error as any other mistake. */
export function answerUnreadable(
  thrown: NodeJS.ErrnoException & { reason?: string },
  socket: Duplex,
  headers: Readonly<Record<string, string>> = {}
): void {
  // The client may have disconnected already.
  socket.on('error', () => undefined)
  if (thrown.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, error } = refusalOf(thrown)
  const body = JSON.stringify({ error })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      body
    ].join('\r\n'),
    () => socket.destroy()
  )
}

function refusalOf({ code, message, reason }: NodeJS.ErrnoException & { reason?: string }): Refusal {
  switch (code ?? '') {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, error: 'the request timed out' }
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, error: 'the headers are too large' }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, error: 'the chunk extensions are too large' }
    case 'HPE_INVALID_METHOD':
      return { status: 400, error: 'the request method is unknown' }
    default:
      return { status: 400, error: `the request is not valid HTTP: ${reason ?? message}` }
  }
}

/** Node answers these without a body. */
export function answerExpectations(server: Server, headers: Readonly<Record<string, string>> = {}): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify({ error: 'the Expect header is not supported' })
    response
      .writeHead(417, { ...headers, 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      .end(body)
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    answerUnreadable({ name: 'Error', message: '', reason: 'this service is not a proxy' }, socket, headers)
  })
}
