import { createServer } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { createRangeCheck, isLoopback } from '../../service-config/addresses.js'
import { ConfigProblem } from '../../service-config/config-error.js'
import type { ServiceConfig } from '../../service-config/config.js'
import type { Clock } from '../clock.js'
import { readCertificate, watchCertificate } from './certificate.js'
import { tidyForwardedFor } from './forwarded-for.js'
import { checkOrigin, type Front, plainCookie } from './front.js'
import { limitedOptions, limitServer } from './limited-server.js'
import { DEFAULT_LIMITS, type Limits } from './limits.js'
import { explainListen } from './listen-errors.js'
import { requireProxy } from './require-proxy.js'
import { createSecureServer } from './secure-server.js'

interface FrontParts {
  readonly clock: Clock
  readonly log: (line: string) => void
  /** In replies that no route gives. */
  readonly headers?: Readonly<Record<string, string>>
  readonly limits?: Limits
}

interface PublicFront extends Front {
  /** The address and port on this machine; known once it listens. */
  listening(): string
}

type Reach = Pick<ServiceConfig, 'listen' | 'externalUrl' | 'tls' | 'trustedProxies'>

/** As the config file says: https, plain HTTP behind a proxy that serves https, or plain HTTP on loopback. */
export async function createPublicFront(config: Reach, parts: FrontParts): Promise<PublicFront> {
  const { listen, externalUrl, tls, trustedProxies } = config
  const { clock, log, headers = {}, limits = DEFAULT_LIMITS } = parts
  const isTrusted = createRangeCheck(trustedProxies ?? [])
  const isSecure = tls !== undefined || trustedProxies !== undefined
  const pair = tls && (await readCertificate(tls))
  let port = listen.port
  const baseUrl = (): string => externalUrl ?? addressOf(listen.host, port, isSecure)
  return {
    settings: {
      ...(trustedProxies && { trustProxy: [...trustedProxies] }),
      serverFactory: (handler) => {
        const server = pair
          ? createSecureServer(handler, { pair, limits, baseUrl, headers })
          : createServer(limitedOptions(limits), handler)
        limitServer(server, { limits, isExempt: (address) => isLoopback(address) || isTrusted(address) })
        if (trustedProxies) tidyForwardedFor(server)
        return server
      }
    },
    prepare: (app) => {
      if (trustedProxies) requireProxy(app, { isTrusted, baseUrl, log })
    },
    listen: async (app) => {
      await listenAt(app, listen, (host) => `listening at ${host}; callers reach the service at ${baseUrl()}`)
      port = (app.server.address() as AddressInfo).port
      if (tls && pair) await followCertificate(app, { ...tls, pair, clock, log })
    },
    baseUrl,
    listening: () => `${bracket(listen.host)}:${port}`,
    check: (request) => checkOrigin(request, [baseUrl(), `${request.protocol}://${request.host}`]),
    // Bound to the host, so that no other one can set it.
    cookie: () =>
      isSecure
        ? { name: '__Host-loadgate', attributes: 'Path=/; Secure; HttpOnly; SameSite=Strict' }
        : plainCookie(port)
  }
}

async function followCertificate(
  app: FastifyInstance,
  watch: Omit<Parameters<typeof watchCertificate>[0], 'onChange'>
): Promise<void> {
  const server = app.server as SecureServer
  const stop = await watchCertificate({ ...watch, onChange: (pair) => server.setSecureContext(pair) })
  server.once('close', stop)
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
    const why = explainListen(thrown)
    throw why === undefined
      ? thrown
      : new ConfigProblem(`listen: ${bracket(host)}:${port} ${why}`, { cause: thrown })
  }
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
