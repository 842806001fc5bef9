import { count } from '../../contract/text.js'
import { formatBytes } from '../../report/escape.js'
import { hasName } from '../accounts/project-access.js'
import { countsPerCreator, type QuotaLimits, type QuotaName, type Quotas } from '../config/config.js'
import type { NodeQuota, RunOwner } from '../queue/queue.js'

/** A quota of a user or of a project. */
export interface Quota {
  readonly name: QuotaName
  readonly limit: number
  readonly of: 'user' | 'project'
  /** Which user or project, in the database. */
  readonly id: number | string | null
  /** Of the runs in the project only those of this user count; undefined if all of them do. */
  readonly creator?: number
  /** `user shop-ci`. */
  readonly whose: string
  /** The key in the config file. */
  readonly key: string
}

/** The quotas of this name that count for a run of the owner: at most one of the user and one of the project. */
export function quotasOf(quotas: Quotas, { user, project }: RunOwner, name: QuotaName): Quota[] {
  // Of several names that mean the user, the first that gives the limit.
  const users = [...quotas.users].filter(([named, own]) => user && name in own && hasName(user, named))
  const byUser = user && limitOf(users[0], 'users', quotas.user, name)
  const own = quotas.projects.get(project ?? '')
  const creator = countsPerCreator(quotas, project) ? user : undefined
  const byProject = limitOf(own && [project ?? '', own], 'projects', quotas.project, name)
  return [
    ...(user && byUser
      ? [{ ...byUser, name, of: 'user', id: user.id, whose: `user ${user.name}` } as const]
      : []),
    ...(byProject
      ? [
          {
            ...{ ...byProject, name, of: 'project' as const, id: project },
            ...(creator && { creator: creator.id }),
            whose: `${creator ? `user ${creator.name} in ` : ''}${nameProject(project)}`
          }
        ]
      : [])
  ]
}

function limitOf(
  [named, own]: readonly [name: string, QuotaLimits?] = [''],
  section: 'users' | 'projects',
  all: QuotaLimits,
  name: QuotaName
): Pick<Quota, 'limit' | 'key'> | undefined {
  const ownLimit = own?.[name]
  if (ownLimit !== undefined) return { limit: ownLimit, key: `quotas.${section}.${named}.${name}` }
  const limit = all[name]
  return limit === undefined ? undefined : { limit, key: `quotas.${section.slice(0, -1)}.${name}` }
}

function nameProject(project: string | null): string {
  return project === null ? 'what has no project' : `project ${JSON.stringify(project)}`
}

const UNITS: Readonly<Record<QuotaName, (amount: number) => string>> = {
  'waiting-runs': (used) => count(used, 'waiting run'),
  nodes: (used) => `${count(used, 'node')} at work`,
  'upload-per-day': (used) => `${formatBytes(used)} uploaded today (UTC)`,
  disk: (used) => `${formatBytes(used)} on the service's disk`
}

/** `user shop-ci has 20 waiting runs, and may have 20 (quota waiting-runs)`. Not what a project has: its runs may be hidden from the reader. */
export function describeUse(quota: Quota, used: number): string {
  const { name, limit, whose, of } = quota
  if (of === 'project') return describeLimit(quota)
  const most = name === 'upload-per-day' || name === 'disk' ? formatBytes(limit) : String(limit)
  return `${whose} has ${UNITS[name](used)}, and may have ${most} (quota ${name})`
}

function describeLimit({ name, limit, whose }: Quota): string {
  return `${whose} may have at most ${UNITS[name](limit)} (quota ${name})`
}

export function describeWho({ key }: Pick<Quota, 'key'>): string {
  return `an admin of the service can raise the quota: ${key} in its config file`
}

/** The quotas of nodes, for the queue. */
export function nodeQuotasOf(quotas: Quotas, owner: RunOwner): NodeQuota[] {
  return quotasOf(quotas, owner, 'nodes').map((quota) => ({
    key: JSON.stringify([quota.of, quota.id, quota.creator]),
    most: quota.limit,
    where: `into the quota of ${quota.whose} (nodes); ${describeWho(quota)}`,
    // Everyone who sees the run reads it.
    reason: `${describeLimit(quota)}; ${describeWho(quota)}`
  }))
}
