import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import { isSameSecret } from '../secrets.js'

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
  readonly token: string
  port(): number
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
export function admitToPage(request: FastifyRequest, reply: FastifyReply, ports: PagePorts): void {
  const { token } = request.query as { token?: unknown }
  const isVisit = request.method === 'GET' && typeof token === 'string'
  if (isVisit && isSameSecret(token, ports.token)) {
    const cookie = `${cookieName(ports)}=${cookieValue(ports)}; Path=/; HttpOnly; SameSite=Strict`
    const path = new URL(request.originalUrl.replace(/^\/+/, '/'), 'http://localhost').pathname
    void reply.headers(PAGE_HEADERS).header('set-cookie', cookie).redirect(path, 303)
    return
  }
  if (token !== undefined || !isSameSecret(readCookie(request, cookieName(ports)), cookieValue(ports)))
    throw new RequestError(
      401,
      'Open this page at the address that the service printed when it started: the one with the token.'
    )
}

/** Cookies ignore ports: without the number, two services would use each other's. */
function cookieName(ports: PagePorts): string {
  return `loadgate-${ports.port()}`
}

/** Derived from the token, so that a restarted service with the same token recognizes its visitors. */
function cookieValue({ token }: PagePorts): string {
  return createHmac('sha256', token).update('page').digest('base64url')
}

function readCookie(request: FastifyRequest, name: string): string {
  const pairs = (request.headers.cookie ?? '').split(/;\s*/)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}
