import { createHmac } from 'node:crypto'
import { isSameSecret } from '../secrets.js'
import type { Accounts, User } from './users.js'

const USER: User = { id: 1, name: 'user@localhost', role: 'admin' }

/** One person with one token, as on a developer's own machine. */
export function createSingleUser(token: string, startedMs: number): Accounts {
  // Derived from the token, so that a restarted service with the same token recognizes its visitors.
  const cookie = createHmac('sha256', token).update('page').digest('base64url')
  return {
    takesTokenInAddress: true,
    findByToken: (guess) => (isSameSecret(guess, token) ? USER : undefined),
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
    openSession: () => cookie,
    findBySession: (guess) => (isSameSecret(guess, cookie) ? USER : undefined),
    closeSession: () => undefined
  }
}
