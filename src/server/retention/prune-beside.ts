import { existsSync } from 'node:fs'
import type { Retention } from '../../service-config/config.js'
import { databaseFile, openDatabase } from '../store/database.js'
import { DataFolder } from '../store/data-folder.js'
import type { Pruning } from './plan-pruning.js'
import { findPrunings, prune } from './prune.js'

/** For a command, beside the service or without one: finds the runs beyond the limits, and deletes them unless told otherwise. */
export async function pruneBeside(
  dataDir: string,
  { retention, isDry, nowMs }: { retention: Retention; isDry: boolean; nowMs: number }
): Promise<Pruning[]> {
  // A mistyped folder must not become a data folder.
  if (!existsSync(databaseFile(dataDir)))
    throw new Error(`there is no data of a service in ${dataDir}; start it once with the same config file`)
  const database = openDatabase(dataDir)
  try {
    const data = { database, folder: new DataFolder(dataDir), log: () => undefined }
    const prunings = await findPrunings(data, retention, nowMs)
    if (!isDry) await prune(data, prunings)
    return prunings
  } finally {
    database.close()
  }
}
