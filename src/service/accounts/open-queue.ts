import { existsSync } from 'node:fs'
import { systemClock } from '../../contract/clock.js'
import { openDatabase } from '../store/database.js'
import { databaseFile } from '../store/data-folder.js'
import { explainDatabase } from '../store/database-errors.js'
import { QueueHold } from '../store/queue-hold.js'
import { isUnstarted } from '../store/store.js'
import { RunTable } from '../store/tables.js'
import { findOperator, openAuditLog } from './audit-log.js'

/** The queue of a service for a command, which may run beside it. */
export function openQueue(dataDir: string, log: (line: string) => void) {
  // A mistyped folder must not become a data folder.
  if (!existsSync(databaseFile(dataDir)))
    throw new Error(`there is no data of a service in ${dataDir}; start it once with the same config file`)
  const database = openDatabase(dataDir)
  const hold = new QueueHold(database)
  const audit = openAuditLog(dataDir, { clock: systemClock, log })
  const change = (action: string, act: () => void): void => {
    try {
      act()
    } catch (thrown) {
      throw explainDatabase(thrown, dataDir)
    }
    audit.write({ action, user: findOperator() })
  }
  return {
    why: () => hold.why,
    /** Oldest first, as the database has them. */
    waiting: () => new RunTable(database, log).unsettled().filter(isUnstarted),
    hold: () => change('queue.hold', () => hold.hold('an admin has held it')),
    release: () => change('queue.resume', () => hold.release()),
    close: () => database.close()
  }
}
