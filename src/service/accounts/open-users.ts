import type { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../contract/clock.js'
import { messageOf } from '../../contract/text.js'
import { openDatabase } from '../store/database.js'
import { explainDatabase } from '../store/database-errors.js'
import { hasEnded } from '../../contract/records.js'
import { RunTable } from '../store/tables.js'
import { TeamAccounts } from './accounts.js'
import { findOperator, openAuditLog } from './audit-log.js'
import type { Role } from '../config/config.js'
import { endAfter } from './token-end.js'
import type { User } from './users.js'

interface Unfinished {
  /** The ids of those that have not started: without their user they never do. */
  readonly waitingRuns: readonly string[]
  readonly runsAtWork: readonly string[]
}

/** The users of a service for a command, which may run beside it; what it changes is in the audit log. */
export function openUsers(dataDir: string, log: (line: string) => void) {
  const database = openDatabase(dataDir)
  const accounts = new TeamAccounts(database, systemClock)
  const audit = openAuditLog(dataDir, { clock: systemClock, log })
  const record = <T extends { readonly name: string }>(action: string, change: () => T): T => {
    const changed = explain(change)
    audit.write({ action, user: findOperator(), target: changed.name })
    return changed
  }
  /** A full disk, for example: the message names the folder and says what to do. */
  const explain = <T>(act: () => T): T => {
    try {
      return act()
    } catch (thrown) {
      throw explainDatabase(thrown, dataDir)
    }
  }
  /** The change is made by then, whatever happens here. */
  const withRuns = <T extends User>(changed: T): T & Unfinished => {
    try {
      return { ...changed, ...unfinishedOf(database, changed.id, log) }
    } catch (thrown) {
      log(`the runs of ${changed.name} cannot be read: ${messageOf(thrown)}`)
      return { ...changed, waitingRuns: [], runsAtWork: [] }
    }
  }
  return {
    add: (name: string, role: Role, days?: number) =>
      record('user.add', () => accounts.add(name, role, endAfter(days, systemClock.now()))),
    users: () => explain(() => accounts.users()),
    rotate: (name: string, days?: number) =>
      withRuns(record('user.rotate', () => accounts.rotate(name, endAfter(days, systemClock.now())))),
    remove: (name: string) => withRuns(record('user.remove', () => accounts.remove(name))),
    close: () => database.close()
  }
}

function unfinishedOf(database: DatabaseSync, id: number, log: (line: string) => void): Unfinished {
  const runs = new RunTable(database, log).unsettled()
  const own = runs.filter((run) => !hasEnded(run) && run.user?.id === id)
  const idsOf = (isWaiting: boolean): string[] =>
    own.filter(({ status }) => (status === 'queued') === isWaiting).map((run) => run.id)
  return { waitingRuns: idsOf(true), runsAtWork: idsOf(false) }
}
