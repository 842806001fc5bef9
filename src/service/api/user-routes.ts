import type { FastifyRequest } from 'fastify'
import { readExactly, tokenRequest, userRequest } from '../../contract/api/requests.js'
import type { Reply } from '../../contract/api/replies.js'
import { requireAdmin } from '../accounts/permissions.js'
import { endAfter } from '../accounts/token-end.js'
import { AccountError, type UserChanges, type UserDetails } from '../accounts/users.js'
import { readPageNumber, refuseAll, RequestError } from '../errors.js'
import { whenFree } from '../store/when-free.js'
import { cannotFind, route, type Route, type ServiceFacts } from '../service-facts.js'
import { shownTo, userDocument, userListDocument } from './documents.js'
import { isParams, type Params } from './nested-params.js'
import { readBody } from './request-body.js'

/** The users. Admins change them, by the rules of `loadgate user`. */
export function userRoutes(facts: ServiceFacts): Route[] {
  const { accounts, clock } = facts
  return [
    route('GET', '/users', {}, (request) => {
      requireAdmin(request.user)
      return userListDocument(readPageNumber(request), facts)
    }),
    route('GET', '/users/:id', {}, (request) => userDocument(findUser(request, facts))),
    route('POST', '/users', { effect: 'user.add' }, async (request, reply) => {
      const { params } = await readBody(request)
      const { name = '', role = 'viewer', days } = accept(readExactly(userRequest, keysOf(params)))
      const added = await change(facts, (users) => users.add(name, role, endAfter(days, clock.now())))
      request.audited.target = added.name
      return reply.code(201).send(withToken(added.id, added.token, facts))
    }),
    route('POST', '/users/:id/rotate', { effect: 'user.rotate' }, async (request) => {
      const { params } = await readBody(request)
      const { days } = accept(readExactly(tokenRequest, keysOf(params)))
      const { name } = findUser(request, facts)
      const rotated = await change(facts, (users) => users.rotate(name, endAfter(days, clock.now())))
      request.audited.target = name
      return withToken(rotated.id, rotated.token, facts)
    }),
    route(
      'DELETE',
      '/users/:id',
      { effect: 'user.remove' },
      async (request): Promise<Reply<'RemovedUser'>> => {
        const user = findUser(request, facts)
        await change(facts, (users) => users.remove(user.name))
        request.audited.target = user.name
        const left = facts.seenBy(request.user).unendedOf(user.id)
        const idsOf = (isWaiting: boolean): string[] =>
          left.filter(({ status }) => (status === 'queued') === isWaiting).map((run) => run.id)
        return { ...userDocument(user), waiting_runs: idsOf(true), runs_at_work: idsOf(false) }
      }
    )
  ].map(([method, path, config, handler]) => {
    // A service for one person has nobody to change.
    const isChange = config.effect !== undefined
    return route(method, path, config, (request, reply) => {
      if (isChange && accounts.changes === undefined) throw onlyOne()
      return handler(request, reply)
    })
  })
}

function findUser(request: FastifyRequest, facts: ServiceFacts): UserDetails {
  const { id } = request.params as { id: string }
  const found = shownTo(request.user, facts).find((user) => String(user.id) === id)
  if (!found) throw cannotFind()
  return found
}

/** The keys of `user[…]`. */
function keysOf({ user }: Params): Params {
  return isParams(user) ? user : {}
}

/** The error lists every problem. A misspelt `days` must not make a token without an end. */
function accept<T>({ values, problems }: { values: T; problems: string[] }): T {
  if (problems.length > 0) throw refuseAll(problems.map((problem) => `user: ${problem}`))
  return values
}

async function change<T>({ accounts, clock }: ServiceFacts, act: (users: UserChanges) => T): Promise<T> {
  const { changes } = accounts
  if (changes === undefined) throw onlyOne()
  try {
    return await whenFree(() => act(changes), clock)
  } catch (thrown) {
    throw thrown instanceof AccountError ? new RequestError(thrown.statusCode, thrown.message) : thrown
  }
}

function onlyOne(): RequestError {
  return new RequestError(
    409,
    'this service has one user; start it with a config file (loadgate serve --config) to have several'
  )
}

/** With the token, this one time. */
function withToken(id: number, token: string, { accounts }: ServiceFacts): Reply<'User'> {
  const user = accounts.users().find((one) => one.id === id)
  if (!user) throw cannotFind()
  return userDocument({ ...user, token })
}
