import type { FastifyReply, FastifyRequest } from 'fastify'
import { route, type Route, type ServiceFacts, findRun, queryOf, readRunFilter } from '../service-facts.js'
import { readPageNumber, RequestError } from '../errors.js'
import { EventStream, PAGE_HEADERS, sendPage, readForm } from './send-page.js'
import { readThresholds } from '../judging/read-thresholds.js'
import type { Verdicts } from '../judging/verdicts.js'
import type { ListPlace } from './run-lines.js'
import type { RunPages } from './run-pages.js'

export interface PageParts {
  readonly facts: ServiceFacts
  readonly verdicts: Verdicts
  readonly pages: RunPages
}

/** The list of runs, the events for open pages, the box for thresholds and the comparison of two runs. A run's own page is at its permalink. */
export function pageRoutes({ facts, verdicts, pages }: PageParts): Route[] {
  const path = `/${facts.words.runs}/:id`
  const config = { page: 'always' } as const
  return [
    route('GET', '/', config, (request, reply) => sendList(request, reply, pages)),
    route('GET', '/events', config, (request, reply) => {
      const place = readPlace(request)
      pages.requirePlace(place, request.user)
      pages.watchList(place, request.user, new EventStream(reply))
    }),
    route('GET', `${path}/events`, config, (request, reply) =>
      pages.watchRun(findRun(request, facts), request.user, new EventStream(reply))
    ),
    route('POST', `${path}/thresholds`, { ...config, effect: 'run.thresholds' }, (request, reply) =>
      changeThresholds(request, reply, { facts, verdicts, pages })
    ),
    route('GET', `${path}/compare`, config, async (request, reply) => {
      const { with: other = '' } = request.query as { with?: unknown }
      if (typeof other !== 'string')
        throw new RequestError(400, 'A run is compared with one other run: give `with` once.')
      const run = findRun(request, facts)
      return sendPage(reply, await pages.comparePage(run, other === '' ? undefined : other, request.user))
    }),
    route('GET', '/favicon.ico', config, (_request, reply) => reply.code(204).send())
  ]
}

async function changeThresholds(
  request: FastifyRequest,
  reply: FastifyReply,
  { facts, verdicts, pages }: PageParts
): Promise<FastifyReply> {
  const form = readForm(request, 'Change thresholds')
  const run = findRun(request, facts)
  const [text, warmUp = ''] = [form.get('thresholds'), form.get('warm_up')]
  // The form does not ask for what to do on a stall.
  const read = readThresholds({ thresholds: text, warm_up: warmUp, on_stall: run.thresholds?.onStall })
  if ('problems' in read) {
    const refused = { text: text ?? '', warmUp, problems: read.problems }
    return sendPage(reply.code(422), await pages.runPage(run, request.user, refused))
  }
  verdicts.replace(run, read.thresholds)
  await facts.store.flushWhenFree()
  return reply.headers(PAGE_HEADERS).redirect(`/${facts.words.runs}/${run.id}`, 303)
}

async function sendList(request: FastifyRequest, reply: FastifyReply, pages: RunPages) {
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
