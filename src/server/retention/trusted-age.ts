import type { DatabaseSync } from 'node:sqlite'
import { Facts } from '../store/facts.js'
import { parseRecord } from '../store/record-reader.js'
import { MS_A_DAY } from './plan-pruning.js'

const KEY = 'clock'

interface Look {
  /** The last time at which somebody looked at the clock. */
  readonly seenMs: number
  /** When it was first found to be far ahead of that. */
  readonly doubtedMs?: number | undefined
}

/**
 * Whether the age of runs can be told by the clock. A service looks every hour, so a clock that is more than a day ahead of the last look
 * was set wrong, or nobody was looking for so long: nothing is deleted by age until it has been going on like that for a day, which
 * leaves time to set it right. A clock that is set back deletes nothing.
 */
export class TrustedAge {
  readonly #facts: Facts
  #look: Look

  constructor(database: DatabaseSync) {
    this.#facts = new Facts(database)
    this.#look = read(this.#facts.get(KEY)) ?? { seenMs: newestRun(database) }
  }

  /** Looks at the clock. The second of the two is set when doubts begin. */
  look(nowMs: number): { isTrusted: boolean; doubt?: string } {
    const { seenMs, doubtedMs } = this.#look
    const isJump = nowMs - seenMs > MS_A_DAY
    const isOver = doubtedMs === undefined || nowMs - doubtedMs >= MS_A_DAY || nowMs < doubtedMs
    this.#look = { seenMs: nowMs, doubtedMs: isJump ? nowMs : isOver ? undefined : doubtedMs }
    try {
      this.#facts.set(KEY, JSON.stringify(this.#look))
    } catch {
      // On a full disk it is known in memory.
    }
    if (isJump) return { isTrusted: false, doubt: describe(seenMs, nowMs) }
    return { isTrusted: isOver }
  }
}

function describe(seenMs: number, nowMs: number): string {
  const days = Math.floor((nowMs - seenMs) / MS_A_DAY)
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  return `the clock says ${day(nowMs)}, ${days} ${days === 1 ? 'day' : 'days'} after the last look at it: for a day no run is deleted for its age, in case the clock is wrong`
}

function read(text: string | undefined): Look | undefined {
  const look = parseRecord(text ?? 'null') as Partial<Look> | null | undefined
  return typeof look?.seenMs === 'number' ? (look as Look) : undefined
}

/** Before anybody has looked, the newest run is what is known; a folder without runs has nothing to lose. */
function newestRun(database: DatabaseSync): number {
  return Number(database.prepare('SELECT max(created_ms) AS newest FROM runs').get()?.newest ?? Infinity)
}
