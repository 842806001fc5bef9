import type { Clock } from '../clock.js'
import { systemClock } from '../clock.js'
import { openDatabase } from './database.js'
import { explainDatabase } from './database-errors.js'
import { requireLock } from './service-claim.js'
import { SqliteStore } from './sqlite-store.js'

/** The store of a service in its data folder. Throws if another service is using the folder. */
export function openStore(
  dataDir: string,
  { log, clock = systemClock }: { log: (line: string) => void; clock?: Clock | undefined }
): SqliteStore {
  const database = openDatabase(dataDir, 'service')
  let lock: { release(): void } | undefined
  try {
    lock = requireLock(database, dataDir)
    const store = new SqliteStore(dataDir, database, { log, clock, lock })
    store.folder.discardUploads()
    return store
  } catch (thrown) {
    lock?.release()
    database.close()
    throw explainDatabase(thrown, dataDir)
  }
}
