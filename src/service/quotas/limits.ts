import { count } from '../../contract/text.js'
import { formatBytes } from '../../report/escape.js'
import type { QuotaLimits, QuotaName, Quotas } from '../config/config.js'
import type { NodeQuota, RunOwner } from '../queue/queue.js'

/** A quota of a user or of a project. */
export interface Quota {
  readonly name: QuotaName
  readonly limit: number
  readonly of: 'user' | 'project'
  /** Which user or project, in the database. */
  readonly id: number | string | null
  /** `user shop-ci`. */
  readonly whose: string
  /** The key in the config file. */
  readonly key: string
}

/** The quotas of this name that count for a run of the owner: at most one of the user and one of the project. */
export function quotasOf(quotas: Quotas, { user, project }: RunOwner, name: QuotaName): Quota[] {
  const byUser = user && limitOf(quotas.users.get(user.name), 'users', user.name, quotas.user, name)
  const { projects } = quotas
  const byProject = limitOf(projects.get(project ?? ''), 'projects', project ?? '', quotas.project, name)
  return [
    ...(user && byUser
      ? [{ ...byUser, name, of: 'user', id: user.id, whose: `user ${user.name}` } as const]
      : []),
    ...(byProject
      ? [{ ...byProject, name, of: 'project', id: project, whose: nameProject(project) } as const]
      : [])
  ]
}

function limitOf(
  own: QuotaLimits | undefined,
  section: 'users' | 'projects',
  named: string,
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

const UNITS: Readonly<Record<QuotaName, (used: number) => string>> = {
  'waiting-runs': (used) => count(used, 'waiting run'),
  nodes: (used) => `${count(used, 'node')} at work`,
  'upload-per-day': (used) => `${formatBytes(used)} uploaded today (UTC)`,
  disk: (used) => `${formatBytes(used)} on the service's disk`
}

/** `user shop-ci has 20 waiting runs, and may have 20 (quota waiting-runs)`. */
export function describeUse({ name, limit, whose }: Quota, used: number): string {
  const most = name === 'upload-per-day' || name === 'disk' ? formatBytes(limit) : String(limit)
  return `${whose} has ${UNITS[name](used)}, and may have ${most} (quota ${name})`
}

export function describeWho({ key }: Pick<Quota, 'key'>): string {
  return `an admin of the service can raise the quota: ${key} in its config file`
}

/** The quotas of nodes, for the queue. */
export function nodeQuotasOf(quotas: Quotas, owner: RunOwner): NodeQuota[] {
  return quotasOf(quotas, owner, 'nodes').map((quota) => ({
    key: `${quota.of} ${quota.id}`,
    most: quota.limit,
    where: `into the quota of ${quota.whose} (nodes); ${describeWho(quota)}`,
    reason: (atWork) => `${describeUse(quota, atWork)}; ${describeWho(quota)}`
  }))
}
