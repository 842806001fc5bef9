import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inTransaction } from '../store/database.js'
import type { DataFolder } from '../store/data-folder.js'

/** Written together. */
const BATCH = 200

/** Notes the size of every run that has ended since the last time; it does not change any more. */
export async function measureRuns({
  database,
  folder
}: {
  database: DatabaseSync
  folder: DataFolder
}): Promise<void> {
  const find = database.prepare('SELECT id FROM runs WHERE is_unsettled = 0 AND bytes IS NULL LIMIT ?')
  for (;;) {
    const rows = find.all(BATCH)
    if (rows.length === 0) return
    const sizes: [id: string, bytes: number][] = []
    for (const { id } of rows) sizes.push([String(id), await sizeOf(folder.runDir(String(id)))])
    const note = database.prepare('UPDATE runs SET bytes = ? WHERE id = ?')
    inTransaction(database, () => {
      for (const [id, bytes] of sizes) note.run(bytes, id)
    })
  }
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
