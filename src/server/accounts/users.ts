import type { Role } from '../../service-config/roles.js'

/** Who sends a request. */
export interface User {
  readonly id: number
  readonly name: string
  readonly role: Role
}

/** A user as the account shows one. */
export interface UserDetails extends User {
  readonly createdMs: number
  /** How many hours had a login or a request to the API. */
  readonly signIns: number
  /** Null before the first one. */
  readonly currentSignInMs: number | null
  readonly lastSignInMs: number | null
  /** Undefined where only its hash is known. */
  readonly token: string | undefined
}

/** Who may use the service. */
export interface Accounts {
  /** Whether a browser may bring the token in an address; with several users it would be in the logs of proxies. */
  readonly takesTokenInAddress: boolean
  /** The user whose token this is. */
  findByToken(token: string): User | undefined
  users(): readonly UserDetails[]
  /** Whether there is no such user any more. What a command beside the service does holds at once. */
  isRemoved(id: number): boolean
  /** A new session of a user in a browser: the value of its cookie. It is good as long as this is the user's token. */
  openSession(user: User, token: string): string
  findBySession(cookie: string): User | undefined
  closeSession(cookie: string): void
}

/** A user whose token was just made; it is shown this one time. */
export interface NewToken {
  readonly name: string
  readonly role: Role
  readonly token: string
}

/** What an administrator does at the command line, beside the service or without it. */
export interface UserAdministration {
  add(name: string, role: Role): NewToken
  users(): readonly UserDetails[]
  /** Gives a user another token; the earlier one and its sessions end at once. */
  rotate(name: string): NewToken & User
  remove(name: string): User
}

/** Something that cannot be done to the users; the message says why. */
export class AccountError extends Error {
  override name = 'AccountError'
}
