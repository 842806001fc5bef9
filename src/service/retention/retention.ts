import type { DatabaseSync } from 'node:sqlite'
import type { Retention } from '../config/config.js'
import type { Clock } from '../../contract/clock.js'
import { count, messageOf } from '../../contract/text.js'
import { attempt } from '../errors.js'
import type { SqliteStore } from '../store/sqlite-store.js'
import { Facts, parseRecord } from '../store/tables.js'
import type { DiskUse } from '../quotas/disk-use.js'
import { deleteUnusedGrids, emptyTrash, findPrunings, MS_A_DAY, prune, requireRoom } from './prune.js'

const HOUR_MS = 60 * 60 * 1000

/** Deletes what is beyond the limits: at the start, whenever a run has ended, and every hour. */
export function startRetention(parts: {
  store: SqliteStore
  retention: Retention
  clock: Clock
  log: (line: string) => void
}) {
  const { store, retention, clock, log } = parts
  const data = { database: store.database, folder: store.folder }
  const lookAtClock = watchClock(store.database)
  const closing = new AbortController()
  const isClosed = (): boolean => closing.signal.aborted
  let isWaiting = false
  let work = Promise.resolve()
  let callOff: (() => void) | undefined
  let limits = retention
  let aheadMs = Infinity

  async function pass(): Promise<void> {
    isWaiting = false
    if (isClosed()) return
    await emptyTrash(data)
    const now = timeNow()
    const prunings = await findPrunings(data, limits, now)
    await prune(data, prunings, {
      isCancelled: isClosed,
      onDeleted: ({ run, why }) => log(`deleted run ${run.id} with its results: ${why}`)
    })
    if (!isClosed() && (prunings.length > 0 || limits.days !== undefined))
      await deleteUnusedGrids(data, now.nowMs - (limits.days ?? Infinity) * MS_A_DAY)
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
  function timeNow(): { nowMs: number; surelyMs: number } {
    return { nowMs: clock.now(), surelyMs: clock.now() - aheadMs }
  }
  /** Without the age limit while the clock may be wrong. */
  function limitsNow(): Retention {
    const { isTrusted, doubt, ...look } = lookAtClock(clock.now())
    aheadMs = look.aheadMs
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
    /** Throws if there is no room for a new run; what has to go for it is deleted once it is created. */
    requireRoom: (newBytes: number, disk: DiskUse) => {
      if (disk.ofAll() + newBytes <= (retention.bytes ?? Infinity)) return
      requireRoom(data, limits, { ...timeNow(), newBytes, sizeOf: (id) => disk.ofUploads(id) })
      ask()
    },
    /** Returns when what was to be deleted by now is deleted. */
    settled: () => work,
    /** Returns when nothing is being deleted any more. */
    close: () => {
      closing.abort()
      callOff?.()
      return work
    }
  }
}

const KEY = 'clock'

interface Look {
  /** When the clock was last checked. */
  readonly seenMs: number
  /** When it was first found to be far ahead of that. */
  readonly doubtedMs?: number | undefined
  /** How far it may be ahead, while it is doubted. */
  readonly aheadMs?: number | undefined
}

/**
 * Whether the clock tells the age of runs. It is checked every hour: a clock more than a day ahead of the last check was set
 * wrong, or no service was running. It is doubted for a day, in which nothing is deleted by age: time to set it right.
 */
function watchClock(
  database: DatabaseSync
): (nowMs: number) => { isTrusted: boolean; doubt?: string; aheadMs: number } {
  const facts = new Facts(database)
  // Before the first check, the newest run is all that is known; a folder without runs has nothing to lose.
  const newest = database.prepare('SELECT max(created_ms) AS newest FROM runs').get()?.newest
  const known = parseRecord(facts.get(KEY) ?? 'null') as Partial<Look> | null | undefined
  let last: Look =
    typeof known?.seenMs === 'number' ? (known as Look) : { seenMs: Number(newest ?? Infinity) }
  return (nowMs) => {
    const { seenMs, doubtedMs } = last
    const days = Math.floor((nowMs - seenMs) / MS_A_DAY)
    const isJump = nowMs - seenMs > MS_A_DAY
    const isOver = doubtedMs === undefined || nowMs - doubtedMs >= MS_A_DAY || nowMs < doubtedMs
    const before = isOver ? 0 : (last.aheadMs ?? 0)
    const aheadMs = isJump ? before + nowMs - seenMs : before
    last = { seenMs: nowMs, doubtedMs: isJump ? nowMs : isOver ? undefined : doubtedMs, aheadMs }
    // On a full disk it stays in memory.
    attempt(() => facts.set(KEY, JSON.stringify(last)))
    if (!isJump) return { isTrusted: isOver, aheadMs }
    const day = new Date(nowMs).toISOString().slice(0, 10)
    const doubt = `the clock says ${day}, ${count(days, 'day')} after the last check: for one day no run is deleted because of its age, in case the clock is wrong`
    return { isTrusted: false, doubt, aheadMs }
  }
}
