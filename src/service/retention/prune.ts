import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { DatabaseSync } from 'node:sqlite'
import { existsSync } from 'node:fs'
import { countsPerCreator, type Retention } from '../config/config.js'
import { inTransaction, openDatabase } from '../store/database.js'
import { parseRecord } from '../store/tables.js'
import { DataFolder, databaseFile } from '../store/data-folder.js'
import { attempt, RequestError } from '../errors.js'
import { explainDatabase } from '../store/database-errors.js'
import { capitalize, formatDuration, messageOf } from '../../contract/text.js'
import { hasEnded, type RunRecord } from '../../contract/records.js'
import { formatBytes } from '../../report/escape.js'
import { removeFolder, sizeOfFolder } from '../../contract/files.js'

export const MS_A_DAY = 24 * 60 * 60 * 1000

/** What a limit needs to know of a run. */
export interface KeptRun {
  readonly id: string
  readonly sequence: number
  /** Runs without one count as those of one project. */
  readonly project: string | null
  /** Who created it; null if it is from before there were users. */
  readonly userId: number | null
  readonly createdMs: number
  readonly bytes: number
  /** When its results were complete; undefined if they are not. */
  readonly endedMs: number | undefined
  /** Somebody wants to keep it. */
  readonly isPinned: boolean
}

export interface Pruning {
  readonly run: KeptRun
  readonly why: string
}

/** What it is by the clock, and what it has certainly been, where the clock may be wrong. */
export interface Now {
  readonly nowMs: number
  readonly surelyMs?: number
  /** Of a run that is to be created: they need room too. */
  readonly newBytes?: number
}

/**
 * Which runs are beyond the limits, oldest first: never one that has not ended, is pinned, or has ended too short a time ago. The number of a
 * project's runs is that of those that have ended and are not pinned; the size is that of all runs.
 */
export function planPruning(
  runs: readonly KeptRun[],
  retention: Retention,
  { nowMs, surelyMs = nowMs, newBytes = 0 }: Now
): Pruning[] {
  const { days = Infinity, runsPerProject = Infinity, bytes: most = Infinity } = retention
  const { atLeastMs = MS_A_DAY } = retention
  const mayGo = ({ endedMs, isPinned }: KeptRun): boolean =>
    endedMs !== undefined && !isPinned && endedMs <= surelyMs - atLeastMs
  const isPerCreator = ({ project }: KeptRun): boolean => countsPerCreator(retention, project)
  const whose = (run: KeptRun): string => (isPerCreator(run) ? ' of this user' : '')
  const newestFirst = [...runs].sort((a, b) => b.sequence - a.sequence)
  const counts = new Map<string, number>()
  const reasons = new Map<KeptRun, string>()
  for (const run of newestFirst) {
    if (run.endedMs === undefined || run.isPinned) continue
    const together = JSON.stringify([run.project, isPerCreator(run) && run.userId])
    const count = (counts.get(together) ?? 0) + 1
    counts.set(together, count)
    if (!mayGo(run)) continue
    if (run.createdMs < nowMs - days * MS_A_DAY) reasons.set(run, `it is older than ${days} days`)
    else if (count > runsPerProject)
      reasons.set(run, `${nameProject(run)} more than ${runsPerProject} runs${whose(run)}`)
  }
  const left = newestFirst.filter((run) => !reasons.has(run)).reverse()
  let total = newBytes + sizeOfAll(left)
  // The oldest ones that can be deleted, until the rest is small enough.
  for (const run of left) {
    if (total <= most) break
    if (!mayGo(run)) continue
    total -= run.bytes
    reasons.set(run, 'all runs together are larger than the limit')
  }
  return newestFirst.reverse().flatMap((run) => {
    const why = reasons.get(run)
    return why === undefined ? [] : { run, why }
  })
}

function sizeOfAll(runs: readonly KeptRun[]): number {
  return runs.reduce((sum, { bytes }) => sum + bytes, 0)
}

function nameProject({ project }: KeptRun): string {
  return project === null ? 'there are, without a project,' : `project ${JSON.stringify(project)} has`
}

/** What pruning works on; a command may use it beside the service. */
export interface PrunedData {
  readonly database: DatabaseSync
  readonly folder: DataFolder
}

/** The runs beyond the limits as they are now; nothing is deleted. */
export async function findPrunings(data: PrunedData, retention: Retention, now: Now) {
  const measured = await measureRuns(data)
  return planPruning(await readRuns(data.database, (id) => measured.get(id) ?? 0), retention, now)
}

