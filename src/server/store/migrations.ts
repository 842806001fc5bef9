/** Each brings the database from one version to the next; what was released never changes. */
export const MIGRATIONS: readonly string[] = [
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
    id TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL UNIQUE,
    status TEXT NOT NULL,
    is_unsettled INTEGER NOT NULL,
    name TEXT NOT NULL,
    project TEXT,
    user_name TEXT,
    created_ms INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE run_tags (
    tag TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, run_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE grids (
    id TEXT PRIMARY KEY,
    is_active INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE processes (pid INTEGER PRIMARY KEY, start_time TEXT NOT NULL) STRICT;
  CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `
]
