import type { Reply } from '../../contract/api/replies.js'
import type { User } from '../accounts/users.js'
import { isPageRequest } from '../pages/page-access.js'
import { HOME } from '../pages/run-lines.js'
import { PAGE_HEADERS } from '../pages/send-page.js'
import { whenFree } from '../store/when-free.js'
import { findRun, route, type Route, type ServiceFacts } from '../service-facts.js'
import { briefRunDocument, linkTo } from './documents.js'
import type { RunRecord } from '../../contract/records.js'

/** Additions of this service to the API: runs that are never deleted, and the queue that an admin lets go. */
export function keepRoutes(
  facts: ServiceFacts,
  button: Route[2],
  requirePinRoom: ((run: RunRecord) => Promise<void>) | undefined
): Route[] {
  const path = `/${facts.words.runs}/:id`
  const pin = (isPinned: boolean): Route[3] => {
    return async (request, reply) => {
      if (isPinned) await requirePinRoom?.(findRun(request, facts))
      // It may have been deleted meanwhile.
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
    route('GET', '/queue', {}, ({ user }) => queueDocument(user, facts)),
    route('POST', '/queue/resume', { ...button, effect: 'queue.resume' }, async (request, reply) => {
      await whenFree(() => facts.store.hold?.release(), facts.clock)
      facts.queue.lookAgain()
      return isPageRequest(request)
        ? reply.headers(PAGE_HEADERS).redirect(HOME, 303)
        : queueDocument(request.user, facts)
    })
  ]
}

/** How much there is of others' runs is for those who see them. */
function queueDocument(user: User, { store, queue, access }: ServiceFacts): Reply<'Queue'> {
  const seesAll = access.visibilityOf(user) === 'all'
  return {
    _links: { self: linkTo('/queue') },
    held: store.hold?.why ?? null,
    waiting: seesAll ? queue.length : null,
    nodes_at_work: seesAll ? queue.nodesAtWork : null
  }
}
