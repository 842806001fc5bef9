import type { Clock } from '../clock.js'
import { systemClock } from '../clock.js'
import { openDatabase } from './database.js'
import { explainDatabase } from './database-errors.js'
import { takeOverJson } from './json-folder.js'
import { requireUnclaimed } from './service-claim.js'
import { SqliteStore } from './sqlite-store.js'

/** The store of a service in its data folder; `claim` locks it. Throws if another service is using the folder. */
export function openStore(
  dataDir: string,
  { log, clock = systemClock }: { log: (line: string) => void; clock?: Clock | undefined }
): SqliteStore {
  const database = openDatabase(dataDir, 'service')
  try {
    requireUnclaimed(database, dataDir)
    takeOverJson(database, dataDir, log)
    const store = new SqliteStore(dataDir, database, { log, clock })
    store.folder.discardUploads()
    return store
  } catch (thrown) {
    database.close()
    throw explainDatabase(thrown, dataDir)
  }
}
