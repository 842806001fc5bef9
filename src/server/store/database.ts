import { chmodSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../files/make-folder.js'
import { MIGRATIONS } from './migrations.js'

/** Another process may be writing: a command beside the service. */
const BUSY_TIMEOUT_MS = 5000
const FILE = 'loadgate.sqlite'

/** The database in a data folder, brought to the version of this program. Several processes may have it open at a time. */
export function openDatabase(dataDir: string): DatabaseSync {
  makeFolder(dataDir, { mode: 0o700 })
  const { DatabaseSync } = loadSqlite()
  const file = join(dataDir, FILE)
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  chmodSync(file, 0o600)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  migrate(database)
  return database
}

/** Runs it in a transaction: all of it is done, or nothing. */
export function inTransaction<T>(database: DatabaseSync, act: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = act()
    database.exec('COMMIT')
    return result
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw thrown
  }
}

function migrate(database: DatabaseSync): void {
  inTransaction(database, () => {
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
    if (version > MIGRATIONS.length)
      throw new Error(
        `the data folder was written by a newer loadgate (version ${version} of its database, this one knows ${MIGRATIONS.length}); start that one`
      )
    for (const step of MIGRATIONS.slice(version)) database.exec(step)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

/** Node has it from 22.13 on; bundlers and tests must not look for it before it is needed. */
function loadSqlite(): typeof import('node:sqlite') {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13))
    throw new Error(
      `loadgate serve needs Node 22.13 or newer, because it keeps its runs in SQLite; this is Node ${process.versions.node}`
    )
  return createRequire(import.meta.url)('node:sqlite') as typeof import('node:sqlite')
}
