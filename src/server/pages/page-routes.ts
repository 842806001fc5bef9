import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceFacts } from '../service-facts.js'
import { RequestError } from '../errors.js'
import { EventStream } from './event-stream.js'
import { findRun } from '../find-run.js'
import { PAGE_HEADERS } from './page-access.js'
import type { RenderedPage } from '../../report/page/served-pages.js'
import { readPageNumber } from '../paging.js'
import type { RunPages } from './run-pages.js'
import type { Runs } from '../runs/runs.js'

/** The list of runs, the events for open pages, and the stop button. A run's own page is at its permalink. */
export function addPageRoutes(
  app: FastifyInstance,
  { facts, runs, pages }: { facts: ServiceFacts; runs: Runs; pages: RunPages }
): void {
  const path = `/${facts.words.runs}/:id`
  const config = { page: 'always' } as const
  app.get('/', { config }, async (request, reply) =>
    sendPage(reply, await pages.listPage(readListPage(request, pages)))
  )
  app.get('/events', { config, exposeHeadRoute: false }, (request, reply) => {
    pages.watchList(readListPage(request, pages), new EventStream(reply))
  })
  app.get(`${path}/events`, { config, exposeHeadRoute: false }, (request, reply) => {
    pages.watchRun(findRun(request, facts), new EventStream(reply))
  })
  app.post(`${path}/stop`, { config: { ...config, effect: 'run.stop' } }, async (request, reply) => {
    // The guard has rejected foreign pages; a request without an origin is not from one of ours.
    if (request.headers.origin === undefined)
      throw new RequestError(403, 'Stop a run from its page, or through the API.')
    const run = findRun(request, facts)
    await runs.stop(run)
    return reply.code(204).headers(PAGE_HEADERS).send()
  })
  app.get('/favicon.ico', { config }, (_request, reply) => reply.code(204).send())
}

/** A page of the list that exists. */
function readListPage(request: FastifyRequest, pages: RunPages): number {
  const page = readPageNumber(request)
  const { pageCount } = pages
  if (page > pageCount)
    throw new RequestError(404, `There is no page ${page} of the list of runs; the last one is ${pageCount}.`)
  return page
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
