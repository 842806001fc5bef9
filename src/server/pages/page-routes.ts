import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceFacts } from '../service-facts.js'
import { RequestError } from '../errors.js'
import { EventStream } from './event-stream.js'
import { findRun } from '../find-run.js'
import { PAGE_HEADERS } from './page-access.js'
import type { RenderedPage } from '../../report/page/served-pages.js'
import { readPageNumber } from '../paging.js'
import { queryOf, readRunFilter } from '../run-filter.js'
import { readThresholds } from '../judging/read-thresholds.js'
import type { Verdicts } from '../judging/verdicts.js'
import type { ListPlace, RunPages } from './run-pages.js'
import type { Runs } from '../runs/runs.js'

/** The list of runs, the events for open pages, the stop button and the box for thresholds. A run's own page is at its permalink. */
export function addPageRoutes(
  app: FastifyInstance,
  { facts, runs, verdicts, pages }: { facts: ServiceFacts; runs: Runs; verdicts: Verdicts; pages: RunPages }
): void {
  const path = `/${facts.words.runs}/:id`
  const config = { page: 'always' } as const
  app.get('/', { config }, (request, reply) => sendList(request, reply, pages))
  app.get('/events', { config, exposeHeadRoute: false }, (request, reply) => {
    const place = readPlace(request)
    pages.requirePlace(place)
    pages.watchList(place, new EventStream(reply))
  })
  app.get(`${path}/events`, { config, exposeHeadRoute: false }, (request, reply) => {
    pages.watchRun(findRun(request, facts), new EventStream(reply))
  })
  app.post(`${path}/stop`, { config: { ...config, effect: 'run.stop' } }, async (request, reply) => {
    requireOwnPage(request, 'Stop a run')
    const run = findRun(request, facts)
    await runs.stop(run)
    facts.store.flush()
    return reply.code(204).headers(PAGE_HEADERS).send()
  })
  app.post(
    `${path}/thresholds`,
    { config: { ...config, effect: 'run.thresholds' } },
    async (request, reply) => {
      requireOwnPage(request, 'Change thresholds')
      const run = findRun(request, facts)
      const sent = readForm(request)
      const read = readThresholds(sent)
      if ('problems' in read) {
        const { thresholds: text = '', warm_up: warmUp = '' } = sent
        const refused = { text, warmUp, problems: read.problems }
        return sendPage(reply.code(422), await pages.runPage(run, request.user, refused))
      }
      verdicts.replace(run, read.thresholds)
      facts.store.flush()
      return reply.headers(PAGE_HEADERS).redirect(`/${facts.words.runs}/${run.id}`, 303)
    }
  )
  app.get('/favicon.ico', { config }, (_request, reply) => reply.code(204).send())
}

async function sendList(
  request: FastifyRequest,
  reply: FastifyReply,
  pages: RunPages
): Promise<FastifyReply> {
  const place = readPlace(request)
  // A form sends its empty fields too; an address that people share has only what matters.
  const isUntidy = Object.values(request.query as object).includes('')
  const { page, filter } = place
  if (isUntidy)
    return reply.headers(PAGE_HEADERS).redirect(`/${queryOf(filter, page === 1 ? undefined : page)}`, 303)
  return sendPage(reply, await pages.listPage(place, request.user))
}

function readPlace(request: FastifyRequest): ListPlace {
  return { page: readPageNumber(request), filter: readRunFilter(request) }
}

/** The guard has rejected foreign pages; a request without an origin is not from one of ours. */
function requireOwnPage({ headers }: FastifyRequest, what: string): void {
  if (headers.origin === undefined) throw new RequestError(403, `${what} from its page, or through the API.`)
}

type FormValues = Readonly<Partial<Record<'thresholds' | 'warm_up', string>>>

/** Only what a form sends: anything else must not count as an empty box. */
function readForm({ body }: FastifyRequest): FormValues {
  const { fields } = (body ?? {}) as { fields?: unknown }
  const pairs = Array.isArray(fields) ? fields : [undefined]
  if (!pairs.every(isField)) throw new RequestError(422, 'Send the thresholds as a form.')
  return Object.fromEntries(pairs.filter(([name]) => name === 'thresholds' || name === 'warm_up'))
}

function isField(pair: unknown): pair is readonly [string, string] {
  return Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')
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
