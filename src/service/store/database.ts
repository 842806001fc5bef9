import { closeSync, openSync, statSync } from 'node:fs'
import type * as Sqlite from 'node:sqlite'
import type { DatabaseSync } from 'node:sqlite'
import { dirname, resolve } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import { attempt } from '../errors.js'
import { databaseFile } from './data-folder.js'
import { explainDatabase } from './database-errors.js'

/** How long to wait while another process is writing. A service does so only until it answers callers: see `neverWait`. */
const BUSY_TIMEOUT_MS = 10_000

/** The database in a data folder, brought to the version of this program. Several processes may have it open at a time. */
export function openDatabase(dataDir: string, by: 'service' | 'command' = 'command'): DatabaseSync {
  const { DatabaseSync } = loadSqlite()
  const file = databaseFile(dataDir)
  let database: DatabaseSync | undefined
  try {
    // A service may create its folder anywhere; a command that runs before it must not take it over.
    if (by === 'service') makeFolder(dataDir, { mode: 0o700 })
    requireOwnFolder(dataDir, file)
    makeFolder(dataDir, { mode: 0o700 })
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, 'a', 0o600))
    database = new DatabaseSync(file)
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    migrate(database)
    return database
  } catch (thrown) {
    database?.close()
    throw explainDatabase(thrown, dataDir)
  }
}

/**
 * From now on a write fails at once while another process is writing, and is tried again later (`whenFree`): waiting would stop everyone.
 * Reads never wait for a writer.
 */
export function neverWait(database: DatabaseSync): void {
  database.exec('PRAGMA busy_timeout = 0')
}

/** All of it is done, or nothing. */
export function inTransaction<T>(database: DatabaseSync, act: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = act()
    database.exec('COMMIT')
    return result
  } catch (thrown) {
    // After some failures SQLite has done that by itself.
    attempt(() => database.exec('ROLLBACK'))
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

/** Node has it from 22.13 on; it is loaded only when needed. */
export function loadSqlite(): typeof Sqlite {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13))
    throw new Error(
      `the commands serve, user, queue and prune need Node 22.13 or newer, because the service keeps its runs in SQLite; this is Node ${process.versions.node}`
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

/** Another user's files beside the database would lock the service out. The database's owner counts first: a volume may be root's. */
function requireOwnFolder(dataDir: string, file: string): void {
  const user = process.getuid?.()
  if (user === undefined) return
  const owner = ownerOfDatabase(dataDir, file) ?? (user === 0 ? ownerAbove(dataDir) : user)
  if (owner === user) return
  const byMistake =
    owner === 0 ? ` (if root made it by mistake, give it back: chown -R ${user} ${dataDir})` : ''
  throw new Error(
    `the data folder ${dataDir} belongs to another user; run the command as that one: sudo -u '#${owner}' loadgate …${byMistake}`
  )
}

/** Undefined if there is none yet. */
function ownerOfDatabase(dataDir: string, file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.uid
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EACCES') throw thrown
    return statSync(dataDir).uid
  }
}

/** The owner of the folder, or of the one in which it would be created. */
function ownerAbove(folder: string): number {
  const path = resolve(folder)
  return statSync(path, { throwIfNoEntry: false })?.uid ?? ownerAbove(dirname(path))
}

/**
 * Each brings the database from one version to the next; what was released never changes. Rows of `runs` are small, and their order
 * is that of the list: every index ends with it, so that a page of the list is read without sorting. The records are apart.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    role TEXT NOT NULL,
    token_id TEXT NOT NULL UNIQUE,
    token_hash BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    sign_ins INTEGER NOT NULL DEFAULT 0,
    current_sign_in_ms INTEGER,
    last_sign_in_ms INTEGER
  ) STRICT;
  CREATE TABLE sessions (
    hash BLOB PRIMARY KEY,
    user_id INTEGER NOT NULL,
    token_hash BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    is_unsettled INTEGER NOT NULL,
    name TEXT NOT NULL,
    project TEXT,
    user_name TEXT,
    created_ms INTEGER NOT NULL,
    bytes INTEGER
  ) STRICT;
  CREATE INDEX runs_by_status ON runs (status);
  CREATE INDEX runs_by_project ON runs (project);
  CREATE INDEX runs_by_user ON runs (user_name);
  CREATE INDEX unsettled_runs ON runs (is_unsettled) WHERE is_unsettled = 1;
  CREATE INDEX unmeasured_runs ON runs (is_unsettled) WHERE is_unsettled = 0 AND bytes IS NULL;
  CREATE TABLE run_records (
    sequence INTEGER PRIMARY KEY REFERENCES runs (sequence) ON DELETE CASCADE,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE run_tags (
    tag TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES runs (sequence) ON DELETE CASCADE,
    PRIMARY KEY (tag, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tags_of_runs ON run_tags (sequence);
  CREATE TABLE grids (
    id TEXT PRIMARY KEY,
    is_active INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX active_grids ON grids (is_active) WHERE is_active = 1;
  CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Users of other issuers, who sees a run, how long its results stay, and what a user has uploaded in a day.
  `
  ALTER TABLE users ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
  ALTER TABLE users ADD COLUMN subject TEXT NOT NULL DEFAULT '';
  ALTER TABLE users ADD COLUMN expires_ms INTEGER;
  CREATE UNIQUE INDEX users_by_subject ON users (issuer, subject) WHERE issuer != '';
  ALTER TABLE sessions ADD COLUMN latest_ms INTEGER;
  ALTER TABLE sessions ADD COLUMN role TEXT;
  ALTER TABLE sessions ADD COLUMN groups TEXT;
  ALTER TABLE runs ADD COLUMN is_public INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN user_id INTEGER;
  ALTER TABLE runs ADD COLUMN ended_ms INTEGER;
  ALTER TABLE runs ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET (is_public, user_id, ended_ms) = (
    SELECT coalesce(json_extract(json, '$.request.privacy') = 'public', 0), json_extract(json, '$.user.id'),
      CAST(json_extract(json, '$.stoppedMs') AS INTEGER)
    FROM (SELECT CASE WHEN json_valid(record) THEN record ELSE '{}' END AS json
      FROM run_records WHERE run_records.sequence = runs.sequence));
  ALTER TABLE grids ADD COLUMN is_public INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE grids ADD COLUMN user_id INTEGER;
  ALTER TABLE grids ADD COLUMN project TEXT;
  UPDATE grids SET user_id = json_extract(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.user.id');
  CREATE TABLE uploads (
    day TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    project TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (day, user_id, project)
  ) STRICT, WITHOUT ROWID;
  `
]