/** Throws if a new run has no room, even when everything that may be deleted for it is deleted. No figures: the runs are those of others too. */
export function requireRoom(
  { database }: PrunedData,
  retention: Retention,
  { newBytes, sizeOf, ...now }: Now & { newBytes: number; sizeOf: (id: string) => number }
): void {
  const { bytes: most = Infinity, atLeastMs = MS_A_DAY } = retention
  const raise = 'an admin of the service can raise the limit: retention.size in its config file'
  const all = `all runs together may take ${formatBytes(most)}`
  if (newBytes > most)
    throw new RequestError(
      413,
      `the run was not created: its files have ${formatBytes(newBytes)}, and ${all}; ${raise}`
    )
  const rows = database.prepare(`${KEPT} ORDER BY sequence`).all()
  const runs = rows.map((row) => runOf(row, sizeOf))
  const going = planPruning(runs, retention, { ...now, newBytes })
  if (sizeOfAll(runs) - sizeOfAll(going.map(({ run }) => run)) + newBytes <= most) return
  throw new RequestError(
    507,
    `the run was not created: there is no room for it. ${capitalize(all)}, and nothing more may be deleted now: each run stays for ${formatDuration(atLeastMs)} after its end, and a pinned one until its owner or an admin unpins it. Try again later; or ${raise}`
  )
}

/** Throws if this run, pinned as well, would leave less than half of the size to others: what is pinned is never deleted. */
export async function requirePinRoom(
  { database, folder }: PrunedData,
  { bytes: most }: Retention,
  run: RunRecord
): Promise<void> {
  if (most === undefined) return
  const { id } = run
  if (!hasEnded(run))
    throw new RequestError(
      409,
      `run ${id} is ${run.status}: pin it when it has ended, because its size counts`
    )
  const bytes = await sizeOfFolder(folder.runDir(id))
  const others = database.prepare('SELECT sum(bytes) AS bytes FROM runs WHERE is_pinned = 1 AND id != ?')
  if (Number(others.get(id)?.bytes ?? 0) + bytes <= most / 2) return
  throw new RequestError(
    507,
    `run ${id} was not pinned: it has ${formatBytes(bytes)}, and pinned runs may take half of what all runs may (${formatBytes(most)}); unpin others, or an admin of the service can raise the limit: retention.size in its config file`
  )
}

/**
 * Deletes runs: files first, by way of a trash folder, so that the next pruning finishes what a kill leaves; records last. On a full disk a
 * record can be deleted only once enough files are gone, perhaps those of all runs. Throws if records are left.
 */
export async function prune(
  data: PrunedData,
  prunings: readonly Pruning[],
  watch: { onDeleted?: (pruning: Pruning) => void; isCancelled?: () => boolean } = {}
): Promise<void> {
  const withoutFiles: Pruning[] = []
  for (const pruning of prunings) {
    if (watch.isCancelled?.()) return
    // Somebody may have pinned it since.
    if (isPinned(data, pruning)) continue
    await moveToTrash(data.folder, pruning.run.id)
    const failure = await emptyTrash(data, [pruning.run.id])
    if (failure === undefined) watch.onDeleted?.(pruning)
    else withoutFiles.push(pruning)
  }
  for (const pruning of withoutFiles) {
    const failure = await emptyTrash(data, [pruning.run.id])
    if (failure !== undefined) throw failure
    watch.onDeleted?.(pruning)
  }
}

function isPinned({ database }: PrunedData, { run }: Pruning): boolean {
  return database.prepare('SELECT is_pinned FROM runs WHERE id = ?').get(run.id)?.is_pinned === 1
}

/** Finishes what was begun: the rest of the files, then the record. Returns why a record could not be deleted, if so. */
export async function emptyTrash(data: PrunedData, ids?: readonly string[]): Promise<Error | undefined> {
  const trash = data.folder.trashDir()
  let failure: Error | undefined
  for (const id of ids ?? (await readdir(trash))) {
    const place = join(trash, id)
    for (const name of await readdir(place).catch(() => [])) await removeFolder(join(place, name))
    try {
      // A record whose files have come back is left alone.
      if (!existsSync(data.folder.runDir(id)))
        data.database.prepare('DELETE FROM runs WHERE id = ? AND is_unsettled = 0').run(id)
      await removeFolder(place)
    } catch (thrown) {
      failure ??= thrown as Error
    }
  }
  return failure
}

async function moveToTrash(folder: DataFolder, id: string): Promise<void> {
  try {
    await rename(folder.runDir(id), join(folder.trashDir(), id))
  } catch {
    // There was nothing to move, or a full disk had no room for the new name.
    await removeFolder(folder.runDir(id))
  }
}

const KEPT =
  'SELECT sequence AS key, id, sequence, project, user_id, created_ms, ended_ms, bytes, is_unsettled, is_pinned FROM runs'

async function readRuns(database: DatabaseSync, sizeOf: (id: string) => number): Promise<KeptRun[]> {
  const runs: KeptRun[] = []
  await forEachRow(database, `${KEPT} WHERE sequence > ? ORDER BY sequence LIMIT ?`, (row) => {
    runs.push(runOf(row, sizeOf))
  })
  return runs
}

