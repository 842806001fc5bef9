import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{databaseFile,explainDatabase}from"./chunk-JTJ4QCHS.js";import{makeFolder}from"./chunk-57ME4GGB.js";import{closeSync,openSync}from"node:fs";import{execFileSync}from"node:child_process";import{statSync}from"node:fs";import{dirname,resolve}from"node:path";function requireOwnFolder(dataDir,file){let user=process.getuid?.();if(user===void 0)return;let owner=ownerOfDatabase(dataDir,file)??(user===0?ownerAbove(dataDir):user);if(owner===user)return;let byMistake=owner===0?` (if root made it by mistake, give it back: chown -R ${nameOf(user)} ${dataDir})`:"";throw new Error(`the data folder ${dataDir} belongs to another user; run the command as that one: sudo -u ${nameOf(owner)} loadgate \u2026${byMistake}`)}function ownerOfDatabase(dataDir,file){try{return statSync(file,{throwIfNoEntry:!1})?.uid}catch(thrown){if(thrown.code!=="EACCES")throw thrown;return statSync(dataDir).uid}}function ownerAbove(folder){let path=resolve(folder);return statSync(path,{throwIfNoEntry:!1})?.uid??ownerAbove(dirname(path))}function nameOf(user){try{return execFileSync("id",["-nu",String(user)],{stdio:["ignore","pipe","ignore"]}).toString().trim()}catch{return`'#${user}'`}}var MIGRATIONS=[`
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
  `];var BUSY_TIMEOUTS_MS={service:2e3,command:1e4};function openDatabase(dataDir,by="command"){let{DatabaseSync}=loadSqlite(),file=databaseFile(dataDir),database;try{return by==="service"&&makeFolder(dataDir,{mode:448}),requireOwnFolder(dataDir,file),makeFolder(dataDir,{mode:448}),closeSync(openSync(file,"a",384)),database=new DatabaseSync(file),database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUTS_MS[by]}`),database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"),migrate(database),database}catch(thrown){throw database?.close(),explainDatabase(thrown,dataDir)}}function inTransaction(database,act){database.exec("BEGIN IMMEDIATE");try{let result=act();return database.exec("COMMIT"),result}catch(thrown){try{database.exec("ROLLBACK")}catch{}throw thrown}}function migrate(database){let versionNow=()=>Number(database.prepare("PRAGMA user_version").get()?.user_version);versionNow()!==MIGRATIONS.length&&inTransaction(database,()=>{let version=versionNow();if(version>MIGRATIONS.length)throw new Error(`the data folder was written by a newer loadgate (version ${version} of its database, this one knows ${MIGRATIONS.length}); start that one`);for(let step of MIGRATIONS.slice(version))database.exec(step);database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)})}function loadSqlite(){let[major=0,minor=0]=process.versions.node.split(".").map(Number);if(major<22||major===22&&minor<13)throw new Error(`loadgate serve needs Node 22.13 or newer, because it keeps its runs in SQLite; this is Node ${process.versions.node}`);return withoutWarnings(()=>process.getBuiltinModule("node:sqlite"))}function withoutWarnings(load){let before=Object.getOwnPropertyDescriptor(process,"emitWarning");process.emitWarning=()=>{};try{return load()}finally{before&&Object.defineProperty(process,"emitWarning",before)}}import{basename}from"node:path";var isText=value=>typeof value=="string",isNumber=value=>Number.isFinite(value),isTime=value=>Number.isFinite(value)&&Math.abs(Number(value))<=864e13,isCount=value=>Number.isSafeInteger(value)&&Number(value)>=0,isBoolean=value=>typeof value=="boolean",isId=value=>typeof value=="string"&&/^[\w-]{1,100}$/.test(value),isFileName=value=>typeof value=="string"&&!["",".",".."].includes(value)&&basename(value)===value,oneOf=(...values)=>value=>values.some(each=>each===value),orNull=check=>value=>value===null||check(value),orAbsent=check=>value=>value===void 0||check(value),listOf=check=>value=>Array.isArray(value)&&value.every(element=>check(element)),shape=checks=>value=>typeof value=="object"&&value!==null&&Object.entries(checks).every(([key,check])=>check(value[key])),isUserReference=shape({id:isCount,name:isText}),isGrid=shape({id:isId,spec:shape({region:isText,instanceQuantity:value=>isCount(value)&&Number(value)>0,instanceType:isText,infrastructure:oneOf("demand","hosted"),stopAfterMin:isNumber}),batchId:orNull(isId),user:orAbsent(isUserReference),createdMs:isTime,status:oneOf("queued","starting","started","stopped"),startedMs:orNull(isTime),ended:orAbsent(shape({by:oneOf("deleted","stop_after","run ended","failed","closed"),atMs:isTime})),problem:orAbsent(isText),nodeNames:orAbsent(listOf(isText))}),isNode=shape({grid:isId,region:isText,number:isCount,threads:orNull(isNumber),place:isText,startedMs:orNull(isTime),rows:orNull(isCount),firstSampleMs:orAbsent(isTime),lastSampleMs:orAbsent(isTime),cpuLimit:orNull(isNumber),restarts:orNull(isNumber),throttled:orNull(isNumber),clockOffsetMs:isNumber,lost:orNull(isText)}),isRun=shape({id:isId,batchId:isId,request:shape({tool:isText,name:orNull(isText),notes:orNull(isText),project:orNull(isText),tags:listOf(isText),privacy:oneOf("public","private"),threads:orNull(isNumber),rampupSec:orNull(isNumber),durationSec:orNull(isNumber),hosts:listOf(shape({host:isText,address:isText})),properties:listOf(shape({kind:oneOf("J","D"),name:isText,value:isText}))}),gridIds:listOf(isId),files:listOf(shape({uuid:isId,name:isFileName})),user:orAbsent(isUserReference),createdMs:isTime,sequence:isCount,toolVersion:orNull(isText),status:oneOf("queued","running","stopping","finished","problem"),apdex:orNull(isText),samples:orNull(isNumber),remoteErrors:orNull(isText),startedMs:orNull(isTime),stoppedMs:orNull(isTime),mark:orAbsent(isId),goMs:orAbsent(isTime),nodes:orAbsent(listOf(isNode)),unmerged:orAbsent(isBoolean),warnings:orAbsent(listOf(isText)),thresholds:orAbsent(shape({text:isText,warmUpSec:orAbsent(isCount),onStall:orAbsent(oneOf("warn","ignore")),mark:orAbsent(isText),verdict:orAbsent(shape({verdict:oneOf("passed","failed","inconclusive","left to the gate"),reason:isText}))})),report:orNull(shape({summary:isText,mean_response_time:orNull(isNumber),mean_concurrency:orNull(isNumber),mean_throughput:orNull(isNumber),mean_error_rate:orNull(isNumber),rehearsal:isBoolean,warnings:orAbsent(listOf(isText))}))}),isGroup=shape({pid:value=>isCount(value)&&Number(value)>1,startTime:isText});function isGridRecord(value){return isGrid(value)}function isRunRecord(value){return isRun(value)}function isProcessGroup(value){return isGroup(value)}function isMarker(value){return shape({marker:marker=>/^[a-f\d]{24}$/.test(String(marker))})(value)}function createRecordReader(kind,isRecord,log){let told=new Set;return({id,record})=>{let found=parseRecord(record);if(isRecord(found)&&found.id===id)return found;told.has(String(id))||log(`the record of ${kind} ${String(id)} was not written by this service, and is ignored`),told.add(String(id))}}function parseRecord(text){try{return JSON.parse(String(text))}catch{return}}export{openDatabase,inTransaction,loadSqlite,isGridRecord,isRunRecord,isProcessGroup,isMarker,createRecordReader,parseRecord};
