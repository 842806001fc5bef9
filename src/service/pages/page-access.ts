import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../contract/clock.js'
import { messageOf } from '../../contract/text.js'
import { attempt, RequestError } from '../errors.js'
import { route, type Route, type ServiceFacts } from '../service-facts.js'
import { type Accounts, TokenError, type User } from '../accounts/users.js'
import { whenFree } from '../store/when-free.js'
import type { LoginForm } from '../../report/page/served/served-pages.js'
import { readCookie, signOnCookie, signsOn } from './cookies.js'
import { loginPath, readForm, readNextPath, PAGE_HEADERS, sendPage, signOnPath } from './send-page.js'
import { describeExpired } from '../accounts/token-end.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a wrong token of the caller's network. */
    countGuess: ReturnType<FastifyInstance['createRateLimit']>
    countSignIn: ReturnType<FastifyInstance['createRateLimit']>
  }
  interface FastifyContextConfig {
    /** The service's pages or parts of them: `always`, `html` only if the client asks for HTML, `button` only if a page sends it. */
    page?: 'always' | 'html' | 'button'
  }
}

/** How soon an open page notices that its session has ended. */
const LOOK_AGAIN_MS = 10_000

export interface PagePorts extends ServiceFacts {
  readonly loadPages: NonNullable<ServiceFacts['loadPages']>
}

/** The permalink and the API's short path are the same address; browsers ask for HTML, and never under `/api`. */
export function isPageRequest(request: FastifyRequest): boolean {
  const { page } = request.routeOptions.config
  if (page === undefined || request.originalUrl.startsWith('/api/')) return false
  // The guard has rejected foreign pages; ours always have their origin, and other clients have none.
  if (page === 'button') return request.headers.origin !== undefined
  return page === 'always' || asksForHtml(request)
}

/** A cookie opens the pages, but not the API; without one there is the login form. With a single user, a token in the address works too. */
export async function admitToPage(request: FastifyRequest, reply: FastifyReply, ports: PagePorts) {
  const { accounts } = ports
  const { token } = request.query as { token?: unknown }
  if (token !== undefined && accounts.takesTokenInAddress) return admitByAddress(request, reply, ports)
  const user = findVisitor(request, ports)
  if (user) {
    request.user = user
    return
  }
  if (!['GET', 'HEAD'].includes(request.method) || !asksForHtml(request)) throw endedSession()
  // A browser that follows a link of another site leaves the cookie out. What a page of this service leads to gets it; and the login
  // sends whoever has a session on, and never comes here again.
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  const next = readNextPath(request.originalUrl)
  if (site === 'cross-site' && mode === 'navigate')
    sendPage(reply.code(401), (await ports.loadPages()).renderDetourPage(loginPath(request.originalUrl)))
  else if (signsOn(request, ports)) goTo(reply, signOnPath.from(next))
  else await sendLoginForm(reply.code(401), { next }, ports)
}

export function findVisitor(
  request: FastifyRequest,
  { accounts, front }: Pick<PagePorts, 'accounts' | 'front'>
): User | undefined {
  return accounts.findBySession(readCookie(request, front.cookie().name))
}

export function endedSession(): RequestError {
  return new RequestError(401, 'Your session has ended: log in at /login.')
}

export async function sendLoginForm(
  reply: FastifyReply,
  form: LoginForm,
  { loadPages, signOn }: PagePorts
): Promise<FastifyReply> {
  const way = signOn && { signOn: { path: signOnPath.from(form.next), host: signOn.provider.host } }
  return sendPage(reply, (await loadPages()).renderLoginPage({ ...form, ...way }))
}

/** Whose token it is. One that an issuer has not made counts as a guess; one that cannot be checked now, or that no rule allows, does not. */
export async function admitToken(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, accounts }: { token: string; accounts: Accounts }
): Promise<User | undefined> {
  try {
    return await accounts.admit(token)
  } catch (thrown) {
    if (!(thrown instanceof TokenError)) throw thrown
    request.audited.reason = thrown.message
    if (thrown.statusCode === 401) {
      void reply.header('www-authenticate', 'Bearer realm="loadgate", error="invalid_token"')
      await refuseGuess(request, reply)
    }
    if (thrown.statusCode === 503) request.audited.login = 'wrong'
    throw thrown
  }
}

/** A caller who goes on guessing is refused for the rest of the minute. */
export async function refuseGuess(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  request.audited.login = 'wrong'
  await refuseMany(request, reply, { count: 'countGuess', what: 'wrong tokens' })
}

/** Counted per network and minute. */
export async function refuseMany(
  request: FastifyRequest,
  reply: FastifyReply,
  { count, what }: { count: 'countGuess' | 'countSignIn'; what: string }
): Promise<void> {
  const counted = await request.server[count](request)
  if (counted.isAllowed || !counted.isExceeded) return
  void reply.header('retry-after', String(counted.ttlInSeconds))
  throw new RequestError(
    429,
    `too many ${what} from your address; try again in ${counted.ttlInSeconds} seconds`
  )
}

