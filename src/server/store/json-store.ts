import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import { isGridRecord, isMarker, isProcessGroup, isRunRecord } from './check-records.js'
import { type Clock, systemClock } from '../clock.js'
import { messageOf } from '../errors.js'
import { isSameProcess, type ProcessGroup, readStartTime } from '../nodes/machine/processes.js'
import { createId, DataFolder } from './data-folder.js'
import { type GridRecord, hasEnded, type RunRecord } from './records.js'
import { matchesFilter, type RunListRequest, type RunPage, type Store } from './store.js'
import { StateFiles, writeWhole } from './state-files.js'

/** Runs and grids, in memory and as JSON files in a data folder. A change takes effect at once, whether it can be written or not. */
export class JsonStore implements Store {
  readonly folder: DataFolder
  private readonly runs = new Map<string, RunRecord>()
  private readonly grids = new Map<string, GridRecord>()
  private readonly files: StateFiles
  private highestSequence = 0
  /** Undefined if a run was added since the last call. */
  private newestFirst: readonly RunRecord[] | undefined

  private constructor(
    private readonly dataDir: string,
    private readonly parts: { log: (line: string) => void; clock: Clock }
  ) {
    this.folder = new DataFolder(dataDir)
    this.files = new StateFiles(parts)
  }

  /** Reads the folder; `claim` locks it. */
  static open(dataDir: string, log: (line: string) => void, clock: Clock = systemClock): JsonStore {
    for (const name of ['grids', 'processes']) {
      makeFolder(join(dataDir, name), { mode: 0o700 })
    }
    const store = new JsonStore(dataDir, { log, clock })
    store.requireUnused()
    store.load()
    return store
  }

  run(id: string): RunRecord | undefined {
    return this.runs.get(id)
  }

  grid(id: string): GridRecord | undefined {
    return this.grids.get(id)
  }

  gridsOf(run: RunRecord): GridRecord[] {
    return run.gridIds.map((id) => this.grids.get(id)).filter((grid) => grid !== undefined)
  }

  activeGrids(): GridRecord[] {
    return [...this.grids.values()].filter(({ status }) => status !== 'stopped')
  }

  listRuns({ filter = {}, offset, limit }: RunListRequest): RunPage {
    this.newestFirst ??= [...this.runs.values()].sort((a, b) => b.sequence - a.sequence)
    const found = this.newestFirst.filter((run) => matchesFilter(run, filter))
    return { runs: found.slice(offset, offset + limit), total: found.length }
  }

  unsettledRuns(): RunRecord[] {
    return [...this.runs.values()]
      .filter((run) => !hasEnded(run) || run.unmerged)
      .sort((a, b) => a.sequence - b.sequence)
  }

  nextSequence(): number {
    return this.highestSequence + 1
  }

  create({ run, grids }: { run?: RunRecord; grids: readonly GridRecord[] }): void {
    for (const grid of grids) this.saveGrid(grid)
    if (run) this.saveRun(run)
  }

  saveRun(run: RunRecord): void {
    this.addRun(run)
    this.files.save(join(this.folder.runDir(run.id), 'run.json'), run)
  }

  saveGrid(grid: GridRecord): void {
    this.grids.set(grid.id, grid)
    this.files.save(join(this.dataDir, 'grids', `${grid.id}.json`), grid)
  }

  flush(): void {
    this.files.flush()
  }

  secure(): Promise<void> {
    return Promise.resolve()
  }

  saveProcess(group: ProcessGroup): void {
    this.files.save(this.processFile(group.pid), group)
  }

  forgetProcess(pid: number): void {
    this.files.forget(this.processFile(pid))
  }

  /** The tools' process groups that were recorded and never seen to end. */
  leftoverProcesses(): ProcessGroup[] {
    const dir = join(this.dataDir, 'processes')
    return jsonFiles(dir).flatMap((name) => this.readRecord(join(dir, name), isProcessGroup) ?? [])
  }

  /** Identifies what belongs to this data wherever it is, for as long as the folder exists. */
  marker(): string {
    const file = join(this.dataDir, 'marker.json')
    const known = this.readRecord(file, isMarker)
    if (known) return known.marker
    const marker = createId()
    // Nothing may be created under a marker that nobody would find again.
    writeWhole(file, { marker })
    return marker
  }

  /** Two services in one folder would end each other's tools. */
  claim(): void {
    const owner = { pid: process.pid, startTime: readStartTime(process.pid) ?? '' }
    try {
      writeWhole(this.lockFile, owner)
    } catch (thrown) {
      throw new Error(
        `the data folder ${this.dataDir} cannot be written to (${messageOf(thrown)}); free up space, or choose another folder`,
        { cause: thrown }
      )
    }
  }

  close(): void {
    this.files.close()
    this.files.forget(this.lockFile)
    try {
      this.folder.discardUploads()
    } catch {
      // The next start tries again.
    }
  }

  private get lockFile(): string {
    return join(this.dataDir, 'service.json')
  }

  private processFile(pid: number): string {
    return join(this.dataDir, 'processes', `${pid}.json`)
  }

  private requireUnused(): void {
    const holder = this.readRecord(this.lockFile, isProcessGroup)
    if (holder && holder.pid !== process.pid && isSameProcess(holder)) {
      throw new Error(
        `the data folder ${this.dataDir} is in use by the service with process id ${holder.pid}; stop it, or choose another folder`
      )
    }
  }

  private load(): void {
    // Paths are built from the ids, so the ids must match the file names.
    for (const name of jsonFiles(join(this.dataDir, 'grids'))) {
      const isThisGrid = (value: unknown): value is GridRecord =>
        isGridRecord(value) && `${value.id}.json` === name
      const grid = this.readRecord(join(this.dataDir, 'grids', name), isThisGrid)
      if (grid) this.grids.set(grid.id, grid)
    }
    for (const id of readdirSync(join(this.dataDir, 'runs'))) {
      const isThisRun = (value: unknown): value is RunRecord => isRunRecord(value) && value.id === id
      const run = this.readRecord(join(this.folder.runDir(id), 'run.json'), isThisRun)
      if (run) this.addRun(run)
    }
    this.folder.discardUploads()
  }

  private addRun(run: RunRecord): void {
    if (!this.runs.has(run.id)) this.newestFirst = undefined
    this.runs.set(run.id, run)
    this.highestSequence = Math.max(this.highestSequence, run.sequence)
  }

  /** A file that cannot be read, or is something else, must not keep the service from starting. */
  private readRecord<T>(file: string, isRecord: (value: unknown) => value is T): T | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
      if (isRecord(value)) return value
      this.parts.log(`${file} was not written by this service, and is ignored`)
    } catch (thrown) {
      const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isMissing) this.parts.log(`${file} cannot be read and is ignored: ${messageOf(thrown)}`)
    }
    return undefined
  }
}

function jsonFiles(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.endsWith('.json'))
}
