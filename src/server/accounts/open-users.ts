import type { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../clock.js'
import { openDatabase } from '../store/database.js'
import { explainDatabase } from '../store/database-errors.js'
import { openAccounts } from './accounts.js'
import { findOperator, openAuditLog } from './audit-log.js'
import type { NewToken, User, UserAdministration } from './users.js'

interface Users extends Pick<UserAdministration, 'add' | 'users'> {
  rotate(name: string): NewToken & Unfinished
  remove(name: string): User & Unfinished
  close(): void
}

interface Unfinished {
  /** Their runs that wait or are at work: they go on. */
  readonly unfinishedRuns: number
}

/** The users of a service for a command, which may run beside it; what it changes is in the audit log. */
export function openUsers(dataDir: string, log: (line: string) => void): Users {
  const database = openDatabase(dataDir)
  const accounts = openAccounts(database, systemClock)
  const audit = openAuditLog(dataDir, { clock: systemClock, log })
  const record = <T extends { readonly name: string }>(action: string, change: () => T): T => {
    const changed = explain(change)
    audit.write({ action, user: findOperator(), target: changed.name })
    return changed
  }
  /** A full disk, for example, in words that name the folder and say what to do. */
  const explain = <T>(act: () => T): T => {
    try {
      return act()
    } catch (thrown) {
      throw explainDatabase(thrown, dataDir)
    }
  }
  const withRuns = <T extends { readonly name: string }>(user: T): T & Unfinished => ({
    ...user,
    unfinishedRuns: countUnfinished(database, user.name)
  })
  return {
    add: (name, role) => record('user.add', () => accounts.add(name, role)),
    users: () => explain(() => accounts.users()),
    rotate: (name) => record('user.rotate', () => withRuns(accounts.rotate(name))),
    remove: (name) => record('user.remove', () => withRuns(accounts.remove(name))),
    close: () => database.close()
  }
}

function countUnfinished(database: DatabaseSync, name: string): number {
  const row = database
    .prepare(
      "SELECT count(*) AS runs FROM runs WHERE user_name = ? AND status NOT IN ('finished', 'problem')"
    )
    .get(name)
  return Number(row?.runs)
}
