import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import { cannotFind, type ServiceFacts } from '../service-facts.js'
import { type AuditLog, auditRequests } from '../accounts/audit-log.js'
import { checkPermission, requireDeclaredEffects } from '../accounts/permissions.js'
import { warnOfEnd } from '../accounts/token-end.js'
import type { User } from '../accounts/users.js'
import { foreignPage } from '../http/front.js'
import {
  admitToken,
  admitToPage,
  endedSession,
  endWithAccess,
  findVisitor,
  isPageRequest,
  refuseExpired,
  refuseGuess
} from '../pages/page-access.js'

declare module 'fastify' {
  interface FastifyRequest {
    user: User
    /** Throws if the caller may not do this any more: an upload may take hours. */
    checkAgain(): void
  }
  interface FastifyContextConfig {
    /** Answers without a token or a session: a page that is for everyone, or a probe from any host. */
    open?: 'page' | 'probe'
  }
}

/** What whoever uses a token should know; clients show it. */
const WARNING_HEADER = 'x-loadgate-warning'

/** Wrong tokens per network and minute. A correct one is never refused, because many runners share an address. */
const MOST_GUESSES = 20
/** With the provider of single sign-on, which is asked for each of them; right ones too, as who it is is not known before. */
const MOST_SIGN_INS = 200
const MINUTE_MS = 60_000

/** Refuses callers without a token, or without a session for the pages, and whatever the role does not allow. */
export function addGuards(app: FastifyInstance, guarded: ServiceFacts, audit: AuditLog): void {
  void app.register(rateLimit, { global: false })
  app.after(() => {
    app.decorate('countGuess', app.createRateLimit({ max: MOST_GUESSES, timeWindow: MINUTE_MS }))
    app.decorate('countSignIn', app.createRateLimit({ max: MOST_SIGN_INS, timeWindow: MINUTE_MS }))
  })
  app.decorateRequest('user')
  app.decorateRequest('checkAgain', () => undefined)
  requireDeclaredEffects(app)
  auditRequests(app, { audit, clock: guarded.clock })
  app.addHook('onRequest', async (request, reply) => {
    const { open, page, effect } = request.routeOptions.config
    if (open === 'probe') return undefined
    guarded.front.check(request)
    const { loadPages } = guarded
    const isPage = loadPages !== undefined && isPageRequest(request)
    if (isPage && open === 'page') return undefined
    // A session says who it is: credentials that a proxy adds are not a guess.
    const token = isPage && findVisitor(request, guarded) ? undefined : readToken(request, { isPage })
    const { accounts } = guarded
    const user = token === undefined ? undefined : await admitToken(request, reply, { token, accounts })
    const expired = user || token === undefined ? undefined : accounts.findExpired(token)
    if (user) request.user = user
    else if (expired) throw refuseExpired(request, expired)
    else if (token !== undefined) await refuseGuess(request, reply)
    const warning = user && warnOfEnd(user, guarded.clock.now())
    if (warning !== undefined) void reply.header(WARNING_HEADER, warning)
    const findUser = (admitted?: User): User | undefined =>
      token !== undefined && user ? accounts.findByToken(token, admitted) : findVisitor(request, guarded)
    if (isPage) {
      if (!user) await admitToPage(request, reply, { ...guarded, loadPages })
      if (reply.sent) return reply
      const sight = guarded.seenBy(request.user).keyIn()
      const seesTheSame = (now: User | undefined): boolean =>
        now !== undefined && guarded.seenBy(now).keyIn() === sight
      endWithAccess(reply, () => seesTheSame(findUser()), guarded.clock)
    } else {
      // A browser that once got the token would send it with requests from any page; it also says which site the page is from.
      if (['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']))) throw foreignPage()
      if (!user) throw missingToken(reply)
      // Links have a prefix under which there are no pages.
      if (page === 'always') throw cannotFind()
    }
    const { id } = request.params as { id?: string }
    const check = (): void => {
      if (effect === undefined) return
      const { accounts, seenBy } = guarded
      checkPermission(request.user, { effect, id }, { seen: seenBy(request.user), accounts })
    }
    check()
    request.checkAgain = () => {
      const now = findUser(user)
      if (!now) throw isPage ? endedSession() : missingToken(reply)
      request.user = now
      check()
    }
    checkVersion(request, guarded.words.vendor)
    return undefined
  })
  // For routes whose body was read before they are called.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.routeOptions.config.effect !== undefined && request.body !== undefined) request.checkAgain()
    done()
  })
}

function missingToken(reply: FastifyReply): RequestError {
  void reply.header('www-authenticate', 'Basic realm="loadgate", charset="UTF-8"')
  return new RequestError(
    401,
    [
      'the API token is missing or wrong.',
      'With HTTP Basic it is the user name, with any password.',
      'As a bearer token it is sent as Authorization: Bearer <token>.',
      'The loadgate command line takes it from LOADGATE_TOKEN, the action from its input token.'
    ].join(' ')
  )
}

/** Undefined if there is nothing that could be one. A browser sends a proxy's own credentials, which have a password, with every page. */
function readToken({ headers }: FastifyRequest, { isPage }: { isPage: boolean }): string | undefined {
  const [, scheme = '', value = ''] = /^(basic|bearer)\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (!/^[\w+/]+=*$/.test(value)) return undefined
  const [, token, password] = /^([^:]+):(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? []
  return isPage && password !== '' ? undefined : token
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
