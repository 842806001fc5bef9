import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import type { Accounts } from '../accounts/users.js'
import type { Front } from '../http/front.js'

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

interface PagePorts {
  readonly accounts: Accounts
  readonly front: Front
}

/** The permalink and the API's short path are the same address; browsers ask for HTML, and never under `/api`. */
export function isPageRequest(request: FastifyRequest): boolean {
  const { page } = request.routeOptions.config
  if (page === undefined || request.originalUrl.startsWith('/api/')) return false
  return page === 'always' || /\btext\/html\b/.test(request.headers.accept ?? '')
}

/**
 * Lets a browser in by its cookie. It gets one for the token in the address of its first visit and is redirected to the
 * same address without the token. The cookie is not a token: it opens the pages, but not the API.
 */
export function admitToPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { accounts, front }: PagePorts
): void {
  const { token } = request.query as { token?: unknown }
  const isVisit = request.method === 'GET' && typeof token === 'string'
  const visitor = isVisit ? accounts.findByToken(token) : undefined
  const { name, attributes } = front.cookie()
  if (visitor) {
    const cookie = `${name}=${accounts.openSession(visitor)}; ${attributes}`
    const path = new URL(request.originalUrl.replace(/^\/+/, '/'), 'http://localhost').pathname
    void reply.headers(PAGE_HEADERS).header('set-cookie', cookie).redirect(path, 303)
    return
  }
  const user = token === undefined ? accounts.findBySession(readCookie(request, name)) : undefined
  if (!user)
    throw new RequestError(
      401,
      'Open this page at the address that the service printed when it started: the one with the token.'
    )
  request.user = user
}

function readCookie(request: FastifyRequest, name: string): string {
  const pairs = (request.headers.cookie ?? '').split(/;\s*/)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}
