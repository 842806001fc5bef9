import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import { isSameSecret } from '../secrets.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A page of the service or part of one: by `always`, or by `html` for who asks for that. */
    page?: 'always' | 'html'
  }
}

/** What every reply to a browser carries: it is for nobody's cache, frame or guess but the page's own. */
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

/** The permalink and the API's short path are the same address; a browser asks for a page, and by `/api` nobody does. */
export function isPageRequest(request: FastifyRequest): boolean {
  const { page } = request.routeOptions.config
  if (page === undefined || request.originalUrl.startsWith('/api/')) return false
  return page === 'always' || /\btext\/html\b/.test(request.headers.accept ?? '')
}

/**
 * Lets a browser in by its cookie. It gets one for the token in the address of its first visit, and goes on to the same
 * address without it. The cookie is no token: it opens the pages, and nothing of the API.
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
      'This page opens at the address that the service printed when it started, the one with the token.'
    )
}

/** Cookies do not tell ports apart: without its number, two services would take each other's. */
function cookieName(ports: PagePorts): string {
  return `loadgate-${ports.port()}`
}

/** Made from the token, so that a service that starts again with the same one knows its visitors. */
function cookieValue({ token }: PagePorts): string {
  return createHmac('sha256', token).update('page').digest('base64url')
}

function readCookie(request: FastifyRequest, name: string): string {
  const pairs = (request.headers.cookie ?? '').split(/;\s*/)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}
