import type { FastifyInstance } from 'fastify'
import { clauseOf, refuseAll, RequestError } from '../errors.js'
import type { SeenRuns } from '../store/seen-runs.js'
import type { GridWish } from '../store/store.js'
import type { GridRecord, RunRecord, UserReference } from '../../contract/records.js'
import type { ProjectAccess } from './project-access.js'
import type { Accounts, User } from './users.js'

/** What requests can change, and who may: anyone, members, admins, or the owner of the run or grid in the path. */
const EFFECTS = {
  login: 'anyone',
  logout: 'anyone',
  'run.create': 'member',
  'run.stop': 'owner of run',
  'run.repeat': 'owner of run',
  'run.thresholds': 'owner of run',
  'run.pin': 'owner of run',
  'run.unpin': 'owner of run',
  'queue.resume': 'admin',
  'grid.create': 'member',
  'grid.terminate': 'owner of grid',
  'user.add': 'admin',
  'user.rotate': 'admin',
  'user.remove': 'admin'
} as const
export type Effect = keyof typeof EFFECTS

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request to this route changes. Who may do that is checked before the route is called. */
    effect?: Effect
  }
}

type Owned = Pick<RunRecord | GridRecord, 'user'>

interface Known {
  /** What the user sees. */
  readonly seen: Pick<SeenRuns, 'run' | 'grid'>
  readonly accounts: Pick<Accounts, 'isRemoved'>
}

/** A route that changes something without saying so would be open to viewers: the service does not start with one. */
export function requireDeclaredEffects(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    const effect = config?.effect
    for (const one of [method].flat()) {
      if (one === 'HEAD' && effect !== undefined)
        throw new Error(`HEAD ${url} would do what GET does (${effect}): set exposeHeadRoute to false`)
      // What answers anyone changes nothing.
      if (!['GET', 'HEAD', 'OPTIONS'].includes(one) && effect === undefined && config?.open !== 'probe')
        throw new Error(`${one} ${url} does not declare its effect (config.effect)`)
    }
  })
}

/** Throws unless the user may do this to the run or grid of that id. One that the user does not see is left to the route, which finds none. */
export function checkPermission(
  user: User,
  { effect, id }: { effect: Effect; id: string | undefined },
  { seen, accounts }: Known
): void {
  const need = EFFECTS[effect]
  if (need === 'anyone') return
  if (need === 'admin') {
    requireAdmin(user)
    return
  }
  requireMember(user)
  if (need === 'member' || id === undefined) return
  const kind = need === 'owner of run' ? 'run' : 'grid'
  const record = seen[kind](id)
  if (record) requireOwner(user, record, `${kind} ${record.id}`, accounts)
}

function requireMember(user: User): void {
  if (user.role === 'viewer')
    throw new RequestError(
      403,
      `${user.name} is a viewer and may only read; ask an admin for the role member`
    )
}

export function requireAdmin(user: User): void {
  if (user.role !== 'admin')
    throw new RequestError(403, `${user.name} is a ${user.role}, and only an admin may do this`)
}

/** The rules for creating a run, once more when its turn comes: meanwhile users and the config file may have changed. */
export function whyNotStart(
  { user: creator, request: { project } }: RunRecord,
  { accounts, access }: { accounts: Accounts; access: ProjectAccess }
): string | undefined {
  if (creator === undefined) return undefined
  const who = `The user who created this run, ${creator.name},`
  if (accounts.isRemoved(creator.id)) return `${who} was removed before it started.`
  const user = accounts.findCreator(creator)
  if (!user) return `${who} is no longer let in by the config file of the service (oidc, login).`
  try {
    requireMember(user)
    access.requireMayCreate(user, project)
    return undefined
  } catch (thrown) {
    return `${who} may not start it any more: ${clauseOf(thrown)}.`
  }
}

/** Whether to offer it at all. Members change what is theirs, admins everything. */
export function mayChange(user: User, { user: owner }: Owned): boolean {
  return user.role === 'admin' || (user.role === 'member' && owner?.id === user.id)
}

/** What has no owner is from before there were users: it belongs to the admins. */
function requireOwner(user: User, owned: Owned, what: string, accounts: Known['accounts']): void {
  requireMember(user)
  if (!mayChange(user, owned))
    throw new RequestError(403, `${what} belongs to ${describeOwner(owned.user, accounts)} may do this`)
}

/** The name of a removed user can be used again, but what they owned does not go to the new user. */
function describeOwner(owner: UserReference | undefined, accounts: Known['accounts']): string {
  if (owner === undefined) return 'nobody; only an admin'
  return accounts.isRemoved(owner.id)
    ? `an earlier user ${owner.name}, who was removed; only an admin`
    : `${owner.name}; only ${owner.name} or an admin`
}

/** A run on another user's grid takes it away from them. */
export function requireOwnGrids(
  user: User,
  grids: readonly (GridWish | GridRecord)[],
  { seen, accounts }: Known
): void {
  const missing = grids.flatMap((wish) => ('uuid' in wish && !seen.grid(wish.uuid) ? wish.uuid : []))
  if (missing.length > 0) throw refuseAll(missing.map((id) => `there is no grid ${id}`))
  for (const wish of grids) {
    const grid = 'uuid' in wish ? seen.grid(wish.uuid) : 'id' in wish ? wish : undefined
    if (grid) requireOwner(user, grid, `grid ${grid.id}`, accounts)
  }
}
