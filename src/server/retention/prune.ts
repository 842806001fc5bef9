import { access, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Retention } from '../../service-config/config.js'
import { inTransaction } from '../store/database.js'
import { isRunRecord } from '../store/records.js'
import type { DataFolder } from '../store/data-folder.js'
import { GridTable } from '../store/grid-table.js'
import { parseRecord } from '../store/record-reader.js'
import { measureRuns } from './measure-runs.js'
import { type KeptRun, planPruning, type Pruning } from './plan-pruning.js'

/** What pruning works on; a command has it open beside the service. */
export interface PrunedData {
  readonly database: DatabaseSync
  readonly folder: DataFolder
  readonly log: (line: string) => void
}

/** The runs beyond the limits as they are now; nothing is deleted. */
export async function findPrunings(
  data: PrunedData,
  retention: Retention,
  nowMs: number
): Promise<Pruning[]> {
  const unnoted = await measureRuns(data)
  return planPruning(readRuns(data.database, unnoted), retention, nowMs)
}

/**
 * Deletes runs: the files first, the record last. Files go by way of a trash folder, so that whatever a kill leaves is found there
 * and finished by the next pruning. On a full disk a record can be deleted only when enough files have gone, so those of all runs go
 * before it is given up; throws if records are left nevertheless.
 */
export async function prune(
  data: PrunedData,
  prunings: readonly Pruning[],
  watch: { onDeleted?: (pruning: Pruning) => void; isCancelled?: () => boolean } = {}
): Promise<void> {
  const withoutFiles: Pruning[] = []
  for (const pruning of prunings) {
    if (watch.isCancelled?.()) return
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

/** Finishes what was begun: the rest of the files, then the record. Returns why a record could not be deleted, if so. */
export async function emptyTrash(data: PrunedData, ids?: readonly string[]): Promise<Error | undefined> {
  const trash = data.folder.trashDir()
  let failure: Error | undefined
  for (const id of ids ?? (await readdir(trash))) {
    const place = join(trash, id)
    for (const name of await readdir(place).catch(() => []))
      await rm(join(place, name), { recursive: true, force: true })
    try {
      // A record whose files have come back is another's business.
      if (!(await exists(data.folder.runDir(id)))) deleteRecord(data, id)
      await rm(place, { recursive: true, force: true })
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
    // There was nothing to move, or on a full disk no room for its new name.
    await rm(folder.runDir(id), { recursive: true, force: true })
  }
}

function readRuns(database: DatabaseSync, unnoted: ReadonlyMap<string, number>): KeptRun[] {
  const rows = database
    .prepare('SELECT id, sequence, project, created_ms, bytes, is_unsettled FROM runs ORDER BY sequence')
    .all()
  return rows.map((row) => ({
    id: String(row.id),
    sequence: Number(row.sequence),
    project: row.project === null ? null : String(row.project),
    createdMs: Number(row.created_ms),
    bytes: Number(row.bytes ?? unnoted.get(String(row.id)) ?? 0),
    isSettled: row.is_unsettled === 0
  }))
}

function deleteRecord({ database, log }: PrunedData, id: string): void {
  inTransaction(database, () => {
    const row = database
      .prepare('SELECT record FROM runs JOIN run_records USING (sequence) WHERE id = ? AND is_unsettled = 0')
      .get(id)
    const run = parseRecord(row?.record ?? 'null')
    if (isRunRecord(run)) {
      const grids = new GridTable(database, log)
      // Those that others created for themselves do not end with it.
      for (const gridId of run.gridIds) if (grids.find(gridId)?.batchId === run.batchId) grids.remove(gridId)
    }
    database.prepare('DELETE FROM runs WHERE id = ? AND is_unsettled = 0').run(id)
  })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}