/** With the size of a run whose size is not recorded. */
function runOf(row: Record<string, unknown>, sizeOf: (id: string) => number): KeptRun {
  const id = String(row.id)
  return {
    id,
    sequence: Number(row.sequence),
    project: row.project as string | null,
    userId: row.user_id as number | null,
    createdMs: Number(row.created_ms),
    bytes: Number(row.bytes ?? sizeOf(id)),
    // Earlier versions did not note it for each run.
    endedMs: row.is_unsettled === 0 ? Number(row.ended_ms ?? row.created_ms) : undefined,
    isPinned: row.is_pinned === 1
  }
}

const SLICE = 1000

/** Reads a large table in slices by its key; others come to their turn between them. */
async function forEachRow(
  database: DatabaseSync,
  sql: string,
  take: (row: Record<string, unknown>) => void
): Promise<void> {
  const slice = database.prepare(sql)
  for (let last = -1; ;) {
    const rows = slice.all(last, SLICE)
    for (const row of rows) take(row)
    if (rows.length < SLICE) return
    last = Number(rows.at(-1)?.key)
    await setImmediate()
  }
}

/** A record that somebody else wrote may be anything. */
const SAFE = "CASE WHEN json_valid(record) THEN record ELSE '{}' END"

/** Deletes the stopped grids that no run names any more: those that were created with a run, and the others if they stopped before this time. */
export async function deleteUnusedGrids({ database }: PrunedData, beforeMs: number): Promise<void> {
  const used = new Set<unknown>()
  const ofRuns = `SELECT sequence AS key, json_extract(${SAFE}, '$.gridIds') AS ids FROM run_records WHERE sequence > ? ORDER BY sequence LIMIT ?`
  await forEachRow(database, ofRuns, ({ ids }) => {
    const known = parseRecord(ids)
    if (Array.isArray(known)) for (const id of known) used.add(id)
  })
  const unused: string[] = []
  const stopped = `SELECT rowid AS key, id, json_extract(${SAFE}, '$.batchId') AS batch,
    coalesce(json_extract(${SAFE}, '$.ended.atMs'), json_extract(${SAFE}, '$.createdMs')) AS ended
    FROM grids WHERE is_active = 0 AND rowid > ? ORDER BY rowid LIMIT ?`
  await forEachRow(database, stopped, ({ id, batch, ended }) => {
    const isOver = batch !== null || (typeof ended === 'number' && ended < beforeMs)
    if (isOver && !used.has(id)) unused.push(String(id))
  })
  // No run gets a stopped grid, so that nothing has changed meanwhile.
  const remove = database.prepare('DELETE FROM grids WHERE id = ? AND is_active = 0')
  for (let at = 0; at < unused.length; at += SLICE) {
    inTransaction(database, () => {
      for (const id of unused.slice(at, at + SLICE)) remove.run(id)
    })
    await setImmediate()
  }
}

/** For a command, beside the service or without one: finds the runs beyond the limits, and deletes them unless told otherwise. */
export async function pruneBeside(
  dataDir: string,
  { retention, isDry, nowMs }: { retention: Retention; isDry: boolean; nowMs: number }
): Promise<Pruning[]> {
  // A mistyped folder must not become a data folder.
  if (!existsSync(databaseFile(dataDir)))
    throw new Error(`there is no data of a service in ${dataDir}; start it once with the same config file`)
  const database = openDatabase(dataDir)
  const deleted: Pruning[] = []
  try {
    const data = { database, folder: new DataFolder(dataDir) }
    if (!isDry) await emptyTrash(data)
    const prunings = await findPrunings(data, retention, { nowMs })
    if (!isDry) {
      await prune(data, prunings, { onDeleted: (pruning) => deleted.push(pruning) })
      // They are small, and the service does it too.
      await deleteUnusedGrids(data, -Infinity).catch(() => undefined)
    }
    return prunings
  } catch (thrown) {
    const words = messageOf(explainDatabase(thrown, dataDir))
    const done = deleted.length === 1 ? '1 run has' : `${deleted.length} runs have`
    throw new Error(isDry ? words : `${done} been deleted, not all that are beyond the limits: ${words}`, {
      cause: thrown
    })
  } finally {
    database.close()
  }
}

/** The sizes of the runs that have ended since the last time, each recorded, because it no longer changes; of the others, that of their uploads. */
async function measureRuns({ database, folder }: PrunedData): Promise<ReadonlyMap<string, number>> {
  const rows = database.prepare('SELECT id, is_unsettled FROM runs WHERE bytes IS NULL').all()
  const note = database.prepare('UPDATE runs SET bytes = ? WHERE id = ?')
  const sizes = new Map<string, number>()
  for (const row of rows) {
    const id = String(row.id)
    const isSettled = row.is_unsettled === 0
    const bytes = await sizeOfFolder(isSettled ? folder.runDir(id) : folder.uploadDir(id))
    sizes.set(id, bytes)
    // A full disk is when they are needed most.
    if (isSettled) attempt(() => note.run(bytes, id))
  }
  return sizes
}
