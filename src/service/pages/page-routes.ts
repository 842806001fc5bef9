import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ServiceFacts, findRun, queryOf, readRunFilter } from '../service-facts.js'
import { RequestError, readPageNumber } from '../errors.js'
import { EventStream, PAGE_HEADERS, sendPage, readForm } from './send-page.js'
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
      const form = readForm(request, 'Change thresholds')
      const run = findRun(request, facts)
      const [text, warmUp = ''] = [form.get('thresholds'), form.get('warm_up')]
      const read = readThresholds({
        ...{ thresholds: text, warm_up: warmUp },
        // The form does not ask for it.
        on_stall: run.thresholds?.onStall
      })
      if ('problems' in read) {
        const refused = { text: text ?? '', warmUp, problems: read.problems }
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
