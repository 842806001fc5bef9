import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../contract/clock.js'
import type { Role } from '../../config/config.js'
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
  readonly role: Role
}

export interface IssuerUser {
  readonly id: number
  readonly name: string
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

  find({ issuer, subject }: Subject): IssuerUser | undefined {
    const sql = 'SELECT id, name FROM users WHERE issuer = ? AND subject = ?'
    return this.database.prepare(sql).get(issuer, subject) as unknown as IssuerUser | undefined
  }

  /** Creates the user if this is the first request. */
  require(wanted: Subject): IssuerUser {
    const user = this.find(wanted) ?? this.#create(wanted)
    this.#countSignIn(user.id, wanted.role)
    return user
  }

  #create(wanted: Subject): IssuerUser {
    const { issuer, subject, role } = wanted
    // Nobody knows it: the row needs one.
    const { id, hash } = createToken()
    try {
      return inTransaction(this.database, () => {
        const known = this.find(wanted)
        if (known) return known
        const name = this.#freeName(subject, new URL(issuer).host)
        const sql =
          'INSERT INTO users (name, role, token_id, token_hash, created_ms, issuer, subject) VALUES (?, ?, ?, ?, ?, ?, ?)'
        const { lastInsertRowid } = this.database
          .prepare(sql)
          .run(name, role, id, hash, this.clock.now(), issuer, subject)
        return { id: Number(lastInsertRowid), name }
      })
    } catch (thrown) {
      throw refuseWrite(thrown, `${subject} cannot be added to the users`)
    }
  }

  /** A name belongs to one user, whatever its case: the host says where the other one comes from. */
  #freeName(subject: string, host: string): string {
    const isTaken = (name: string): boolean =>
      this.database.prepare('SELECT 1 FROM users WHERE name = ?').get(name) !== undefined
    let name = subject
    for (let number = 1; isTaken(name); number++)
      name = `${subject}@${host}${number === 1 ? '' : ` (${number})`}`
    return name
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
