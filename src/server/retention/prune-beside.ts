import { existsSync } from 'node:fs'
import type { Retention } from '../../service-config/config.js'
import { openDatabase } from '../store/database.js'
import { explainDatabase } from '../store/database-errors.js'
import { DataFolder, databaseFile } from '../store/data-folder.js'
import { messageOf } from '../errors.js'
import type { Pruning } from './plan-pruning.js'
import { emptyTrash, findPrunings, prune } from './prune.js'

/**
 * For a command, beside the service or without one: finds the runs beyond the limits, and deletes them unless told otherwise. Whoever
 * types it has the clock before their eyes, so its time counts.
 */
export async function pruneBeside(
  dataDir: string,
  { retention, isDry, nowMs }: { retention: Retention; isDry: boolean; nowMs: number }
): Promise<Pruning[]> {
  // A mistyped folder must not become a data folder.
  if (!existsSync(databaseFile(dataDir)))
    throw new Error(`there is no data of a service in ${dataDir}; start it once with the same config file`)
  const database = openDatabase(dataDir)
  const deleted: Pruning[] = []
  try {
    const data = { database, folder: new DataFolder(dataDir), log: () => undefined }
    if (!isDry) await emptyTrash(data)
    const prunings = await findPrunings(data, retention, nowMs)
    if (!isDry) await prune(data, prunings, { onDeleted: (pruning) => deleted.push(pruning) })
    return prunings
  } catch (thrown) {
    const words = messageOf(explainDatabase(thrown, dataDir))
    const done = deleted.length === 1 ? '1 run has' : `${deleted.length} runs have`
    throw new Error(isDry ? words : `${done} been deleted, not all that are beyond the limits: ${words}`, {
      cause: thrown
    })
  } finally {
    database.close()
  }
}
