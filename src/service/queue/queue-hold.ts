import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../contract/clock.js'
import { findOperator, openAuditLog } from '../accounts/audit-log.js'
import { openDatabase } from '../store/database.js'
import { databaseFile } from '../store/data-folder.js'
import { explainDatabase } from '../store/database-errors.js'
import { isUnstarted } from '../store/store.js'
import { Facts, RunTable } from '../store/tables.js'

const KEY = 'queue-held'

/** Why no queued run starts until an admin lets the queue go. It is in the database: a restart does not end it, a command beside the service does. */
export class QueueHold {
  readonly #facts: Facts

  constructor(database: DatabaseSync) {
    this.#facts = new Facts(database)
  }

  /** Undefined if the queue is not held. */
  get why(): string | undefined {
    return this.#facts.get(KEY)
  }

  hold(why: string): void {
    this.#facts.set(KEY, why)
  }

  release(): void {
    this.#facts.delete(KEY)
  }
}

/** For callers, operators and gates. */
export function describeHold(why: string): string {
  return `the queue is held: ${why}. An admin of the service has to look at the waiting runs, stop those that must not run, and let the queue go with \`loadgate queue resume\``
}

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
