import type { DatabaseSync } from 'node:sqlite'

/** A record that somebody else wrote may be anything. */
const SAFE = "CASE WHEN json_valid(record) THEN record ELSE '{}' END"

/**
 * Deletes the standalone grids that stopped before this time and that no run names any more; a run's own grids go with it. Returns how
 * many.
 */
export function deleteOldGrids(database: DatabaseSync, beforeMs: number): number {
  const found = database
    .prepare(
      `SELECT id FROM (SELECT id, ${SAFE} AS record FROM grids WHERE is_active = 0)
       WHERE json_extract(record, '$.batchId') IS NULL
       AND coalesce(json_extract(record, '$.ended.atMs'), json_extract(record, '$.createdMs')) < ?`
    )
    .all(beforeMs)
    .map(({ id }) => String(id))
  if (found.length === 0) return 0
  const named = new Set(
    database
      .prepare(`SELECT DISTINCT value FROM run_records, json_each(${SAFE}, '$.gridIds')`)
      .all()
      .map(({ value }) => value)
  )
  const remove = database.prepare('DELETE FROM grids WHERE id = ? AND is_active = 0')
  const old = found.filter((id) => !named.has(id))
  for (const id of old) remove.run(id)
  return old.length
}
