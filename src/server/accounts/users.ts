export const ROLES = ['admin', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Who sends a request. */
export interface User {
  readonly id: number
  readonly name: string
  readonly role: Role
}

/** A user as the account shows one. */
export interface UserDetails extends User {
  readonly createdMs: number
  readonly signIns: number
  readonly currentSignInMs: number
  readonly lastSignInMs: number
  /** Undefined where only its hash is known. */
  readonly token: string | undefined
}

/** Who may use the service. */
export interface Accounts {
  /** The user whose token this is. */
  findByToken(token: string): User | undefined
  users(): readonly UserDetails[]
  /** A new session of a user in a browser: the value of its cookie. */
  openSession(user: User): string
  findBySession(cookie: string): User | undefined
  closeSession(cookie: string): void
}
