import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
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
      sizes.push([String(id), await sizeOf(folder.runDir(String(id)))])
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

/** Of all files below a folder; what disappears meanwhile has none. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  let bytes = 0
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await sizeOf(path)
    else if (entry.isFile())
      bytes += await stat(path).then(
        ({ size }) => size,
        () => 0
      )
  }
  return bytes
}
