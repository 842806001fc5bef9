import { timingSafeEqual, randomBytes } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Clock } from '../../contract/clock.js'
import { type Role, ROLES } from '../config/config.js'
import { inTransaction } from '../store/database.js'
import { hashSecret } from '../secrets.js'
import { openSessionRows } from './session-rows.js'
import { Sessions } from './sessions.js'
import {
  AccountError,
  type Accounts,
  type NewToken,
  type User,
  type UserAdministration,
  type UserDetails
} from './users.js'

/** Harmless in logs, pages, addresses and on a command line. */
const NAME = /^[A-Za-z0-9_@+][A-Za-z0-9._@+-]{0,63}$/
/** Requests within it count as one sign-in: a read is no reason to write. */
const SIGN_IN_MS = 3_600_000
/** Compared with a token whose id nobody has: a guess takes the same work whether its id exists or not. */
const NOBODYS_HASH = hashSecret('')

type Row = Record<string, SQLOutputValue>

/** The users in the database. Every look at them reads it, so what another process changes holds at once. */
export function openAccounts(database: DatabaseSync, clock: Clock): Accounts & UserAdministration {
  return new DatabaseAccounts(database, clock)
}

class DatabaseAccounts implements Accounts, UserAdministration {
  readonly takesTokenInAddress = false
  readonly #database: DatabaseSync
  readonly #clock: Clock
  readonly #sessions: Sessions
  /** The last try to count a sign-in of each user, so that a database that cannot be written is not asked per request. */
  readonly #counted = new Map<number, number>()

  constructor(database: DatabaseSync, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#sessions = new Sessions(openSessionRows(database), clock)
  }

  findByToken(text: string): User | undefined {
    const row = this.#get('SELECT * FROM users WHERE token_id = ?', readTokenId(text))
    const isRight = timingSafeEqual(hashSecret(text), row ? hashOf(row) : NOBODYS_HASH)
    if (!row || !isRight) return undefined
    this.#countSignIn(row)
    return userOf(row)
  }

  users(): UserDetails[] {
    return this.#database.prepare('SELECT * FROM users ORDER BY id').all().map(detailsOf)
  }

  isRemoved(id: number): boolean {
    return this.#get('SELECT 1 FROM users WHERE id = ?', id) === undefined
  }

  openSession({ id }: User, token: string): string {
    return this.#sessions.open(id, token)
  }

  findBySession(cookie: string): User | undefined {
    const session = this.#sessions.find(cookie)
    const row = session && this.#get('SELECT * FROM users WHERE id = ?', session.userId)
    return row && timingSafeEqual(session.tokenHash, hashOf(row)) ? userOf(row) : undefined
  }

  closeSession(cookie: string): void {
    this.#sessions.close(cookie)
  }

  add(name: string, role: Role): NewToken {
    checkName(name)
    checkRole(role)
    const token = createToken()
    inTransaction(this.#database, () => {
      const known = this.#find(name)
      if (known)
        throw new AccountError(
          `there is a user ${textOf(known, 'name')} already; \`loadgate user rotate\` gives a user another token`
        )
      this.#database
        .prepare('INSERT INTO users (name, role, token_id, token_hash, created_ms) VALUES (?, ?, ?, ?, ?)')
        .run(name, role, token.id, token.hash, this.#clock.now())
    })
    return { name, role, token: token.text }
  }

  rotate(name: string): NewToken & User {
    const token = createToken()
    const user = inTransaction(this.#database, () => this.#replaceToken(name, token))
    return { ...user, token: token.text }
  }

  remove(name: string): User {
    return inTransaction(this.#database, () => {
      const user = userOf(this.#require(name))
      const others = this.users().filter(({ id }) => id !== user.id)
      if (user.role === 'admin' && !others.some(({ role }) => role === 'admin'))
        throw new AccountError(`${user.name} is the last admin; add another one before you remove this one`)
      this.#database.prepare('DELETE FROM users WHERE id = ?').run(user.id)
      this.#sessions.closeAllOf(user.id)
      return user
    })
  }

  #replaceToken(name: string, { id, hash }: Token): User {
    const user = userOf(this.#require(name))
    this.#database
      .prepare('UPDATE users SET token_id = ?, token_hash = ? WHERE id = ?')
      .run(id, hash, user.id)
    this.#sessions.closeAllOf(user.id)
    return user
  }

  #countSignIn(row: Row): void {
    const id = Number(row.id)
    const nowMs = this.#clock.now()
    const isRecent = (atMs: number | null | undefined): boolean =>
      typeof atMs === 'number' && Math.abs(nowMs - atMs) < SIGN_IN_MS
    if (isRecent(timeOf(row, 'current_sign_in_ms')) || isRecent(this.#counted.get(id))) return
    this.#counted.set(id, nowMs)
    try {
      this.#database
        .prepare(
          'UPDATE users SET sign_ins = sign_ins + 1, last_sign_in_ms = coalesce(current_sign_in_ms, ?), current_sign_in_ms = ? WHERE id = ?'
        )
        .run(nowMs, nowMs, id)
    } catch {
      // A full disk is no reason to refuse a reader.
    }
  }

  #find(name: string): Row | undefined {
    return this.#get('SELECT * FROM users WHERE name = ?', name)
  }

  #require(name: string): Row {
    const row = this.#find(name)
    if (!row)
      throw new AccountError(`there is no user ${JSON.stringify(name)}; \`loadgate user list\` lists them`)
    return row
  }

  #get(sql: string, value: string | number): Row | undefined {
    return this.#database.prepare(sql).get(value)
  }
}

function checkName(name: string): void {
  if (!NAME.test(name))
    throw new AccountError(
      `${JSON.stringify(name)} cannot be the name of a user: 1 to 64 letters (a to z), digits and . _ @ + - are accepted, and it cannot start with . or -`
    )
}

function checkRole(role: string): void {
  if (!ROLES.some((known) => known === role))
    throw new AccountError(`there is no role ${JSON.stringify(role)}; there are ${ROLES.join(', ')}`)
}

function userOf(row: Row): User {
  return { id: Number(row.id), name: textOf(row, 'name'), role: textOf(row, 'role') as Role }
}

function detailsOf(row: Row): UserDetails {
  return {
    ...userOf(row),
    createdMs: Number(row.created_ms),
    signIns: Number(row.sign_ins),
    currentSignInMs: timeOf(row, 'current_sign_in_ms'),
    lastSignInMs: timeOf(row, 'last_sign_in_ms'),
    token: undefined
  }
}

function hashOf(row: Row): Uint8Array {
  return row.token_hash as Uint8Array
}

function textOf(row: Row, column: string): string {
  return row[column] as string
}

function timeOf(row: Row, column: string): number | null {
  const value = row[column]
  return value === null || value === undefined ? null : Number(value)
}

/** What a user signs in with. It has 256 random bits, so that a fast hash of it is as good as a slow one. */
export interface Token {
  readonly text: string
  /** Not secret: it finds the user. */
  readonly id: string
  readonly hash: Uint8Array
}

const ID_BYTES = 6
const SECRET_BYTES = 32
const SHAPE = /^lg_([0-9a-f]{12})_[\w-]{43}$/

export function createToken(): Token {
  const id = randomBytes(ID_BYTES).toString('hex')
  const text = `lg_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`
  return { text, id, hash: hashSecret(text) }
}

/** The id in a token; an empty text, which is the id of none, if it is not one. */
export function readTokenId(text: string): string {
  return SHAPE.exec(text)?.[1] ?? ''
}
