import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Role } from '../config/config.js'
import type { Clock } from '../../contract/clock.js'
import { RequestError } from '../errors.js'
import { hashSecret } from '../secrets.js'
import { claimOf, type Claims } from './claims.js'
import { type SessionRows, Sessions } from './sessions.js'

export interface User {
  readonly id: number
  readonly name: string
  readonly role: Role
  /** What their issuer says of them; undefined for a user with a token of this service. */
  readonly claims?: Claims
  /** Of the runs that name no other. */
  readonly project?: string
  /** When the user's token ends; absent if it does not. */
  readonly expiresMs?: number
}

/** Whether it is a job with the ID token of an issuer, and so one of many that are this user. */
export function isJob({ claims }: User): boolean {
  return claims !== undefined && claimOf(claims, 'iss') !== undefined
}

export interface UserDetails extends Omit<User, 'expiresMs' | 'claims' | 'project'> {
  /** Who says who it is: the address of an OpenID Connect issuer, or empty for a user with a token of this service. */
  readonly issuer: string
  readonly expiresMs: number | null
  readonly createdMs: number
  /** How many hours had a login or a request to the API. */
  readonly signIns: number
  readonly currentSignInMs: number | null
  readonly lastSignInMs: number | null
  /** Undefined where only its hash is known. */
  readonly token: string | undefined
}

export interface Accounts {
  /** Whether a browser may bring the token in an address; with several users it would be in the logs of proxies. */
  readonly takesTokenInAddress: boolean
  /** Whose token it is, once it was checked with whoever issued it; from then on `findByToken` knows it too. */
  admit(token: string): Promise<User | undefined>
  /** Without asking anyone: for what is checked again while a request goes on, which was `admitted` as that user. */
  findByToken(token: string, admitted?: User): User | undefined
  /** Whose token it was, if it is right and has expired: only whoever holds it learns that. */
  findExpired(token: string): User | undefined
  users(): readonly UserDetails[]
  /** Whether there is no such user any more. What a command beside the service does holds at once. */
  isRemoved(id: number): boolean
  /** Who created a run, with the name and the role of today; undefined if there is no such user any more, or if nobody vouches for them by now. */
  findCreator(creator: Creator): User | undefined
  /** Opens a session in a browser and returns its cookie. It is valid as long as this is the user's token. */
  openSession(user: User, token: string): string
  findBySession(cookie: string): User | undefined
  closeSession(cookie: string): void
  /** Absent where there is one user. */
  readonly changes?: UserChanges | undefined
}

/** What a run knows of its creator. */
export type Creator = Pick<User, 'id' | 'name' | 'claims'>

/** What admins change, by the API or by a command. */
export interface UserChanges {
  /** The token ends then, if a time is given. */
  add(name: string, role: Role, expiresMs?: number): NewToken
  /** Gives a user another token; the earlier one and its sessions end at once. */
  rotate(name: string, expiresMs?: number): NewToken & User
  remove(name: string): User & Pick<UserDetails, 'issuer'>
}

/** A user whose token was just made; it is shown this one time. */
export type NewToken = Pick<User, 'id' | 'name' | 'role' | 'expiresMs'> & { readonly token: string }

/** Tokens that others issue and sign, such as GitHub's ID tokens. */
export interface IssuedTokens {
  /** Whether a text is one, right or wrong; any other is a token of this service. */
  covers(token: string): boolean
  /** Throws a TokenError if it is wrong, lets nobody in, or cannot be checked. */
  admit(token: string): Promise<User>
  /** As long as the token is valid, or, for the user of a request that goes on, as long as there is that user. */
  find(token: string, admitted: User | undefined): User | undefined
  /** Whom the config file of today makes of the user with this id, of whom an issuer has said this; undefined if it lets nobody in with that. */
  describe(id: number, issuer: string, claims: Claims): User | undefined
}

/** Why a token of an issuer is refused: it is wrong (401), nobody allows it (403), or the issuer cannot be asked (503). */
export class TokenError extends RequestError {
  override name = 'TokenError'
  constructor(
    override readonly statusCode: 401 | 403 | 503,
    message: string,
    options?: { cause?: unknown; retryAfterSec?: number }
  ) {
    super(statusCode, message, options)
  }
}

/** A change of the users that is not possible; the message says why. */
export class AccountError extends Error {
  override name = 'AccountError'
  constructor(
    message: string,
    /** Of a reply that says so. */
    readonly statusCode: 409 | 422 = 409
  ) {
    super(message)
  }
}

const USER: User = { id: 1, name: 'user@localhost', role: 'admin' }

/** For a single user who has given no token. */
export function createSingleToken(): string {
  return randomBytes(24).toString('base64url')
}

/** One person with one token, as on a developer's own machine. */
export function createSingleUser(
  token: string,
  { clock, rows }: { clock: Clock; rows?: SessionRows }
): Accounts {
  const sessions = new Sessions(clock, rows)
  const startedMs = clock.now()
  const tokenHash = hashSecret(token)
  const findByToken = (guess: string): User | undefined =>
    timingSafeEqual(hashSecret(guess), tokenHash) ? USER : undefined
  return {
    takesTokenInAddress: true,
    admit: (guess) => Promise.resolve(findByToken(guess)),
    findByToken,
    findExpired: () => undefined,
    users: () => [
      {
        ...USER,
        token,
        issuer: '',
        expiresMs: null,
        createdMs: startedMs,
        signIns: 1,
        currentSignInMs: startedMs,
        lastSignInMs: startedMs
      }
    ],
    // Everything in the data folder belongs to this user.
    isRemoved: () => false,
    findCreator: () => USER,
    openSession: ({ id }, verified) => sessions.open(id, hashSecret(verified)),
    // A restarted service with the same token recognizes its visitors; with another one it does not.
    findBySession: (cookie) => {
      const session = sessions.find(cookie)
      return session && timingSafeEqual(session.tokenHash, tokenHash) ? USER : undefined
    },
    closeSession: (cookie) => sessions.close(cookie)
  }
}
