import { systemClock } from '../clock.js'
import { openDatabase } from '../store/database.js'
import { explainDatabase } from '../store/database-errors.js'
import { hasEnded } from '../store/records.js'
import { RunTable } from '../store/run-table.js'
import { openAccounts } from './accounts.js'
import { findOperator, openAuditLog } from './audit-log.js'
import type { NewToken, User, UserAdministration } from './users.js'

interface Users extends Pick<UserAdministration, 'add' | 'users'> {
  rotate(name: string): NewToken & Unfinished
  remove(name: string): User & Unfinished
  close(): void
}

/** Their runs that have not ended. */
interface Unfinished {
  /** The ids of those that have not started: without their user they never do. */
  readonly waitingRuns: readonly string[]
  /** Of those that go on. */
  readonly runsAtWork: readonly string[]
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
  const unfinishedOf = (id: number | undefined): Unfinished => {
    const runs = new RunTable(database, log).unsettled()
    const own = runs.filter((run) => !hasEnded(run) && run.user?.id === id)
    const idsOf = (isWaiting: boolean): string[] =>
      own.filter(({ status }) => (status === 'queued') === isWaiting).map((run) => run.id)
    return { waitingRuns: idsOf(true), runsAtWork: idsOf(false) }
  }
  const rotate = (name: string): NewToken & Unfinished => {
    const rotated = accounts.rotate(name)
    const user = accounts.users().find((one) => one.name === rotated.name)
    return { ...rotated, ...unfinishedOf(user?.id) }
  }
  const remove = (name: string): User & Unfinished => {
    const removed = accounts.remove(name)
    return { ...removed, ...unfinishedOf(removed.id) }
  }
  return {
    add: (name, role) => record('user.add', () => accounts.add(name, role)),
    users: () => explain(() => accounts.users()),
    rotate: (name) => record('user.rotate', () => rotate(name)),
    remove: (name) => record('user.remove', () => remove(name)),
    close: () => database.close()
  }
}
