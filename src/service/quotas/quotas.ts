import { RequestError } from '../errors.js'
import type { Quotas } from '../config/config.js'
import type { Queue, RunOwner } from '../queue/queue.js'
import type { WantedRoom } from '../runs/runs.js'
import type { SqliteStore } from '../store/sqlite-store.js'
import type { DiskUse } from './disk-use.js'
import { describeUse, describeWho, type Quota, quotasOf } from './limits.js'

/** A run leaves the queue in minutes: a gate tries again by itself. */
const RETRY_AFTER_SEC = 30

/** Throws if the owner of a new run has no room for it. Nothing is awaited: it is still so when the run is created. */
export function requireQuotas(
  wanted: WantedRoom,
  parts: { quotas: Quotas; store: SqliteStore; disk: DiskUse; queue: Pick<Queue, 'isWaiting'> }
): void {
  for (const quota of quotasOf(parts.quotas, wanted, 'waiting-runs')) {
    const waiting = countWaiting(quota, parts)
    if (waiting >= quota.limit)
      throw new RequestError(429, refusal(quota, waiting, 'try again when one of them has started'), {
        retryAfterSec: RETRY_AFTER_SEC
      })
  }
  for (const quota of quotasOf(parts.quotas, wanted, 'disk')) {
    const used =
      quota.of === 'user'
        ? parts.disk.ofUser(Number(quota.id))
        : parts.disk.ofProject(wanted.project, quota.creator)
    if (used + wanted.bytes > quota.limit)
      throw new RequestError(507, refusal(quota, used, 'try again when the service has deleted old runs'))
  }
}

function countWaiting(
  { of, id, creator }: Quota,
  { store, queue }: { store: SqliteStore; queue: Pick<Queue, 'isWaiting'> }
): number {
  const isOwn = ({ user, project }: RunOwner): boolean =>
    of === 'user' ? user?.id === id : project === id && (creator ?? user?.id) === user?.id
  const own = store
    .unsettledRuns()
    .filter((run) => isOwn({ user: run.user, project: run.request.project }) && queue.isWaiting(run.id))
  return own.length
}

function refusal(quota: Quota, used: number, advice: string): string {
  return `the run was not created: ${describeUse(quota, used)}; ${advice}, or ${describeWho(quota)}`
}
