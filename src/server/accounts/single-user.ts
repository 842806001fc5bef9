import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.js'
import { createSessionRows, type SessionRows } from './session-rows.js'
import { Sessions } from './sessions.js'
import { hashSecret } from '../secrets.js'
import type { Accounts, User } from './users.js'

const USER: User = { id: 1, name: 'user@localhost', role: 'admin' }

/** For one person who brings none. */
export function createSingleToken(): string {
  return randomBytes(24).toString('base64url')
}

/** One person with one token, as on a developer's own machine. */
export function createSingleUser(
  token: string,
  { clock, rows = createSessionRows() }: { clock: Clock; rows?: SessionRows }
): Accounts {
  const sessions = new Sessions(rows, clock)
  const startedMs = clock.now()
  const tokenHash = hashSecret(token)
  return {
    takesTokenInAddress: true,
    findByToken: (guess) => (timingSafeEqual(hashSecret(guess), tokenHash) ? USER : undefined),
    users: () => [
      {
        ...USER,
        token,
        createdMs: startedMs,
        signIns: 1,
        currentSignInMs: startedMs,
        lastSignInMs: startedMs
      }
    ],
    // Whatever is in the data folder is theirs.
    isRemoved: () => false,
    openSession: ({ id }, verified) => sessions.open(id, verified),
    // A restarted service with the same token recognizes its visitors; with another one it does not.
    findBySession: (cookie) => {
      const session = sessions.find(cookie)
      return session && timingSafeEqual(session.tokenHash, tokenHash) ? USER : undefined
    },
    closeSession: (cookie) => sessions.close(cookie)
  }
}
