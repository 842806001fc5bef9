import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import { cannotFind } from '../find-run.js'
import type { Accounts, User } from '../accounts/users.js'
import { type Front, foreignPage } from '../http/front.js'
import { admitToPage, isPageRequest } from '../pages/page-access.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it. */
    user: User
  }
  interface FastifyContextConfig {
    /** Answers without a token or a session: a page that is for everyone, or a probe from any host. */
    open?: 'page' | 'probe'
  }
}

export interface Guarded {
  readonly accounts: Accounts
  readonly front: Front
  readonly vendor: string
}

/** Lets nobody in without a token, or a session for the pages. */
export function addGuards(app: FastifyInstance, guarded: Guarded): void {
  app.decorateRequest('user')
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.open === 'probe') return undefined
    guarded.front.check(request)
    const user = findCaller(request, guarded.accounts)
    if (user) request.user = user
    if (isPageRequest(request)) {
      if (!user) admitToPage(request, reply, guarded)
      if (reply.sent) return reply
    } else {
      checkSite(request)
      if (!user) {
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

/** A browser that once got the token would send it with requests from any page; it also says which site the page is from. */
function checkSite(request: FastifyRequest): void {
  if (['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']))) throw foreignPage()
}

function findCaller({ headers }: FastifyRequest, accounts: Accounts): User | undefined {
  const encoded = /^basic\s+([\w+/]+=*)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  const [token = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return token !== '' && rest.join(':') === '' && rest.length > 0 ? accounts.findByToken(token) : undefined
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
