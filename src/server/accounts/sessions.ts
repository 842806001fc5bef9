import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../clock.js'
import { hashSecret } from './tokens.js'

const SECRET_BYTES = 32
const LONGEST_IDLE_MS = 12 * 3_600_000
const LONGEST_MS = 7 * 24 * 3_600_000
/** A session in use is prolonged when this much of its time has passed: a read is rarely a write. */
const PROLONG_AFTER_MS = 10 * 60_000

/** The visits of browsers. A cookie is random; only its hash is kept. */
export class Sessions {
  readonly #database: DatabaseSync
  readonly #clock: Clock

  constructor(database: DatabaseSync, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** The value of the cookie. It is good as long as the user has this token. */
  open(userId: number, tokenHash: Uint8Array): string {
    const cookie = randomBytes(SECRET_BYTES).toString('base64url')
    const nowMs = this.#clock.now()
    this.#database.prepare('DELETE FROM sessions WHERE expires_ms <= ?').run(nowMs)
    this.#database
      .prepare(
        'INSERT INTO sessions (hash, user_id, token_hash, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?)'
      )
      .run(hashSecret(cookie), userId, tokenHash, nowMs, nowMs + LONGEST_IDLE_MS)
    return cookie
  }

  findUser(cookie: string): number | undefined {
    const hash = hashSecret(cookie)
    const row = this.#database
      .prepare(
        `SELECT user_id, sessions.created_ms, expires_ms FROM sessions
        JOIN users ON users.id = user_id AND users.token_hash = sessions.token_hash WHERE hash = ?`
      )
      .get(hash)
    if (!row) return undefined
    const expiresMs = Number(row.expires_ms)
    if (expiresMs <= this.#clock.now()) {
      this.#attempt(() => this.#delete(hash))
      return undefined
    }
    this.#prolong(hash, Number(row.created_ms), expiresMs)
    return Number(row.user_id)
  }

  close(cookie: string): void {
    this.#delete(hashSecret(cookie))
  }

  closeAllOf(userId: number): void {
    this.#database.prepare('DELETE FROM sessions WHERE user_id = ?').run(userId)
  }

  #prolong(hash: Uint8Array, createdMs: number, expiresMs: number): void {
    const untilMs = Math.min(this.#clock.now() + LONGEST_IDLE_MS, createdMs + LONGEST_MS)
    if (untilMs - expiresMs < PROLONG_AFTER_MS) return
    this.#attempt(() =>
      this.#database.prepare('UPDATE sessions SET expires_ms = ? WHERE hash = ?').run(untilMs, hash)
    )
  }

  #delete(hash: Uint8Array): void {
    this.#database.prepare('DELETE FROM sessions WHERE hash = ?').run(hash)
  }

  /** On a full disk a page is still shown. */
  #attempt(write: () => unknown): void {
    try {
      write()
    } catch {
      // The next visit tries again.
    }
  }
}
