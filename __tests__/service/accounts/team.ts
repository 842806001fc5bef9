import { readFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { TeamAccounts } from '../../../src/service/accounts/accounts.js'
import { openAuditLog } from '../../../src/service/accounts/audit-log.js'
import { type Clock, systemClock } from '../../../src/contract/clock.js'
import type { EmbeddedService, ServiceOptions } from '../../../src/service/server.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { type Role, ROLES } from '../../../src/service/config/config.js'
import { WITH_PAGES } from '../pages/page-support.js'
import { type Address, createServices } from '../support.js'

/** One of each role, and a second member. */
export type Member = Role | 'other'

export interface Team {
  readonly service: EmbeddedService & { lines: string[]; dataDir: string }
  readonly users: TeamAccounts
  /** Where the users and their sessions are. */
  readonly database: DatabaseSync
  /** The service as one of them reaches it. */
  as(member: Member): Address
  /** The lines of the audit log so far. */
  audited(): Record<string, unknown>[]
}

/** Services with several users, and folders; one call closes the services and removes all folders. */
export function createTeams(): {
  folder(): string
  start(options?: Partial<ServiceOptions>, clock?: Clock): Promise<Team>
  closeAll(): Promise<void>
} {
  const services = createServices()
  const databases: DatabaseSync[] = []
  return {
    folder: () => services.folder(),
    start: async (options = {}, clock = systemClock) => {
      const dataDir = services.folder()
      const database = openDatabase(join(dataDir, 'users'))
      databases.push(database)
      const users = new TeamAccounts(database, clock)
      const tokens = new Map<Member, string>(ROLES.map((role) => [role, users.add(role, role).token]))
      tokens.set('other', users.add('other', 'member').token)
      const audit = openAuditLog(dataDir, { clock, log: () => undefined })
      const service = await services.start({
        ...{ dataDir, accounts: users, audit, clock, ...WITH_PAGES },
        ...options
      })
      return {
        service,
        users,
        database,
        as: (member) => ({ url: service.url, token: tokens.get(member) ?? '' }),
        audited: () => readLines(join(dataDir, 'audit.jsonl'))
      }
    },
    closeAll: async () => {
      await services.closeAll()
      for (const database of databases) database.close()
    }
  }
}

export function readLines(file: string): Record<string, unknown>[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
