import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../contract/clock.js'
import { attempt } from '../errors.js'
import { refuseWrite } from '../store/database-errors.js'
import { hashSecret } from '../secrets.js'
import type { Claims } from './claims.js'

/** What whoever opens a session says of it, beyond whose it is. */
export interface SessionTerms {
  /** It ends by then, however often it is used. */
  readonly latestMs?: number | null
  /** Of a person of single sign-on, the claim with the groups: what they may do is decided by it at each request. */
  readonly groups?: Claims | null
}

interface SessionRow extends SessionTerms {
  readonly userId: number
  /** Of the user's token as it was: a session ends with it. */
  readonly tokenHash: Uint8Array
  readonly createdMs: number
  readonly expiresMs: number
}

/** Where sessions are kept, by the hashes of their cookies. */
export interface SessionRows {
  get(hash: string): SessionRow | undefined
  set(hash: string, row: SessionRow): unknown
  delete(hash: string): unknown
  removeExpired(nowMs: number): void
}

/** They outlive a restart. */
export function openSessionRows(database: DatabaseSync): SessionRows {
  const bytesOf = (hash: string): Uint8Array => Buffer.from(hash, 'hex')
  return {
    get: (hash) => {
      const row = database
        .prepare(
          'SELECT user_id AS userId, token_hash AS tokenHash, created_ms AS createdMs, expires_ms AS expiresMs, latest_ms AS latestMs, groups FROM sessions WHERE hash = ?'
        )
        .get(bytesOf(hash)) as unknown as
        (Omit<SessionRow, 'groups'> & { readonly groups: string | null }) | undefined
      return row && { ...row, groups: row.groups === null ? null : (JSON.parse(row.groups) as Claims) }
    },
    set: (hash, { userId, tokenHash, createdMs, expiresMs, latestMs = null, groups = null }) =>
      database
        .prepare(
          'INSERT OR REPLACE INTO sessions (hash, user_id, token_hash, created_ms, expires_ms, latest_ms, groups) VALUES (?, ?, ?, ?, ?, ?, ?)'
        )
        .run(
          ...[bytesOf(hash), userId, tokenHash, createdMs, expiresMs],
          ...[latestMs, groups && JSON.stringify(groups)]
        ),
    delete: (hash) => database.prepare('DELETE FROM sessions WHERE hash = ?').run(bytesOf(hash)),
    removeExpired: (nowMs) => {
      database.prepare('DELETE FROM sessions WHERE expires_ms <= ?').run(nowMs)
    }
  }
}

/** They end with the process. */
class MemoryRows extends Map<string, SessionRow> implements SessionRows {
  removeExpired(nowMs: number): void {
    for (const [hash, { expiresMs }] of this) if (expiresMs <= nowMs) this.delete(hash)
  }
}

const SECRET_BYTES = 32
const LONGEST_IDLE_MS = 12 * 3_600_000
const LONGEST_MS = 7 * 24 * 3_600_000
/** A session in use is prolonged when this much of its time has passed: a read is rarely a write. */
const PROLONG_AFTER_MS = 10 * 60_000

/** The sessions of browsers. A cookie is random; only its hash is kept. */
export class Sessions {
  constructor(
    private readonly clock: Clock,
    private readonly rows: SessionRows = new MemoryRows()
  ) {}

  /** The value of the cookie. The session belongs to the token that was checked, whatever happens to the user meanwhile. */
  open(userId: number, tokenHash: Uint8Array, terms: SessionTerms = {}): string {
    const cookie = randomBytes(SECRET_BYTES).toString('base64url')
    const nowMs = this.clock.now()
    const row = { userId, tokenHash, createdMs: nowMs, ...terms }
    try {
      this.rows.removeExpired(nowMs)
      this.rows.set(keyOf(cookie), { ...row, expiresMs: endOf(row, nowMs) })
    } catch (thrown) {
      throw refuseWrite(thrown, 'you cannot log in')
    }
    return cookie
  }

  /** Whose it is, and the token it was opened with: the caller compares it with the user's current one. */
  find(cookie: string): SessionRow | undefined {
    const nowMs = this.clock.now()
    const row = this.rows.get(keyOf(cookie))
    if (!row || row.expiresMs <= nowMs) return undefined
    const expiresMs = endOf(row, nowMs)
    if (expiresMs - row.expiresMs < PROLONG_AFTER_MS) return row
    // On a full disk a page is still shown; the next visit tries again.
    attempt(() => this.rows.set(keyOf(cookie), { ...row, expiresMs }))
    return row
  }

  close(cookie: string): void {
    try {
      this.rows.delete(keyOf(cookie))
    } catch (thrown) {
      throw refuseWrite(thrown, 'you cannot log out')
    }
  }
}

/** When it ends unless it is used again. */
function endOf({ createdMs, latestMs }: Pick<SessionRow, 'createdMs' | 'latestMs'>, nowMs: number): number {
  return Math.min(nowMs + LONGEST_IDLE_MS, createdMs + LONGEST_MS, latestMs ?? Infinity)
}

function keyOf(cookie: string): string {
  return Buffer.from(hashSecret(cookie)).toString('hex')
}
