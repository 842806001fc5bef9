import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import { type AddressInfo, isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify'
import { createRangeCheck, isLoopback, plainAddress } from '../addresses.js'
import { ConfigProblem, type ServiceConfig } from '../config/config.js'
import { type Clock, systemClock } from '../../contract/clock.js'
import { RequestError } from '../errors.js'
import { followCertificate, readCertificate } from './certificate.js'
import { createLimitedServer, DEFAULT_LIMITS, type Limits, redirectTo } from './limits.js'

export interface Front {
  readonly settings: FastifyServerOptions
  /** Called before there is any route. */
  prepare(app: FastifyInstance): void
  listen(app: FastifyInstance): Promise<void>
  /** Where callers reach the service, without a slash at the end; known once it listens. */
  baseUrl(): string
  /** The address and port on this machine; known once it listens. */
  listening(): string
  /** Refuses what pages of other sites make a browser send. */
  check(request: FastifyRequest): void
  cookie(): { readonly name: string; readonly attributes: string }
}

type Reach = Pick<ServiceConfig, 'listen'> &
  Partial<Pick<ServiceConfig, 'externalUrl' | 'tls' | 'trustedProxies'>>

interface FrontParts {
  readonly clock?: Clock
  readonly log: (line: string) => void
  /** In replies that come from no route. */
  readonly headers?: Readonly<Record<string, string>>
  readonly limits?: Limits
}

/** For callers on this machine only: any page or process can reach a loopback server. */
export async function createLoopbackFront(port = 0): Promise<Front> {
  const front = await createFront({ listen: { host: '127.0.0.1', port } }, { log: () => undefined })
  const own = (scheme = ''): string[] =>
    ['127.0.0.1', 'localhost'].map((host) => `${scheme}${host}:${new URL(front.baseUrl()).port}`)
  return {
    ...front,
    listen: (app) =>
      front.listen(app).catch((thrown: unknown) => {
        throw thrown instanceof ConfigProblem ? new Error(thrown.message.replace('listen', '--port')) : thrown
      }),
    check: (request) => {
      // DNS rebinding: a foreign host name that resolves to this address gets a page around the browser's same-origin policy.
      if (!own().includes(request.headers.host ?? ''))
        throw new RequestError(403, 'this service only accepts requests to its own address')
      checkOrigin(request, own('http://'))
    }
  }
}

/** As the config file says: https, plain HTTP behind a proxy that serves https, or plain HTTP on loopback. */
export async function createFront(config: Reach, parts: FrontParts): Promise<Front> {
  const { listen, externalUrl, tls, trustedProxies } = config
  const { clock = systemClock, log, headers = {}, limits = DEFAULT_LIMITS } = parts
  const isTrusted = createRangeCheck(trustedProxies ?? [])
  const isSecure = tls !== undefined || trustedProxies !== undefined
  const pair = tls && (await readCertificate(tls))
  let { port } = listen
  const baseUrl = (): string => externalUrl ?? addressOf(listen.host, port, isSecure)
  return {
    settings: {
      ...(trustedProxies && { trustProxy: [...trustedProxies] }),
      serverFactory: (handler) => {
        const secure = pair && {
          pair,
          redirect: (request: IncomingMessage, response: ServerResponse) => {
            const location = redirectTo(baseUrl(), request.url ?? '/')
            // The body is not read.
            response.writeHead(308, { ...headers, location, connection: 'close', 'content-length': 0 }).end()
          }
        }
        const isExempt = (address: string): boolean => isLoopback(address) || isTrusted(address)
        const server = createLimitedServer(handler, { limits, isExempt, secure })
        if (trustedProxies) tidyForwardedFor(server)
        return server
      }
    },
    prepare: (app) => {
      if (trustedProxies) requireProxy(app, isTrusted, { baseUrl, log })
    },
    listen: async (app) => {
      await listenAt(app, listen, (host) => {
        port = (app.server.address() as AddressInfo).port
        return `listening at ${host}; callers reach the service at ${baseUrl()}`
      })
      if (tls && pair) followCertificate(app.server as SecureServer, { files: tls, pair, clock, log })
    },
    baseUrl,
    listening: () => `${bracket(listen.host)}:${port}`,
    check: (request) => checkOrigin(request, [baseUrl(), `${request.protocol}://${request.host}`]),
    cookie: () =>
      isSecure
        ? // Bound to the host, so that no other one can set it.
          { name: '__Host-loadgate', attributes: 'Path=/; Secure; HttpOnly; SameSite=Strict' }
        : // Cookies ignore ports: without the number, two services would use each other's.
          { name: `loadgate-${port}`, attributes: 'Path=/; HttpOnly; SameSite=Strict' }
  }
}

function checkOrigin({ headers }: FastifyRequest, own: readonly string[]): void {
  if (headers.origin !== undefined && !own.includes(headers.origin)) throw foreignPage()
}

export function foreignPage(): RequestError {
  return new RequestError(403, 'this service does not accept requests from pages of other sites')
}

async function listenAt(
  app: FastifyInstance,
  { host, port }: Reach['listen'],
  text: (host: string) => string
): Promise<void> {
  try {
    await app.listen({
      // The web framework would open a second server for the other address of this name.
      ...{ port, host: host === 'localhost' ? '127.0.0.1' : host },
      // The framework would say http; once for each address of this machine.
      listenTextResolver: (address) => text(new URL(address).host)
    })
  } catch (thrown) {
    const why = LISTEN_ERRORS[(thrown as NodeJS.ErrnoException).code ?? '']
    throw why === undefined
      ? thrown
      : new ConfigProblem(`listen: ${bracket(host)}:${port} ${why}`, { cause: thrown })
  }
}

const FORBIDDEN =
  'may not be used by this user; choose a port from 1024 on, or give the process the permission (CAP_NET_BIND_SERVICE)'
const UNRESOLVED = 'is a name that this machine cannot resolve; choose an address of its own'

/** Why the service cannot listen there, and what to do; follows the address in a message. */
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process; end that one (`ss -ltnp` shows it), or choose another port',
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EADDRNOTAVAIL: 'is not an address of this machine; choose one of its own, or 0.0.0.0 for all of them',
  EAFNOSUPPORT:
    'is an address of IPv6, which this machine does not have; choose one of IPv4, such as 0.0.0.0',
  ENOTFOUND: UNRESOLVED,
  EAI_AGAIN: UNRESOLVED
}

