import { timingSafeEqual, randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../contract/clock.js'
import type { LoginConfig, Role } from '../config/config.js'
import { attempt } from '../errors.js'
import { inTransaction } from '../store/database.js'
import { hashSecret } from '../secrets.js'
import { claimOf, type Claims } from './claims.js'
import { keepPerson, type Person, roleOfGroups } from './login/people.js'
import { foldName } from './name-patterns.js'
import { openSessionRows, Sessions, type SessionTerms } from './sessions.js'
import {
  AccountError,
  type Accounts,
  type Creator,
  type IssuedTokens,
  type NewToken,
  TokenError,
  type User,
  type UserChanges,
  type UserDetails
} from './users.js'

/** Harmless in logs, pages, addresses and on a command line. */
const NAME = /^[A-Za-z0-9_@+][A-Za-z0-9._@+-]{0,63}$/
/** Requests within this time count as one sign-in: a read must not cause a write. */
const SIGN_IN_MS = 3_600_000
/** Of names that somebody may have meant. */
const MOST_SUGGESTED = 3
/** Compared with a token whose id nobody has: a guess takes the same work whether its id exists or not. */
const NOBODYS_HASH = hashSecret('')

interface Row extends Omit<UserDetails, 'token'> {
  readonly tokenHash: Uint8Array
  readonly subject: string
}

const DETAILS = `id, name, role, issuer, expires_ms AS expiresMs, created_ms AS createdMs, sign_ins AS signIns,
  current_sign_in_ms AS currentSignInMs, last_sign_in_ms AS lastSignInMs`

/** The users in the database. It is read for every request, so that changes of another process apply at once. */
export class TeamAccounts implements Accounts, UserChanges {
  readonly takesTokenInAddress = false
  readonly changes = this
  readonly #sessions: Sessions
  /** When a sign-in of each user was last counted, so that a database that cannot be written is not tried for every request. */
  readonly #counted = new Map<number, number>()

  constructor(
    private readonly database: DatabaseSync,
    private readonly clock: Clock,
    /** The tokens of the issuers in the config file. */
    private readonly issued?: IssuedTokens,
    /** Single sign-on, by today's config file. */
    private readonly login?: Pick<LoginConfig, 'issuer' | 'groups' | 'groupsClaim'>
  ) {
    this.#sessions = new Sessions(clock, openSessionRows(database))
  }

  admit(text: string): Promise<User | undefined> {
    return this.issued?.covers(text) ? this.issued.admit(text) : Promise.resolve(this.findByToken(text))
  }

  findByToken(text: string, admitted?: User): User | undefined {
    if (this.issued?.covers(text)) return this.issued.find(text, admitted)
    const row = this.#getByToken(text)
    if (!row || this.#hasExpired(row)) return undefined
    this.#countSignIn(row)
    return userOf(row)
  }

  findExpired(text: string): User | undefined {
    const row = this.#getByToken(text)
    return row && this.#hasExpired(row) ? userOf(row) : undefined
  }

  users(): UserDetails[] {
    const rows = this.database.prepare(`SELECT ${DETAILS} FROM users ORDER BY id`).all()
    return rows.map((row) => ({ ...(row as unknown as Omit<UserDetails, 'token'>), token: undefined }))
  }

  isRemoved(id: number): boolean {
    return this.#get('id', id) === undefined
  }

  findCreator({ id, claims }: Creator): User | undefined {
    const row = this.#get('id', id)
    // What was said of the creators of old runs is unknown: then the latest role counts.
    return row && (claims ? this.#describe(row, claims) : userOf(row))
  }

  /** Whom the config file of today makes of a user of whom their issuer said this; undefined if it does not let them in. */
  #describe(row: Row, claims: Claims): User | undefined {
    // Of its tokens' users, an issuer says which it is.
    if (claimOf(claims, 'iss') !== undefined) return this.issued?.describe(row.id, row.issuer, claims)
    const role = this.login?.issuer === row.issuer ? roleOfGroups(this.login, claims) : undefined
    return role && { ...userOf(row), role, claims }
  }

  openSession({ id }: User, token: string): string {
    if (this.issued?.covers(token))
      throw new TokenError(403, 'a token of an issuer is for programs: it opens no session in a browser')
    return this.#sessions.open(id, hashSecret(token))
  }

  /** Opens a session for a person whom a provider vouches for. */
  signIn(person: Person, terms: SessionTerms): { user: User; cookie: string } {
    const id = inTransaction(this.database, () => keepPerson(this.database, person, this.clock.now()))
    const row = this.#get('id', id)
    if (!row) throw new AccountError(`${person.name} has just been removed; log in again`)
    this.#countSignIn(row)
    const user = this.#personOf(row, terms.groups)
    if (!user) throw new AccountError(`${person.name} is in none of the groups that may use this service`)
    return { user, cookie: this.#sessions.open(id, row.tokenHash, terms) }
  }

  /** Undefined if they are in none of the groups of today's config file. */
  #personOf(row: Row, groups: SessionTerms['groups']): User | undefined {
    return this.#describe(row, { ...groups, sub: row.subject })
  }

  /** Of the user whose session it is; empty for a user with a token. */
  issuerOf(cookie: string): string {
    const session = this.#sessions.find(cookie)
    return (session && this.#get('id', session.userId)?.issuer) ?? ''
  }

  findBySession(cookie: string): User | undefined {
    const session = this.#sessions.find(cookie)
    const row = session && this.#get('id', session.userId)
    if (!row || this.#hasExpired(row)) return undefined
    if (!timingSafeEqual(session.tokenHash, row.tokenHash)) return undefined
    return row.issuer === '' ? userOf(row) : this.#personOf(row, session.groups)
  }

  closeSession(cookie: string): void {
    this.#sessions.close(cookie)
  }

  add(name: string, role: Role, expiresMs?: number): NewToken {
    checkName(name)
    const token = createToken()
    const id = inTransaction(this.database, () => {
      const known = this.#get('name', name)
      if (known)
        throw new AccountError(
          known.issuer === ''
            ? `there is a user ${known.name} already; \`loadgate user rotate\` gives a user another token`
            : `there is a user ${known.name} already, who comes from ${known.issuer}; choose another name`
        )
      return this.database
        .prepare(
          'INSERT INTO users (name, role, token_id, token_hash, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?)'
        )
        .run(name, role, token.id, token.hash, this.clock.now(), expiresMs ?? null).lastInsertRowid
    })
    return { id: Number(id), name, role, token: token.text, ...(expiresMs !== undefined && { expiresMs }) }
  }

  rotate(name: string, expiresMs?: number): NewToken & User {
    const token = createToken()
    const user = inTransaction(this.database, () => {
      const { id, name: known, issuer } = this.#require(name)
      if (issuer !== '')
        throw new AccountError(
          `${known} has no token here: ${issuer} says who that is; \`loadgate user add\` adds a user with a token`
        )
      const sql = 'UPDATE users SET token_id = ?, token_hash = ?, expires_ms = ? WHERE id = ?'
      this.database.prepare(sql).run(token.id, token.hash, expiresMs ?? null, id)
      this.#closeSessions(id)
      return userOf(this.#require(name))
    })
    return { ...user, token: token.text }
  }

  remove(name: string): User & Pick<UserDetails, 'issuer'> {
    return inTransaction(this.database, () => {
      const { issuer, ...row } = this.#require(name)
      const user = { ...userOf(row), issuer }
      // Only those with a token of this service: others are admins as long as their issuer says so.
      const isOwnAdmin = (one: Pick<UserDetails, 'role' | 'issuer'>): boolean =>
        one.role === 'admin' && one.issuer === ''
      const staysAdmin = (one: UserDetails): boolean =>
        one.id !== user.id && isOwnAdmin(one) && !this.#hasExpired(one)
      if (isOwnAdmin(user) && !this.users().some(staysAdmin))
        throw new AccountError(`${user.name} is the last admin; add another one before you remove this one`)
      this.database.prepare('DELETE FROM users WHERE id = ?').run(user.id)
      this.#closeSessions(user.id)
      return user
    })
  }

  #countSignIn(row: Row): void {
    const { id, currentSignInMs } = row
    const nowMs = this.clock.now()
    const isRecent = (atMs = -Infinity): boolean => Math.abs(nowMs - atMs) < SIGN_IN_MS
    if (isRecent(currentSignInMs ?? undefined) || isRecent(this.#counted.get(id))) return
    this.#counted.set(id, nowMs)
    const sql =
      'UPDATE users SET sign_ins = sign_ins + 1, last_sign_in_ms = coalesce(current_sign_in_ms, ?), current_sign_in_ms = ? WHERE id = ?'
    // A full disk must not keep anyone from reading.
    attempt(() => this.database.prepare(sql).run(nowMs, nowMs, id))
  }

  #closeSessions(id: number): void {
    this.database.prepare('DELETE FROM sessions WHERE user_id = ?').run(id)
  }

  #require(name: string): Row {
    const row = this.#get('name', name)
    // Names of issuers that differ in case alone are different users.
    if (row && (row.issuer === '' || row.name === name)) return row
    const like = this.users().filter((one) => foldName(one.name).startsWith(foldName(name)))
    const meant = like.slice(0, MOST_SUGGESTED).map((one) => JSON.stringify(one.name))
    const hint = meant.length === 0 ? '' : `; did you mean ${meant.join(' or ')}?`
    throw new AccountError(
      `there is no user ${JSON.stringify(name)}${hint || '; `loadgate user list` lists them'}`
    )
  }

  #getByToken(text: string): Row | undefined {
    const row = this.#get('token_id', readTokenId(text))
    const isRight = timingSafeEqual(hashSecret(text), row?.tokenHash ?? NOBODYS_HASH)
    return isRight ? row : undefined
  }

  #hasExpired({ expiresMs }: Pick<Row, 'expiresMs'>): boolean {
    return expiresMs !== null && expiresMs <= this.clock.now()
  }

  #get(column: 'id' | 'name' | 'token_id', value: string | number): Row | undefined {
    const sql = `SELECT ${DETAILS}, token_hash AS tokenHash, subject FROM users WHERE ${column} = ?`
    return this.database.prepare(sql).get(value) as unknown as Row | undefined
  }
}

function checkName(name: string): void {
  if (!NAME.test(name))
    throw new AccountError(
      `${JSON.stringify(name)} cannot be the name of a user: 1 to 64 letters (a to z), digits and . _ @ + - are accepted, and it cannot start with . or -`,
      422
    )
}

function userOf({ id, name, role, expiresMs }: Omit<Row, 'issuer'>): User {
  return { id, name, role, ...(expiresMs !== null && { expiresMs }) }
}

const ID_BYTES = 6
const SECRET_BYTES = 32
const SHAPE = /^lg_([0-9a-f]{12})_[\w-]{43}$/

/** It has 256 random bits, so that a fast hash of it is as good as a slow one. Its id is not secret: it finds the user. */
export function createToken() {
  const id = randomBytes(ID_BYTES).toString('hex')
  const text = `lg_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`
  return { text, id, hash: hashSecret(text) }
}

/** The id in a token; empty, which is the id of none, if it is not a token. */
export function readTokenId(text: string): string {
  return SHAPE.exec(text)?.[1] ?? ''
}
