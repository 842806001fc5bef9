import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import { isGridRecord, isMarker, isProcessGroup, isRunRecord } from './check-records.js'
import { type Clock, systemClock } from '../clock.js'
import { messageOf } from '../errors.js'
import { isSameProcess, type ProcessGroup, readStartTime } from '../nodes/machine/processes.js'
import type { GridRecord, RunRecord } from './records.js'
import { StateFiles, writeWhole } from './state-files.js'

/** One node of a grid at work for a run. */
export interface NodeKey {
  readonly runId: string
  readonly gridId: string
  readonly index: number
}

/** A new identifier, in an alphabet that is safe in paths and URLs. */
export function createId(): string {
  return randomBytes(12).toString('hex')
}

/** Runs and grids, in memory and as JSON files in a data folder. A change takes effect at once, whether it can be written or not. */
export class Store {
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
    this.files = new StateFiles(parts)
  }

  /** Reads the folder; `claim` locks it. */
  static open(dataDir: string, log: (line: string) => void, clock: Clock = systemClock): Store {
    for (const name of ['runs', 'grids', 'processes', 'uploads']) {
      makeFolder(join(dataDir, name), { mode: 0o700 })
    }
    const store = new Store(dataDir, { log, clock })
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

  allGrids(): GridRecord[] {
    return [...this.grids.values()]
  }

  /** Newest first: a run that was just created is on the first page. */
  allRuns(): readonly RunRecord[] {
    this.newestFirst ??= [...this.runs.values()].sort((a, b) => b.sequence - a.sequence)
    return this.newestFirst
  }

  nextSequence(): number {
    return this.highestSequence + 1
  }

  saveRun(run: RunRecord): void {
    this.addRun(run)
    this.files.save(join(this.runDir(run.id), 'run.json'), run)
  }

  saveGrid(grid: GridRecord): void {
    this.grids.set(grid.id, grid)
    this.files.save(join(this.dataDir, 'grids', `${grid.id}.json`), grid)
  }

  runDir(runId: string): string {
    return join(this.dataDir, 'runs', runId)
  }

  /** Where a run's uploaded files are. */
  uploadDir(runId: string): string {
    return join(this.runDir(runId), 'files')
  }

  /** For what a run's plan is compiled to. */
  buildDir(runId: string): string {
    return join(this.runDir(runId), 'build')
  }

  uploadedFile(runId: string, name: string): string {
    return join(this.uploadDir(runId), name)
  }

  /** The working folder of a run's nodes; removed when the run has ended. */
  nodesDir(runId: string): string {
    return join(this.runDir(runId), 'nodes')
  }

  /** Renamed first: a kill during the removal must not leave some of the nodes' samples as if they were all. */
  async discardNodes(runId: string): Promise<void> {
    const gone = `${this.nodesDir(runId)}.gone`
    await rename(this.nodesDir(runId), gone).catch(() => undefined)
    await rm(gone, { recursive: true, force: true })
  }

  nodeFiles(node: NodeKey): { workDir: string; samplesFile: string; logFile: string } {
    const name = `${node.gridId}-${node.index + 1}`
    return {
      workDir: join(this.nodesDir(node.runId), name),
      samplesFile: join(this.nodesDir(node.runId), `${name}.csv`),
      logFile: join(this.logsDir(node.runId), `${name}.log`)
    }
  }

  /** The tools' logs; they stay with the run. */
  logsDir(runId: string): string {
    return join(this.runDir(runId), 'logs')
  }

  /** The samples so far of a run with secrets; removed with the nodes' files. */
  liveFile(runId: string, gridId: string): string {
    return join(this.nodesDir(runId), `${gridId}-live.csv`)
  }

  resultFile(runId: string, gridId: string): string {
    return join(this.runDir(runId), 'results', `${gridId}.csv`)
  }

  /** A new folder for the files of a request that is still being read. */
  createUploadDir(): string {
    const dir = join(this.dataDir, 'uploads', createId())
    mkdirSync(dir)
    return dir
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
      this.discardUploads()
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
      const run = this.readRecord(join(this.runDir(id), 'run.json'), isThisRun)
      if (run) this.addRun(run)
    }
    this.discardUploads()
  }

  /** What a service was still receiving at its end belongs to no run. */
  private discardUploads(): void {
    const uploads = join(this.dataDir, 'uploads')
    for (const name of readdirSync(uploads)) rmSync(join(uploads, name), { recursive: true, force: true })
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
