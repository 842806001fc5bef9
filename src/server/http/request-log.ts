import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController
} from 'fastify'
import type { Clock } from '../clock.js'

type WriteLine = (line: string) => void

/** One JSON object per line, in the same form as those of the web framework. */
export function createJsonLog(write: WriteLine, clock: Clock): (line: string) => void {
  return (msg) => write(JSON.stringify({ level: 'info', time: new Date(clock.now()).toISOString(), msg }))
}

/** The web framework's own logger, without what may hold a secret: no headers, no queries. */
export function logSettings(
  write: WriteLine,
  clock: Clock
): Pick<FastifyServerOptions, 'logger' | 'logController'> {
  return {
    // One line per request, when it has ended: see `logRequests`.
    logController: new LogController({ disableRequestLogging: true }),
    logger: {
      level: 'info',
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      serializers: { req: () => ({}), res: () => ({}) },
      stream: { write: (line) => write(line.trimEnd()) }
    }
  }
}

/** Who asked for what, from where, and how it went. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // The framework's own hook for the end is not called for whoever hangs up.
    reply.raw.once('close', () => request.log.info(describe(request, reply), 'request'))
    done()
  })
}

function describe(request: FastifyRequest, reply: FastifyReply): Record<string, unknown> {
  return {
    method: request.method,
    path: pathOf(request),
    route: request.routeOptions.url ?? null,
    status: reply.raw.headersSent ? reply.statusCode : null,
    ms: Math.round(reply.elapsedTime),
    address: request.ip,
    user: (request.user as FastifyRequest['user'] | undefined)?.name ?? null,
    ...(!reply.raw.writableFinished && { hung_up: true })
  }
}

/** A token may be in the query. */
function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.replace(/[?#].*$/s, '').slice(0, 300)
}
