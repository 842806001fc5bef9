import { systemClock } from '../clock.js'
import { openDatabase } from '../store/database.js'
import { explainDatabase } from '../store/database-errors.js'
import { openAccounts } from './accounts.js'
import { findOperator, openAuditLog } from './audit-log.js'
import type { UserAdministration } from './users.js'

/** The users of a service for a command, which may run beside it; what it changes is in the audit log. */
export function openUsers(
  dataDir: string,
  log: (line: string) => void
): UserAdministration & { close(): void } {
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
  return {
    add: (name, role) => record('user.add', () => accounts.add(name, role)),
    list: () => explain(() => accounts.list()),
    rotate: (name) => record('user.rotate', () => accounts.rotate(name)),
    remove: (name) => record('user.remove', () => accounts.remove(name)),
    close: () => database.close()
  }
}
