import type { DatabaseSync } from 'node:sqlite'
import { explainDatabase } from './database-errors.js'
import { Facts } from './facts.js'
import { lockFolder } from './folder-lock.js'

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
