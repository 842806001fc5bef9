import type { DatabaseSync } from 'node:sqlite'

/** What is kept of a session, by the hash of its cookie. */
export interface SessionRow {
  readonly userId: number
  readonly tokenHash: Uint8Array
  readonly createdMs: number
  readonly expiresMs: number
}

/** Where sessions are kept. */
export interface SessionRows {
  add(hash: Uint8Array, row: SessionRow): void
  find(hash: Uint8Array): SessionRow | undefined
  prolong(hash: Uint8Array, untilMs: number): void
  remove(hash: Uint8Array): void
  removeExpired(nowMs: number): void
  removeAllOf(userId: number): void
}

/** They outlive a restart. */
export function openSessionRows(database: DatabaseSync): SessionRows {
  return {
    add: (hash, { userId, tokenHash, createdMs, expiresMs }) => {
      database
        .prepare(
          'INSERT INTO sessions (hash, user_id, token_hash, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?)'
        )
        .run(hash, userId, tokenHash, createdMs, expiresMs)
    },
    find: (hash) => {
      const row = database.prepare('SELECT * FROM sessions WHERE hash = ?').get(hash)
      return (
        row && {
          userId: Number(row.user_id),
          tokenHash: row.token_hash as Uint8Array,
          createdMs: Number(row.created_ms),
          expiresMs: Number(row.expires_ms)
        }
      )
    },
    prolong: (hash, untilMs) => {
      database.prepare('UPDATE sessions SET expires_ms = ? WHERE hash = ?').run(untilMs, hash)
    },
    remove: (hash) => {
      database.prepare('DELETE FROM sessions WHERE hash = ?').run(hash)
    },
    removeExpired: (nowMs) => {
      database.prepare('DELETE FROM sessions WHERE expires_ms <= ?').run(nowMs)
    },
    removeAllOf: (userId) => {
      database.prepare('DELETE FROM sessions WHERE user_id = ?').run(userId)
    }
  }
}

/** They end with the process. */
export function createSessionRows(): SessionRows {
  const rows = new Map<string, SessionRow>()
  const keyOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex')
  const removeWhere = (isOver: (row: SessionRow) => boolean): void => {
    for (const [key, row] of rows) if (isOver(row)) rows.delete(key)
  }
  return {
    add: (hash, row) => rows.set(keyOf(hash), row),
    find: (hash) => rows.get(keyOf(hash)),
    prolong: (hash, untilMs) => {
      const row = rows.get(keyOf(hash))
      if (row) rows.set(keyOf(hash), { ...row, expiresMs: untilMs })
    },
    remove: (hash) => rows.delete(keyOf(hash)),
    removeExpired: (nowMs) => removeWhere(({ expiresMs }) => expiresMs <= nowMs),
    removeAllOf: (id) => removeWhere(({ userId }) => userId === id)
  }
}
