import type { FastifyReply } from 'fastify'
import type { RenderedPage } from '../../report/page/served-pages.js'

/** For every reply to a browser: no caching, no framing, no sniffing. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin'
}

export function sendPage(reply: FastifyReply, { html, policy }: RenderedPage): FastifyReply {
  return reply
    .headers({
      ...PAGE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${policy}; frame-ancestors 'none'`
    })
    .send(html)
}
