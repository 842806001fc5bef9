import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify'
import { RequestError } from '../errors.js'
import { explainListen } from './listen-errors.js'

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
