import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createRangeCheck } from '../../service-config/addresses.js'
import { ConfigProblem } from '../../service-config/config-error.js'
import type { ServiceConfig } from '../../service-config/config.js'
import { clauseOf, RequestError } from '../errors.js'
import { isSameSecret } from '../secrets.js'
import type { Metrics } from './metrics.js'

/** For callers with the token of the file, as it is now, or from the addresses. */
export function addMetricsRoute(
  app: FastifyInstance,
  metrics: Metrics,
  { tokenFile, allow = [] }: NonNullable<ServiceConfig['metrics']>
): void {
  const isAllowed = createRangeCheck(allow)
  app.get('/metrics', { config: { open: 'probe' } }, async (request, reply) => {
    if (tokenFile === undefined) {
      if (!isAllowed(request.ip)) throw new RequestError(403, `the figures are not for ${request.ip}`)
    } else if (!(await hasToken(request, tokenFile))) {
      void reply.header('www-authenticate', 'Bearer realm="loadgate metrics"')
      throw new RequestError(401, 'send the token of the figures: Authorization: Bearer …')
    }
    const { text, type } = await metrics.render()
    return reply.type(type).send(text)
  })
}

/** For whoever scrapes a service whose config file does not say who may. */
export function refuseMetrics(app: FastifyInstance): void {
  app.get('/metrics', { config: { open: 'probe' } }, () => {
    throw new RequestError(404, 'nobody may read the figures: the config file of the service has no metrics')
  })
}

/** Read for every call, so that a changed one counts at once. */
async function hasToken({ headers }: FastifyRequest, tokenFile: string): Promise<boolean> {
  const token = await readToken(tokenFile).catch(() => '')
  const [, given = ''] = /^bearer\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return token !== '' && isSameSecret(given, token)
}

async function readToken(tokenFile: string): Promise<string> {
  return (await readFile(tokenFile, 'utf8')).trim()
}

/** At the start: a file that cannot be read would only be noticed when the figures are missed. */
export async function requireMetricsToken(tokenFile: string): Promise<void> {
  const token = await readToken(tokenFile).catch((thrown: unknown) => {
    throw new ConfigProblem(`metrics.token-file cannot be read: ${clauseOf(thrown)}`, { cause: thrown })
  })
  if (!/^\S{16,}$/.test(token))
    throw new ConfigProblem(
      `metrics.token-file: ${tokenFile} must hold one token of at least 16 characters, without spaces; make one with \`openssl rand -hex 32\``
    )
}
