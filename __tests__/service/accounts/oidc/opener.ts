import type { DatabaseSync } from 'node:sqlite'
import { openIssuers } from '../../../../src/service/accounts/oidc/issued-tokens.js'
import { renameUsers, type UserIssuers } from '../../../../src/service/accounts/oidc/rename-users.js'
import type { IssuerLimits } from '../../../../src/service/accounts/oidc/issuer.js'
import type { IssuedTokens, User } from '../../../../src/service/accounts/users.js'
import type { AllowRule, TrustedIssuer } from '../../../../src/service/config/config.js'
import { openDatabase } from '../../../../src/service/store/database.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { createFolders } from '../../support.js'
import { AUDIENCE, type TestIssuer } from './issuer.js'

const RULES: readonly AllowRule[] = [
  { role: 'member', claims: [['repository', 'acme/*']] },
  {
    role: 'admin',
    claims: [
      ['repository', 'acme/shop'],
      ['environment', 'production']
    ]
  }
]

export interface Opened {
  readonly tokens: IssuedTokens
  readonly clock: ManualClock
  readonly database: DatabaseSync
  readonly lines: string[]
  /** Once more, with further issuers. */
  readonly reopen: (
    others: readonly Pick<TrustedIssuer, 'issuer' | 'name' | 'userClaim'>[],
    around?: Pick<UserIssuers, 'login'>
  ) => Pick<Opened, 'tokens'>
}

interface Around {
  readonly limits?: IssuerLimits
  readonly env?: NodeJS.ProcessEnv
}

/** Opens the tokens of issuers, each time with a database of its own and a clock that starts now. */
export function createOpener(): {
  folder(): string
  open(issuer: TestIssuer, change?: Partial<TrustedIssuer>, around?: Around): Opened
  closeAll(): void
} {
  const folders = createFolders()
  const databases: DatabaseSync[] = []
  return {
    folder: () => folders.create(),
    open: (issuer, change = {}, { limits = { fetchMs: 30_000, bytes: 100_000 }, env = {} } = {}) => {
      const database = openDatabase(folders.create())
      databases.push(database)
      const clock = new ManualClock(Date.now())
      const lines: string[] = []
      const named = { issuer: issuer.url, userClaim: 'repository', audience: AUDIENCE, ca: issuer.ca }
      const trusted = { ...named, allow: RULES, ...change }
      const log = (line: string): void => void lines.push(line)
      const ports = { clock, log, env, limits, database }
      const reopen: Opened['reopen'] = (others, more = {}) => {
        const further = others.map((one) => ({ audience: AUDIENCE, allow: RULES, ...one }))
        renameUsers(database, { oidc: [trusted, ...further], ...more })
        return { tokens: openIssuers([trusted, ...further], ports) }
      }
      return { tokens: openIssuers([trusted], ports), clock, database, lines, reopen }
    },
    closeAll: () => {
      for (const database of databases) database.close()
      folders.remove()
    }
  }
}

/** How a token is refused; 200 and the name of the user if it is not. */
export const refusal = async (
  work: Promise<User>
): Promise<{ statusCode: number; message: string; retryAfterSec?: number }> =>
  work.then(
    ({ name }) => ({ statusCode: 200, message: name }),
    (thrown: unknown) => thrown as { statusCode: number; message: string }
  )
