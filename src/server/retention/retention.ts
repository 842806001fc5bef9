import type { Retention } from '../../service-config/config.js'
import type { Clock } from '../clock.js'
import { messageOf } from '../errors.js'
import type { SqliteStore } from '../store/sqlite-store.js'
import { emptyTrash, findPrunings, prune } from './prune.js'

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
  const closing = new AbortController()
  const isClosed = (): boolean => closing.signal.aborted
  let isWaiting = false
  let work = Promise.resolve()
  let callOff: (() => void) | undefined

  async function pass(): Promise<void> {
    isWaiting = false
    if (isClosed()) return
    await emptyTrash(data)
    const prunings = await findPrunings(data, retention, clock.now())
    for (const pruning of prunings) {
      if (isClosed()) return
      await prune(data, [pruning])
      log(`deleted run ${pruning.run.id} with its results: ${pruning.why}`)
    }
  }
  /** One at a time; whoever comes while one is waiting is served by that one. */
  function ask(): void {
    if (isWaiting || isClosed()) return
    isWaiting = true
    work = work
      .then(pass)
      .catch((thrown: unknown) => log(`results beyond the limits could not be deleted: ${messageOf(thrown)}`))
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
