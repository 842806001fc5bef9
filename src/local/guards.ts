import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from './errors.js'

export interface Guarded {
  readonly token: string
  readonly vendor: string
  /** `host:port` of the service, known once it listens. */
  port(): number
}

/** Lets a request in only from this machine's own callers: any page or process can reach a loopback server. */
export function addGuards(app: FastifyInstance, guarded: Guarded): void {
  app.addHook('onRequest', async (request, reply) => {
    checkHost(request, guarded)
    checkOrigin(request, guarded)
    if (!hasToken(request, guarded.token)) {
      void reply.header('www-authenticate', 'Basic realm="loadgate", charset="UTF-8"')
      throw new RequestError(
        401,
        'the API token is missing or wrong: send it as the user name, with an empty password'
      )
    }
    checkVersion(request, guarded.vendor)
  })
}

/** A foreign name that leads to this address is how a page gets around the browser's same-origin rule. */
function checkHost(request: FastifyRequest, guarded: Guarded): void {
  const names = [`127.0.0.1:${guarded.port()}`, `localhost:${guarded.port()}`]
  if (!names.includes(request.headers.host ?? '')) {
    throw new RequestError(403, 'this service answers to its own address only')
  }
}

function checkOrigin(request: FastifyRequest, guarded: Guarded): void {
  const { origin } = request.headers
  const own = [`http://127.0.0.1:${guarded.port()}`, `http://localhost:${guarded.port()}`]
  if (origin !== undefined && !own.includes(origin)) {
    throw new RequestError(403, 'this service does not answer to the pages of other sites')
  }
}

function hasToken(request: FastifyRequest, token: string): boolean {
  const encoded = /^basic\s+([\w+/]+=*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  // Digests have one length, so the comparison takes the same time for any guess.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(Buffer.from(encoded, 'base64').toString('utf8')), digest(`${token}:`))
}

/** v2 is the only version and the default; who asks for another one by name must not be given v2. */
function checkVersion(request: FastifyRequest, vendor: string): void {
  const ranges = (request.headers.accept ?? '').split(',').map((range) => (range.split(';')[0] ?? '').trim())
  const versioned = ranges.filter((range) => /^application\/vnd\..+\+json$/i.test(range))
  if (versioned.length === 0) return
  const offered = `application/vnd.${vendor}.v2+json`
  if (!versioned.some((range) => range.toLowerCase() === offered.toLowerCase())) {
    throw new RequestError(406, `this service answers ${offered}, not ${versioned.join(', ')}`)
  }
}
