import type { DatabaseSync } from 'node:sqlite'
import { closeSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { explainDatabase, isBusy } from './database-errors.js'
import { Facts } from './tables.js'
import { loadSqlite } from './database.js'

const KEY = 'service'

/** Two services in one folder would start each other's runs and end each other's tools. */
export function requireLock(database: DatabaseSync, dataDir: string): { release(): void } {
  const lock = lockFolder(dataDir)
  if (lock) return lock
  const pid = new Facts(database).get(KEY)
  const whom = pid === undefined ? 'another service' : `the service with process id ${pid}`
  throw new Error(`the data folder ${dataDir} is in use by ${whom}; stop it, or choose another folder`)
}

/** Says who has the folder; a service that cannot write even that does not start. */
export function nameHolder(database: DatabaseSync, dataDir: string): void {
  try {
    new Facts(database).set(KEY, String(process.pid))
  } catch (thrown) {
    throw explainDatabase(thrown, dataDir)
  }
}

const FILE = 'service.lock'

/** Of this process, which may have a folder open twice. */
const held = new Map<string, { lock: DatabaseSync; count: number }>()

/** Takes a lock of the system by SQLite: it ends with its process and holds between containers too. Undefined if another process has it. */
function lockFolder(dataDir: string): { release(): void } | undefined {
  const folder = realpathSync(dataDir)
  const known = held.get(folder) ?? takeLock(folder)
  if (known === undefined) return undefined
  known.count++
  held.set(folder, known)
  let isHeld = true
  return {
    release: () => {
      if (!isHeld) return
      isHeld = false
      if (--known.count > 0) return
      held.delete(folder)
      known.lock.close()
    }
  }
}

function takeLock(folder: string): { lock: DatabaseSync; count: number } | undefined {
  const file = join(folder, FILE)
  closeSync(openSync(file, 'a', 0o600))
  const { DatabaseSync } = loadSqlite()
  const lock = new DatabaseSync(file)
  try {
    // Nothing is ever written to it.
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return { lock, count: 0 }
  } catch (thrown) {
    lock.close()
    if (isBusy(thrown)) return undefined
    throw thrown
  }
}
