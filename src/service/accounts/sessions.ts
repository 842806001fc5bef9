import { randomBytes } from 'node:crypto'
import type { Clock } from '../../contract/clock.js'
import { refuseWrite } from '../store/database-errors.js'
import type { SessionRow, SessionRows } from './session-rows.js'
import { hashSecret } from '../secrets.js'

const SECRET_BYTES = 32
const LONGEST_IDLE_MS = 12 * 3_600_000
const LONGEST_MS = 7 * 24 * 3_600_000
/** A session in use is prolonged when this much of its time has passed: a read is rarely a write. */
const PROLONG_AFTER_MS = 10 * 60_000

/** The visits of browsers. A cookie is random; only its hash is kept. */
export class Sessions {
  readonly #rows: SessionRows
  readonly #clock: Clock

  constructor(rows: SessionRows, clock: Clock) {
    this.#rows = rows
    this.#clock = clock
  }

  /** The value of the cookie. The session belongs to the token that was checked, whatever happens to the user meanwhile. */
  open(userId: number, token: string): string {
    const cookie = randomBytes(SECRET_BYTES).toString('base64url')
    const nowMs = this.#clock.now()
    const row = { userId, tokenHash: hashSecret(token), createdMs: nowMs, expiresMs: nowMs + LONGEST_IDLE_MS }
    try {
      this.#rows.removeExpired(nowMs)
      this.#rows.add(hashSecret(cookie), row)
    } catch (thrown) {
      throw refuseWrite(thrown, 'you cannot log in')
    }
    return cookie
  }

  /** Whose it is, and the token it was opened with: whoever asks compares it with the one that the user has now. */
  find(cookie: string): Pick<SessionRow, 'userId' | 'tokenHash'> | undefined {
    const hash = hashSecret(cookie)
    const row = this.#rows.find(hash)
    if (!row) return undefined
    if (row.expiresMs <= this.#clock.now()) {
      this.#attempt(() => this.#rows.remove(hash))
      return undefined
    }
    this.#prolong(hash, row)
    return row
  }

  close(cookie: string): void {
    try {
      this.#rows.remove(hashSecret(cookie))
    } catch (thrown) {
      throw refuseWrite(thrown, 'you cannot log out')
    }
  }

  closeAllOf(userId: number): void {
    this.#rows.removeAllOf(userId)
  }

  #prolong(hash: Uint8Array, { createdMs, expiresMs }: SessionRow): void {
    const untilMs = Math.min(this.#clock.now() + LONGEST_IDLE_MS, createdMs + LONGEST_MS)
    if (untilMs - expiresMs < PROLONG_AFTER_MS) return
    this.#attempt(() => this.#rows.prolong(hash, untilMs))
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
