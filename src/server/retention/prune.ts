import { access, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Retention } from '../../service-config/config.js'
import { inTransaction } from '../store/database.js'
import { isRunRecord } from '../store/check-records.js'
import type { DataFolder } from '../store/data-folder.js'
import { GridTable } from '../store/grid-table.js'
import { parseRecord } from '../store/run-table.js'
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
  await measureRuns(data)
  return planPruning(readRuns(data.database), retention, nowMs)
}

/**
 * Deletes runs: the files first, the record last. Files go by way of a trash folder, so that whatever a kill leaves is found there
 * and finished by the next pruning.
 */
export async function prune(data: PrunedData, prunings: readonly Pruning[]): Promise<void> {
  await emptyTrash(data)
  for (const { run } of prunings) {
    await rename(data.folder.runDir(run.id), join(data.folder.trashDir(), run.id)).catch(ignoreMissing)
    await emptyTrash(data, [run.id])
  }
}

/** Finishes what was begun: the rest of the files, then the record. */
export async function emptyTrash(data: PrunedData, ids?: readonly string[]): Promise<void> {
  const trash = data.folder.trashDir()
  for (const id of ids ?? (await readdir(trash))) {
    await rm(join(trash, id), { recursive: true, force: true })
    // A record whose files have come back is another's business.
    if (!(await exists(data.folder.runDir(id)))) deleteRecord(data, id)
  }
}

function readRuns(database: DatabaseSync): KeptRun[] {
  const rows = database
    .prepare('SELECT id, sequence, project, created_ms, bytes, is_unsettled FROM runs ORDER BY sequence')
    .all()
  return rows.map((row) => ({
    id: String(row.id),
    sequence: Number(row.sequence),
    project: row.project === null ? null : String(row.project),
    createdMs: Number(row.created_ms),
    bytes: Number(row.bytes ?? 0),
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

function ignoreMissing(thrown: unknown): void {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
}
