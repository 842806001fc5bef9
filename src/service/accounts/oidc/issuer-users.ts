import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../contract/clock.js'
import type { Role, TrustedIssuer } from '../../config/config.js'
import { attempt } from '../../errors.js'
import { inTransaction } from '../../store/database.js'
import { refuseWrite } from '../../store/database-errors.js'
import { createToken } from '../accounts.js'

/** Requests within this time count as one sign-in: a read must not cause a write. */
const SIGN_IN_MS = 3_600_000

/** Whom an issuer's token speaks for. */
export interface Subject {
  readonly issuer: string
  readonly subject: string
  /** By the config file: that in the row is for lists. */
  readonly name: string
  readonly role: Role
  /** Of the user's runs, unless they name another. */
  readonly project: string | undefined
}

export const LONGEST_SUBJECT = 255

/**
 * A name means one user, whoever comes first: users of an issuer with a name have that in front; the repositories of the one without have
 * a slash and no colon; users with a token, and people, have neither. Undefined for what cannot be a user.
 */
export function nameOf({ name }: TrustedIssuer, subject: string): string | undefined {
  if (subject === '' || subject.length > LONGEST_SUBJECT || /\p{C}/u.test(subject)) return undefined
  if (name !== undefined) return `${name}:${subject}`
  return /^[^:\s]+\/[^:\s]+$/.test(subject) ? subject : undefined
}

/** For lists, where names that differ in case alone count as one: as `acme/Shop` does once it is called `acme/shop`. */
export function freeName(database: DatabaseSync, name: string): string {
  const isTaken = (one: string): boolean =>
    database.prepare('SELECT 1 FROM users WHERE name = ?').get(one) !== undefined
  let free = name
  for (let number = 2; isTaken(free); number++) free = `${name} (${number})`
  return free
}

/** The users that come from issuers: rows beside those of the users with tokens, and never one of them. */
export class IssuerUsers {
  /** When a sign-in of each user was last counted, so that a database that cannot be written is not tried for every request. */
  readonly #counted = new Map<number, number>()

  constructor(
    private readonly database: DatabaseSync,
    private readonly clock: Clock
  ) {}

  has(id: number): boolean {
    return this.database.prepare('SELECT 1 FROM users WHERE id = ?').get(id) !== undefined
  }

  /** The id of the user. */
  find({ issuer, subject }: Subject): number | undefined {
    const sql = 'SELECT id FROM users WHERE issuer = ? AND subject = ?'
    return this.database.prepare(sql).get(issuer, subject)?.id as number | undefined
  }

  /** Creates the user if this is the first request. */
  require(wanted: Subject): number {
    const id = this.find(wanted) ?? this.#create(wanted)
    this.#countSignIn(id, wanted.role)
    return id
  }

  #create(wanted: Subject): number {
    const { issuer, subject, name, role } = wanted
    // Nobody knows it: the row needs one.
    const { id, hash } = createToken()
    try {
      return inTransaction(this.database, () => {
        const known = this.find(wanted)
        if (known !== undefined) return known
        const sql =
          'INSERT INTO users (name, role, token_id, token_hash, created_ms, issuer, subject) VALUES (?, ?, ?, ?, ?, ?, ?)'
        const { lastInsertRowid } = this.database
          .prepare(sql)
          .run(freeName(this.database, name), role, id, hash, this.clock.now(), issuer, subject)
        return Number(lastInsertRowid)
      })
    } catch (thrown) {
      throw refuseWrite(thrown, `${name} cannot be added to the users`)
    }
  }

  /** The role in the row is for lists alone: each request has that of the rules. */
  #countSignIn(id: number, role: Role): void {
    const nowMs = this.clock.now()
    const countedMs = this.#counted.get(id)
    if (countedMs !== undefined && Math.abs(nowMs - countedMs) < SIGN_IN_MS) return
    this.#counted.set(id, nowMs)
    const sql = `UPDATE users SET role = ?, sign_ins = sign_ins + 1,
      last_sign_in_ms = coalesce(current_sign_in_ms, ?), current_sign_in_ms = ?
      WHERE id = ? AND (current_sign_in_ms IS NULL OR abs(? - current_sign_in_ms) >= ?)`
    // A full disk must not keep anyone from reading.
    attempt(() => this.database.prepare(sql).run(role, nowMs, nowMs, id, nowMs, SIGN_IN_MS))
  }
}
