import type { DatabaseSync } from 'node:sqlite'
import { sizeOfFolder } from '../../files/folder-size.js'
import { inTransaction } from '../store/database.js'
import type { DataFolder } from '../store/data-folder.js'

/** Written together. */
const BATCH = 200

/**
 * Notes the size of every run that has ended since the last time; it does not change any more. Returns the sizes that could not be
 * noted: a full disk is when they are needed most.
 */
export async function measureRuns({
  database,
  folder
}: {
  database: DatabaseSync
  folder: DataFolder
}): Promise<ReadonlyMap<string, number>> {
  const rows = database.prepare('SELECT id FROM runs WHERE is_unsettled = 0 AND bytes IS NULL').all()
  const unnoted = new Map<string, number>()
  for (let start = 0; start < rows.length; start += BATCH) {
    const sizes: [id: string, bytes: number][] = []
    for (const { id } of rows.slice(start, start + BATCH))
      sizes.push([String(id), await sizeOfFolder(folder.runDir(String(id)))])
    try {
      note(database, sizes)
    } catch {
      for (const [id, bytes] of sizes) unnoted.set(id, bytes)
    }
  }
  return unnoted
}

function note(database: DatabaseSync, sizes: readonly [id: string, bytes: number][]): void {
  const statement = database.prepare('UPDATE runs SET bytes = ? WHERE id = ?')
  inTransaction(database, () => {
    for (const [id, bytes] of sizes) statement.run(bytes, id)
  })
}
