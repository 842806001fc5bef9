import type { Reply } from '../../contract/api/replies.js'
import { isPageRequest } from '../pages/page-access.js'
import { PAGE_HEADERS } from '../pages/send-page.js'
import { whenFree } from '../store/when-free.js'
import { findRun, route, type Route, type ServiceFacts } from '../service-facts.js'
import { briefRunDocument, linkTo } from './documents.js'

/** Additions of this service to the API: runs that are never deleted, and the queue that an admin lets go. */
export function keepRoutes(facts: ServiceFacts, button: Route[2]): Route[] {
  const path = `/${facts.words.runs}/:id`
  const pin = (isPinned: boolean): Route[3] => {
    return async (request, reply) => {
      const run = findRun(request, facts)
      run.isPinned = isPinned
      facts.store.saveRun(run)
      await facts.store.flushWhenFree()
      return isPageRequest(request)
        ? reply.headers(PAGE_HEADERS).redirect(`/${facts.words.runs}/${run.id}`, 303)
        : briefRunDocument(run, facts)
    }
  }
  return [
    route('POST', `${path}/pin`, { ...button, effect: 'run.pin' }, pin(true)),
    route('POST', `${path}/unpin`, { ...button, effect: 'run.unpin' }, pin(false)),
    route('GET', '/queue', {}, () => queueDocument(facts)),
    route('POST', '/queue/resume', { effect: 'queue.resume' }, async () => {
      await whenFree(() => facts.store.hold?.release(), facts.clock)
      facts.queue.lookAgain()
      return queueDocument(facts)
    })
  ]
}

function queueDocument({ store, queue }: ServiceFacts): Reply<'Queue'> {
  return {
    _links: { self: linkTo('/queue') },
    held: store.hold?.why ?? null,
    waiting: queue.length,
    nodes_at_work: queue.nodesAtWork
  }
}
