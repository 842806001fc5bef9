import type { FastifyInstance, FastifyRequest } from 'fastify'
import { plainAddress } from '../../service-config/addresses.js'
import { RequestError } from '../errors.js'
import { redirectTo } from './redirect.js'

interface Proxy {
  readonly isTrusted: (address: string) => boolean
  readonly baseUrl: () => string
  readonly log: (line: string) => void
}

/**
 * Serves what the proxy got by https. Whoever does not come through it would send tokens in plain text, and could claim any
 * address. A proxy that says nothing of the protocol is taken for one that serves https alone, as the config file says.
 */
export function requireProxy(app: FastifyInstance, { isTrusted, baseUrl, log }: Proxy): void {
  let hasSaid = false
  app.addHook('onRequest', async (request, reply) => {
    // Probes come from the machine that the service runs on.
    if (request.routeOptions.config.open === 'probe') return undefined
    const peer = plainAddress(request.raw.socket.remoteAddress ?? '')
    if (!isTrusted(peer))
      throw new RequestError(403, `this service is only reached through its proxy: use ${baseUrl()}`)
    const protocol = forwardedProtocol(request)
    if (protocol === 'https') return undefined
    if (protocol === 'http') {
      const { status, location } = redirectTo(baseUrl(), request.originalUrl)
      return reply.header('connection', 'close').redirect(location, status)
    }
    if (protocol !== undefined)
      throw new RequestError(
        403,
        `this service is only reached by https, and the proxy does not say that it was used: it must set X-Forwarded-Proto to https or http; use ${baseUrl()}`
      )
    // Once: whoever sets up a proxy looks here.
    if (!hasSaid)
      log(
        `requests from ${peer} have no X-Forwarded-Proto and are taken for https: if the proxy serves plain HTTP too, tokens may cross the network unseen; let it set the header to the protocol of its caller (nginx: proxy_set_header X-Forwarded-Proto $scheme)`
      )
    hasSaid = true
    return undefined
  })
}

/** The last one is by the proxy that is nearest to us; those before it may be by anybody. */
function forwardedProtocol({ headers }: FastifyRequest): string | undefined {
  return headers['x-forwarded-proto']?.toString().split(',').at(-1)?.trim().toLowerCase()
}
