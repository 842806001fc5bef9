import type { DatabaseSync } from 'node:sqlite'
import { isSameProcess, type ProcessGroup, readStartTime } from '../nodes/machine/processes.js'
import { isProcessGroup } from './check-records.js'
import { inTransaction } from './database.js'
import { explainDatabase } from './database-errors.js'
import { Facts } from './facts.js'
import { parseRecord } from './run-table.js'

const KEY = 'service'

/** Two services in one folder would end each other's tools. */
export function requireUnclaimed(database: DatabaseSync, dataDir: string): void {
  const holder = parseRecord(new Facts(database).get(KEY) ?? 'null')
  if (isProcessGroup(holder)) refuseHolder(holder, dataDir)
}

export function refuseHolder(holder: ProcessGroup, dataDir: string): void {
  if (holder.pid === process.pid || !isSameProcess(holder)) return
  throw new Error(
    `the data folder ${dataDir} is in use by the service with process id ${holder.pid}; stop it, or choose another folder`
  )
}

/** Of two that start at the same time, one gets it. */
export function claimFolder(database: DatabaseSync, dataDir: string): void {
  const owner = { pid: process.pid, startTime: readStartTime(process.pid) ?? '' }
  try {
    inTransaction(database, () => {
      requireUnclaimed(database, dataDir)
      new Facts(database).set(KEY, JSON.stringify(owner))
    })
  } catch (thrown) {
    throw explainDatabase(thrown, dataDir)
  }
}

/** A claim that cannot be removed ends with its process. */
export function releaseFolder(database: DatabaseSync): void {
  const facts = new Facts(database)
  try {
    const holder = parseRecord(facts.get(KEY) ?? 'null')
    if (isProcessGroup(holder) && holder.pid === process.pid) facts.remove(KEY)
  } catch {
    // Nothing depends on it.
  }
}
