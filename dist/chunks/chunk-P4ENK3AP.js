import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{RequestError,messageOf}from"./chunk-2PTX2N6K.js";import{makeFolder}from"./chunk-57ME4GGB.js";import{closeSync,openSync}from"node:fs";import{join}from"node:path";var BUSY=5,LOCKED=6,READ_ONLY=8,INPUT_OUTPUT=10,CORRUPT=11,FULL=13,CANNOT_OPEN=14,NOT_A_DATABASE=26;function codeOf(thrown){let{errcode}=thrown;return typeof errcode=="number"?errcode&255:void 0}function refuseWrite(thrown,what){let code=codeOf(thrown),cause={cause:thrown};if(code===FULL)return new RequestError(507,`${what}: the service's disk is full; free up space there and try again`,cause);let why=code===BUSY||code===LOCKED?"another process is writing to its database for longer than usual":code===READ_ONLY?"its data folder is read-only":messageOf(thrown);return new RequestError(503,`${what}: the service cannot write to its database (${why}); try again later`,cause)}function explainDatabase(thrown,dataDir,file){let words=sentenceOf(codeOf(thrown)??systemCode(thrown),file);return words===void 0?thrown:new Error(`the data folder ${dataDir} cannot be used: ${words} (${messageOf(thrown)})`,{cause:thrown})}function systemCode(thrown){let{code}=thrown;return code===void 0?void 0:{ENOSPC:FULL,EROFS:READ_ONLY,EACCES:CANNOT_OPEN,EISDIR:CANNOT_OPEN}[code]}function sentenceOf(code,file){let sentences=new Map([[NOT_A_DATABASE,`${file} is not a database; move it away, or choose another folder`],[CORRUPT,`${file} is damaged; restore it from a backup, or choose another folder`],[INPUT_OUTPUT,"the disk cannot be read or written, or is full; free up space, or choose another folder"],[FULL,"the disk is full; free up space"],[READ_ONLY,"it is read-only; make it writable, or choose another folder"],[CANNOT_OPEN,`${file} cannot be opened; check the permissions, or choose another folder`],[BUSY,"another process is writing to it for longer than usual; try again"],[LOCKED,"another process is writing to it for longer than usual; try again"]]);return code===void 0?void 0:sentences.get(code)}import{execFileSync}from"node:child_process";import{statSync}from"node:fs";function requireOwnFolder(dataDir,file){let user=process.getuid?.();if(user===void 0)return;let owner=statSync(file,{throwIfNoEntry:!1})?.uid??(user===0?statSync(dataDir).uid:user);if(owner!==user)throw new Error(`the data folder ${dataDir} belongs to another user; run the command as that one: sudo -u ${nameOf(owner)} loadgate \u2026`)}function nameOf(user){try{return execFileSync("id",["-nu",String(user)],{stdio:["ignore","pipe","ignore"]}).toString().trim()}catch{return`'#${user}'`}}var MIGRATIONS=[`
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
  `];var BUSY_TIMEOUT_MS=5e3,FILE="loadgate.sqlite";function openDatabase(dataDir){let{DatabaseSync}=loadSqlite();makeFolder(dataDir,{mode:448});let file=databaseFile(dataDir);requireOwnFolder(dataDir,file);let database;try{return closeSync(openSync(file,"a",384)),database=new DatabaseSync(file,{timeout:BUSY_TIMEOUT_MS}),database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"),migrate(database),database}catch(thrown){throw database?.close(),explainDatabase(thrown,dataDir,file)}}function databaseFile(dataDir){return join(dataDir,FILE)}function inTransaction(database,act){database.exec("BEGIN IMMEDIATE");try{let result=act();return database.exec("COMMIT"),result}catch(thrown){throw database.isTransaction&&database.exec("ROLLBACK"),thrown}}function migrate(database){let versionNow=()=>Number(database.prepare("PRAGMA user_version").get()?.user_version);versionNow()!==MIGRATIONS.length&&inTransaction(database,()=>{let version=versionNow();if(version>MIGRATIONS.length)throw new Error(`the data folder was written by a newer loadgate (version ${version} of its database, this one knows ${MIGRATIONS.length}); start that one`);for(let step of MIGRATIONS.slice(version))database.exec(step);database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)})}function loadSqlite(){let[major=0,minor=0]=process.versions.node.split(".").map(Number);if(major<22||major===22&&minor<13)throw new Error(`loadgate serve needs Node 22.13 or newer, because it keeps its runs in SQLite; this is Node ${process.versions.node}`);return withoutWarnings(()=>process.getBuiltinModule("node:sqlite"))}function withoutWarnings(load){let before=Object.getOwnPropertyDescriptor(process,"emitWarning");process.emitWarning=()=>{};try{return load()}finally{before&&Object.defineProperty(process,"emitWarning",before)}}export{refuseWrite,openDatabase,databaseFile,inTransaction};