/** The right token, too late: nothing was guessed. */
export function refuseExpired(request: FastifyRequest, expired: User): RequestError {
  request.audited.login = 'wrong'
  request.audited.reason = `the token of ${expired.name} has expired`
  return new RequestError(401, describeExpired(expired))
}

interface SignIn extends Pick<PagePorts, 'accounts' | 'front' | 'clock'> {
  readonly user: User
  readonly token: string
}

async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { user, token, accounts, front, clock }: SignIn
): Promise<void> {
  const { name, attributes } = front.cookie()
  request.user = user
  const session = await whenFree(() => accounts.openSession(user, token), clock).catch((thrown: unknown) => {
    request.audited.reason = messageOf(thrown)
    throw thrown
  })
  request.audited.login = 'right'
  void reply.header('set-cookie', `${name}=${session}; ${attributes}`)
}

/** The browser gets a cookie and is redirected to the same address without the token. */
async function admitByAddress(request: FastifyRequest, reply: FastifyReply, ports: PagePorts) {
  const { accounts } = ports
  const { token } = request.query as { token?: unknown }
  const isVisit = request.method === 'GET' && typeof token === 'string'
  const user = isVisit ? await accounts.admit(token) : undefined
  if (!isVisit || !user) {
    await refuseGuess(request, reply)
    throw new RequestError(
      401,
      'The token in this address is wrong. Open the address that the service printed when it started, or log in at /login.'
    )
  }
  await signIn(request, reply, { ...ports, user, token })
  const path = new URL(request.originalUrl.replace(/^\/+/, '/'), 'http://localhost').pathname
  void reply.headers(PAGE_HEADERS).redirect(path, 303)
}

/** Events go on for hours: they end soon after a logout, when the user's token is replaced, or when the user sees other runs than before. An open page counts as a visit. */
export function endWithAccess({ raw }: FastifyReply, hasAccess: () => boolean, clock: Clock): void {
  const look = (): void => {
    // A database that cannot be read says nothing about anybody's right; the browser asks again.
    if (attempt(hasAccess)) cancel = clock.after(LOOK_AGAIN_MS, look)
    else raw.destroy()
  }
  let cancel = clock.after(LOOK_AGAIN_MS, look)
  raw.once('close', () => cancel())
}

function asksForHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

const WRONG_TOKEN = 'This token is wrong. Check that you copied all of it.'

/** The form in which a person types in a token, and the way out. It works without JavaScript. */
export function loginRoutes(ports: PagePorts): Route[] {
  const { accounts, front } = ports
  const config = { page: 'always', open: 'page' } as const
  return [
    route('GET', '/login', config, async (request, reply) => {
      const next = readNextPath((request.query as { next?: unknown }).next)
      if (findVisitor(request, ports)) return goTo(reply, next)
      return signsOn(request, ports)
        ? goTo(reply, signOnPath.from(next))
        : sendLoginForm(reply, { next }, ports)
    }),
    route('POST', '/login', { ...config, effect: 'login' }, async (request, reply) => {
      const fields = readForm(request, 'Log in')
      const next = readNextPath(fields.get('next'))
      const token = (fields.get('token') ?? '').trim()
      const user = await admitToken(request, reply, { token, accounts })
      const expired = user ? undefined : accounts.findExpired(token)
      if (expired) {
        const problem = refuseExpired(request, expired).message
        return sendLoginForm(reply.code(401), { next, problem }, ports)
      }
      if (!user) {
        await refuseGuess(request, reply)
        return sendLoginForm(reply.code(401), { next, problem: WRONG_TOKEN }, ports)
      }
      await signIn(request, reply, { ...ports, user, token })
      return goTo(reply, next)
    }),
    route('POST', '/logout', { ...config, effect: 'logout' }, async (request, reply) => {
      readForm(request, 'Log out')
      const { name, attributes } = front.cookie()
      const cookie = readCookie(request, name)
      // Whatever happens to the session, as on a full disk: this browser forgets it.
      const forgotten = ports.signOn ? [signOnCookie(ports, 'sso', '', 0)] : []
      void reply.header('set-cookie', [`${name}=; ${attributes}; Max-Age=0`, ...forgotten])
      const user = accounts.findBySession(cookie)
      if (user) request.user = user
      const endUrl = user && (await ports.signOn?.endUrl(cookie))
      await whenFree(() => accounts.closeSession(cookie), ports.clock)
      if (endUrl === undefined) return goTo(reply, '/login')
      // By way of a page: the policy of our pages does not let a form lead to another site.
      const words =
        'You are logged out of loadgate. Your session at the provider of single sign-on ends next.'
      return sendPage(reply, (await ports.loadPages()).renderDetourPage(endUrl, words))
    })
  ]
}

function goTo(reply: FastifyReply, path: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).redirect(path, 303)
}