/** Where no address is configured: this machine's name, if the service listens on all of its addresses. */
function addressOf(host: string, port: number, isSecure: boolean): string {
  const name = ['::', '0.0.0.0'].includes(host) ? hostname() : bracket(host)
  const isUsual = port === (isSecure ? 443 : 80)
  return `${isSecure ? 'https' : 'http'}://${name}${isUsual ? '' : `:${port}`}`
}

function bracket(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Some proxies add a port. An entry that is not an address is ignored with everything before it: the proxy that wrote it counts as the caller. */
function tidyForwardedFor(server: Server): void {
  server.prependListener('request', ({ headers }: IncomingMessage) => {
    const given = String(headers['x-forwarded-for'] ?? '')
    const addresses = given
      .split(',')
      .map((entry) => entry.trim().replace(/^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2'))
    const known = addresses.slice(addresses.findLastIndex((address) => isIP(address) === 0) + 1)
    if (known.length === 0) delete headers['x-forwarded-for']
    else headers['x-forwarded-for'] = known.join(', ')
  })
}

/** Without the proxy, tokens would be in plain text and any address could be claimed. A missing protocol header counts as https, as the config file says. */
function requireProxy(
  app: FastifyInstance,
  isTrusted: (address: string) => boolean,
  { baseUrl, log }: { baseUrl: () => string; log: (line: string) => void }
): void {
  let hasSaid = false
  app.addHook('onRequest', async (request, reply) => {
    // Probes come from the machine that the service runs on.
    if (request.routeOptions.config.open === 'probe') return undefined
    const peer = plainAddress(request.raw.socket.remoteAddress ?? '')
    if (!isTrusted(peer))
      throw new RequestError(403, `this service is only reached through its proxy: use ${baseUrl()}`)
    // The last one is by the proxy that is nearest to us; those before it may be by anybody.
    const protocol = request.headers['x-forwarded-proto']?.toString().split(',').at(-1)?.trim().toLowerCase()
    if (protocol === 'https') return undefined
    if (protocol === 'http')
      return reply.header('connection', 'close').redirect(redirectTo(baseUrl(), request.originalUrl), 308)
    if (protocol !== undefined)
      throw new RequestError(
        403,
        `this service is only reached by https, and the proxy does not say that it was used: it must set X-Forwarded-Proto to https or http; use ${baseUrl()}`
      )
    // Logged once, for whoever sets up the proxy.
    if (!hasSaid)
      log(
        `requests from ${peer} have no X-Forwarded-Proto and count as https: if the proxy serves plain HTTP too, tokens may cross the network unencrypted; let it set the header to the protocol of its caller (nginx: proxy_set_header X-Forwarded-Proto $scheme)`
      )
    hasSaid = true
    return undefined
  })
}
