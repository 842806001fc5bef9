import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import { RequestError } from '../errors.js'
import { type FailedLogins, RETRY_AFTER_SEC } from '../accounts/failed-logins.js'
import type { Accounts, User } from '../accounts/users.js'
import type { Front } from '../http/front.js'
import { loginPath } from './next-path.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The service's pages or parts of them: `always`, or `html` only if the client asks for HTML. */
    page?: 'always' | 'html'
  }
}

/** For every reply to a browser: no caching, no framing, no sniffing. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin'
}

/** How soon an open page notices that its session has ended. */
const LOOK_AGAIN_MS = 10_000

export interface PagePorts {
  readonly accounts: Accounts
  readonly front: Front
  readonly clock: Clock
  readonly failedLogins: FailedLogins
}

/** The permalink and the API's short path are the same address; browsers ask for HTML, and never under `/api`. */
export function isPageRequest(request: FastifyRequest): boolean {
  const { page } = request.routeOptions.config
  if (page === undefined || request.originalUrl.startsWith('/api/')) return false
  return page === 'always' || asksForHtml(request)
}

/**
 * Lets a browser in by its cookie; without one it is sent to the login. The cookie is not a token: it opens the pages, but not the
 * API. Where there is one user, the token in the address of the first visit is a login too.
 */
export async function admitToPage(
  request: FastifyRequest,
  reply: FastifyReply,
  ports: PagePorts
): Promise<void> {
  const { accounts, front } = ports
  const { token } = request.query as { token?: unknown }
  if (token !== undefined && accounts.takesTokenInAddress) return admitByAddress(request, reply, ports)
  const cookie = readCookie(request, front.cookie().name)
  const user = accounts.findBySession(cookie)
  if (user) {
    request.user = user
    endWithSession(reply, cookie, ports)
  } else if (['GET', 'HEAD'].includes(request.method) && asksForHtml(request))
    void reply.headers(PAGE_HEADERS).redirect(loginPath(request.originalUrl), 303)
  else throw new RequestError(401, 'Your session has ended: sign in at /login.')
}

/** Slows down the reply to a wrong token. */
export async function refuseGuess(
  request: FastifyRequest,
  reply: FastifyReply,
  failedLogins: FailedLogins
): Promise<void> {
  request.audited.login = 'wrong'
  if (await failedLogins.slowDown(request.ip)) return
  void reply.header('retry-after', String(RETRY_AFTER_SEC))
  throw new RequestError(
    429,
    `too many wrong tokens from your address; try again in ${RETRY_AFTER_SEC} seconds, with the right one`
  )
}

/** Starts a session in the browser. */
export function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { user, accounts, front }: { user: User; accounts: Accounts; front: Front }
): void {
  const { name, attributes } = front.cookie()
  request.user = user
  request.audited.login = 'right'
  void reply.header('set-cookie', `${name}=${accounts.openSession(user)}; ${attributes}`)
}

export function readCookie(request: FastifyRequest, name: string): string {
  const pairs = (request.headers.cookie ?? '').split(/;\s*/)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}

/** The browser gets a cookie and is redirected to the same address without the token. */
async function admitByAddress(
  request: FastifyRequest,
  reply: FastifyReply,
  { accounts, front, failedLogins }: PagePorts
): Promise<void> {
  const { token } = request.query as { token?: unknown }
  const isVisit = request.method === 'GET' && typeof token === 'string'
  const user = isVisit ? accounts.findByToken(token) : undefined
  if (!user) {
    await refuseGuess(request, reply, failedLogins)
    throw new RequestError(
      401,
      'The token in this address is wrong. Open the address that the service printed when it started, or sign in at /login.'
    )
  }
  signIn(request, reply, { user, accounts, front })
  const path = new URL(request.originalUrl.replace(/^\/+/, '/'), 'http://localhost').pathname
  void reply.headers(PAGE_HEADERS).redirect(path, 303)
}

/** Events go on for hours: they end soon after a logout, or when the user's token is replaced. An open page counts as a visit. */
function endWithSession({ raw }: FastifyReply, cookie: string, { accounts, clock }: PagePorts): void {
  const look = (): void => {
    if (accounts.findBySession(cookie)) cancel = clock.after(LOOK_AGAIN_MS, look)
    else raw.destroy()
  }
  let cancel = clock.after(LOOK_AGAIN_MS, look)
  raw.once('close', () => cancel())
}

function asksForHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}
