import { clauseOf } from '../errors.js'
import { inTransaction } from './database.js'
import type { SqliteStore } from './sqlite-store.js'

/** Why nothing can be written down right now; undefined if it can. */
export function whyNotWritable(store: Pick<SqliteStore, 'flush' | 'database'>): string | undefined {
  try {
    store.flush()
    inTransaction(store.database, () => undefined)
    return undefined
  } catch (thrown) {
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
    return `the service's state cannot be written (${clauseOf(cause)})`
  }
}
