import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import { cannotFind } from '../find-run.js'
import { admitToPage, isPageRequest } from '../pages/page-access.js'
import { isSameSecret } from '../secrets.js'

export interface Guarded {
  readonly token: string
  readonly vendor: string
  /** `host:port` of the service, known once it listens. */
  port(): number
}

/** Accepts requests from this machine's own callers only: any page or process can reach a loopback server. */
export function addGuards(app: FastifyInstance, guarded: Guarded): void {
  app.addHook('onRequest', async (request, reply) => {
    checkHost(request, guarded)
    checkOrigin(request, guarded)
    if (isPageRequest(request)) {
      if (!hasToken(request, guarded.token)) admitToPage(request, reply, guarded)
      if (reply.sent) return reply
    } else {
      checkSite(request)
      if (!hasToken(request, guarded.token)) {
        void reply.header('www-authenticate', 'Basic realm="loadgate", charset="UTF-8"')
        throw new RequestError(
          401,
          'the API token is missing or wrong: send it as the user name, with an empty password'
        )
      }
      // Links carry a prefix under which there are no pages.
      if (request.routeOptions.config.page === 'always') throw cannotFind()
    }
    checkVersion(request, guarded.vendor)
    return undefined
  })
}

/** DNS rebinding: a foreign host name that resolves to this address gets a page around the browser's same-origin policy. */
function checkHost(request: FastifyRequest, guarded: Guarded): void {
  const names = [`127.0.0.1:${guarded.port()}`, `localhost:${guarded.port()}`]
  if (!names.includes(request.headers.host ?? '')) {
    throw new RequestError(403, 'this service only accepts requests to its own address')
  }
}

function checkOrigin(request: FastifyRequest, guarded: Guarded): void {
  const { origin } = request.headers
  const own = [`http://127.0.0.1:${guarded.port()}`, `http://localhost:${guarded.port()}`]
  if (origin !== undefined && !own.includes(origin)) throw foreignPage()
}

/** A browser that once got the token would send it with requests from any page; it also says which site the page is from. */
function checkSite(request: FastifyRequest): void {
  if (['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']))) throw foreignPage()
}

function foreignPage(): RequestError {
  return new RequestError(403, 'this service does not accept requests from pages of other sites')
}

function hasToken(request: FastifyRequest, token: string): boolean {
  const encoded = /^basic\s+([\w+/]+=*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  return isSameSecret(Buffer.from(encoded, 'base64').toString('utf8'), `${token}:`)
}

/** v2 is the only version and the default; a caller that asks for another version must not get v2. */
function checkVersion(request: FastifyRequest, vendor: string): void {
  const ranges = (request.headers.accept ?? '').split(',').map((range) => (range.split(';')[0] ?? '').trim())
  const versioned = ranges.filter((range) => /^application\/vnd\..+\+json$/i.test(range))
  if (versioned.length === 0) return
  const offered = `application/vnd.${vendor}.v2+json`
  if (!versioned.some((range) => range.toLowerCase() === offered.toLowerCase())) {
    throw new RequestError(406, `this service supports ${offered}, not ${versioned.join(', ')}`)
  }
}
