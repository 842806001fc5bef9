import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../errors.js'
import type { ProcessGroup } from '../nodes/machine/processes.js'
import { isGridRecord, isMarker, isProcessGroup, isRunRecord } from './check-records.js'
import { inTransaction } from './database.js'
import { Facts } from './facts.js'
import { GridTable } from './grid-table.js'
import { ProcessTable } from './process-table.js'
import type { GridRecord, RunRecord } from './records.js'
import { RunTable } from './run-table.js'
import { refuseHolder } from './service-claim.js'

const KEY = 'json files'

/** Before there was a database, a data folder had one JSON file per record. */
interface JsonFolder {
  readonly runs: readonly RunRecord[]
  readonly grids: readonly GridRecord[]
  readonly processes: readonly ProcessGroup[]
  readonly marker: string | undefined
  /** Of all the above. */
  readonly files: readonly string[]
}

/**
 * Takes over the JSON files of an earlier version, all of them in one transaction, and then removes them: what is in the database is
 * the truth. A kill in between leaves the rest to the next start. What is not a record is logged, and stays where it is.
 */
export function takeOverJson(database: DatabaseSync, dataDir: string, log: (line: string) => void): void {
  const facts = new Facts(database)
  const state = facts.get(KEY)
  if (state === 'removed') return
  const found = readJsonFolder(dataDir, state === undefined ? log : () => undefined)
  if (state === undefined) {
    inTransaction(database, () => {
      insertAll(database, found, log)
      facts.set(KEY, 'taken over')
    })
    if (found.runs.length > 0)
      log(`took over ${found.runs.length} runs and ${found.grids.length} grids of an earlier version`)
  }
  removeFiles(found.files, dataDir)
  facts.set(KEY, 'removed')
}

function insertAll(database: DatabaseSync, found: JsonFolder, log: (line: string) => void): void {
  const runs = new RunTable(database, log)
  const grids = new GridTable(database, log)
  for (const grid of found.grids) grids.insert(grid)
  for (const run of inOrder(found.runs)) runs.insert(run)
  const processes = new ProcessTable(database)
  for (const group of found.processes) processes.save(group)
  if (found.marker !== undefined) new Facts(database).set('marker', found.marker)
}

/** No two of the same number: somebody may have copied folders. */
function inOrder(runs: readonly RunRecord[]): RunRecord[] {
  let last = 0
  return [...runs]
    .sort((a, b) => a.sequence - b.sequence || a.createdMs - b.createdMs)
    .map((run) => {
      last = Math.max(run.sequence, last + 1)
      return run.sequence === last ? run : { ...run, sequence: last }
    })
}

function readJsonFolder(dataDir: string, log: (line: string) => void): JsonFolder {
  const files: string[] = []
  const read = <T>(file: string, isRecord: (value: unknown) => value is T): T[] => {
    const record = readRecord(file, isRecord, log)
    if (record !== undefined) files.push(file)
    return record === undefined ? [] : [record]
  }
  const holders = read(join(dataDir, 'service.json'), isProcessGroup)
  for (const holder of holders) refuseHolder(holder, dataDir)
  // Paths are built from the ids, so the ids must match the file names.
  const runs = namesIn(join(dataDir, 'runs')).flatMap((id) =>
    read(
      join(dataDir, 'runs', id, 'run.json'),
      (value): value is RunRecord => isRunRecord(value) && value.id === id
    )
  )
  const grids = jsonFiles(dataDir, 'grids').flatMap((name) =>
    read(
      join(dataDir, 'grids', name),
      (value): value is GridRecord => isGridRecord(value) && `${value.id}.json` === name
    )
  )
  const processes = jsonFiles(dataDir, 'processes').flatMap((name) =>
    read(join(dataDir, 'processes', name), isProcessGroup)
  )
  const [marker] = read(join(dataDir, 'marker.json'), isMarker)
  return { runs, grids, processes, marker: marker?.marker, files }
}

function readRecord<T>(
  file: string,
  isRecord: (value: unknown) => value is T,
  log: (line: string) => void
): T | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isRecord(value)) return value
    log(`${file} was not written by this service, and is ignored`)
  } catch (thrown) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes((thrown as NodeJS.ErrnoException).code ?? '')
    if (!isMissing) log(`${file} cannot be read and is ignored: ${messageOf(thrown)}`)
  }
  return undefined
}

function jsonFiles(dataDir: string, folder: string): string[] {
  return namesIn(join(dataDir, folder)).filter((name) => name.endsWith('.json'))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function removeFiles(files: readonly string[], dataDir: string): void {
  for (const file of files) rmSync(file, { force: true })
  for (const folder of ['grids', 'processes']) {
    try {
      rmdirSync(join(dataDir, folder))
    } catch {
      // It was never there, or has something in it that was not taken over.
    }
  }
}
