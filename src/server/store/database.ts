import { closeSync, openSync } from 'node:fs'
import type * as Sqlite from 'node:sqlite'
import type { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../files/make-folder.js'
import { databaseFile } from './data-folder.js'
import { explainDatabase } from './database-errors.js'
import { requireOwnFolder } from './folder-owner.js'
import { MIGRATIONS } from './migrations.js'

/**
 * How long to wait while another process is writing, which takes milliseconds. A service does nothing else meanwhile, so that it gives
 * up earlier: what it could not write is written later, or the caller tries again.
 */
const BUSY_TIMEOUTS_MS = { service: 2000, command: 10_000 }

/** The database in a data folder, brought to the version of this program. Several processes may have it open at a time. */
export function openDatabase(dataDir: string, by: 'service' | 'command' = 'command'): DatabaseSync {
  const { DatabaseSync } = loadSqlite()
  const file = databaseFile(dataDir)
  let database: DatabaseSync | undefined
  try {
    // A service may have its folder where it likes; a command that comes before it must not take it away.
    if (by === 'service') makeFolder(dataDir, { mode: 0o700 })
    requireOwnFolder(dataDir, file)
    makeFolder(dataDir, { mode: 0o700 })
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, 'a', 0o600))
    database = new DatabaseSync(file)
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUTS_MS[by]}`)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    migrate(database)
    return database
  } catch (thrown) {
    database?.close()
    throw explainDatabase(thrown, dataDir)
  }
}

/** Runs it in a transaction: all of it is done, or nothing. */
export function inTransaction<T>(database: DatabaseSync, act: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = act()
    database.exec('COMMIT')
    return result
  } catch (thrown) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // After some failures SQLite has done that by itself.
    }
    throw thrown
  }
}

function migrate(database: DatabaseSync): void {
  const versionNow = (): number => Number(database.prepare('PRAGMA user_version').get()?.user_version)
  // A full disk must not keep anyone from reading what there is.
  if (versionNow() === MIGRATIONS.length) return
  inTransaction(database, () => {
    const version = versionNow()
    if (version > MIGRATIONS.length)
      throw new Error(
        `the data folder was written by a newer loadgate (version ${version} of its database, this one knows ${MIGRATIONS.length}); start that one`
      )
    for (const step of MIGRATIONS.slice(version)) database.exec(step)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

/** Node has it from 22.13 on; it is not looked for before it is needed. */
export function loadSqlite(): typeof Sqlite {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13))
    throw new Error(
      `loadgate serve needs Node 22.13 or newer, because it keeps its runs in SQLite; this is Node ${process.versions.node}`
    )
  return withoutWarnings(() => process.getBuiltinModule('node:sqlite'))
}

/** Node warns that SQLite is experimental as it is loaded; nobody who starts a service can do anything about it. */
function withoutWarnings<T>(load: () => T): T {
  const before = Object.getOwnPropertyDescriptor(process, 'emitWarning')
  process.emitWarning = () => undefined
  try {
    return load()
  } finally {
    if (before) Object.defineProperty(process, 'emitWarning', before)
  }
}
