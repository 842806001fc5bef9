import type { Retention } from '../../service-config/config.js'
import type { Clock } from '../clock.js'
import { messageOf } from '../errors.js'
import type { SqliteStore } from '../store/sqlite-store.js'
import { deleteOldGrids } from './old-grids.js'
import { MS_A_DAY } from './plan-pruning.js'
import { emptyTrash, findPrunings, prune } from './prune.js'
import { TrustedAge } from './trusted-age.js'

const HOUR_MS = 60 * 60 * 1000

export interface RetentionService {
  /** Returns when nothing is being deleted any more. */
  close(): Promise<void>
  /** Returns when what was to be deleted by now is deleted. */
  settled(): Promise<void>
}

/** Deletes what is beyond the limits: at the start, whenever a run has ended, and every hour. */
export function startRetention(parts: {
  store: SqliteStore
  retention: Retention
  clock: Clock
  log: (line: string) => void
}): RetentionService {
  const { store, retention, clock, log } = parts
  const data = { database: store.database, folder: store.folder, log }
  const age = new TrustedAge(store.database)
  const closing = new AbortController()
  const isClosed = (): boolean => closing.signal.aborted
  let isWaiting = false
  let work = Promise.resolve()
  let callOff: (() => void) | undefined
  let limits = retention

  async function pass(): Promise<void> {
    isWaiting = false
    if (isClosed()) return
    await emptyTrash(data)
    const nowMs = clock.now()
    const prunings = await findPrunings(data, limits, nowMs)
    await prune(data, prunings, {
      isCancelled: isClosed,
      onDeleted: ({ run, why }) => log(`deleted run ${run.id} with its results: ${why}`)
    })
    if (limits.days !== undefined && !isClosed())
      deleteOldGrids(data.database, nowMs - limits.days * MS_A_DAY)
  }
  /** One at a time; whoever comes while one is waiting is served by that one. */
  function ask(): void {
    if (isClosed()) return
    limits = limitsNow()
    if (isWaiting) return
    isWaiting = true
    work = work
      .then(pass)
      .catch((thrown: unknown) => log(`results beyond the limits could not be deleted: ${messageOf(thrown)}`))
  }
  /** Without the age where the clock may be wrong. */
  function limitsNow(): Retention {
    const { isTrusted, doubt } = age.look(clock.now())
    if (doubt !== undefined && retention.days !== undefined) log(doubt)
    const { days, ...others } = retention
    return isTrusted && days !== undefined ? { ...others, days } : others
  }
  function askHourly(): void {
    ask()
    callOff = clock.after(HOUR_MS, askHourly)
  }

  store.onSettled(ask)
  askHourly()
  return {
    settled: () => work,
    close: () => {
      closing.abort()
      callOff?.()
      return work
    }
  }
}
