/**
 * Each brings the database from one version to the next; what was released never changes. Rows of `runs` are small, and their order
 * is that of the list: every index ends with it, so that a page of the list is read without sorting. The records are apart.
 */
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
  CREATE TABLE processes (pid INTEGER PRIMARY KEY, start_time TEXT NOT NULL) STRICT;
  CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `
]
