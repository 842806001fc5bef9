import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from './errors.js'
import { isSameProcess, type ProcessGroup, readStartTime } from './processes.js'
import type { GridRecord, RunRecord } from './records.js'

/** One node of a grid at work for a run. */
export interface NodeKey {
  readonly runId: string
  readonly gridId: string
  readonly index: number
}

/** A new identifier, in an alphabet that is safe in paths and addresses. */
export function createId(): string {
  return randomBytes(12).toString('hex')
}

/**
 * Runs and grids in a data folder, a JSON file each. They are small and written whole under another name first, so
 * a reader after a kill finds the old text or the new one, never half of it.
 */
export class Store {
  private readonly runs = new Map<string, RunRecord>()
  private readonly grids = new Map<string, GridRecord>()

  private constructor(
    private readonly dataDir: string,
    private readonly log: (line: string) => void
  ) {}

  static open(dataDir: string, log: (line: string) => void): Store {
    for (const name of ['runs', 'grids', 'processes', 'uploads']) {
      mkdirSync(join(dataDir, name), { recursive: true, mode: 0o700 })
    }
    const store = new Store(dataDir, log)
    store.lock()
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

  /** Newest first: who looks for a run that was just made finds it on the first page. */
  allRuns(): RunRecord[] {
    return [...this.runs.values()].sort((a, b) => b.sequence - a.sequence)
  }

  nextSequence(): number {
    return [...this.runs.values()].reduce((highest, run) => Math.max(highest, run.sequence), 0) + 1
  }

  saveRun(run: RunRecord): void {
    this.runs.set(run.id, run)
    mkdirSync(this.runDir(run.id), { recursive: true })
    writeWhole(join(this.runDir(run.id), 'run.json'), run)
  }

  saveGrid(grid: GridRecord): void {
    this.grids.set(grid.id, grid)
    writeWhole(join(this.dataDir, 'grids', `${grid.id}.json`), grid)
  }

  runDir(runId: string): string {
    return join(this.dataDir, 'runs', runId)
  }

  uploadedFile(runId: string, name: string): string {
    return join(this.runDir(runId), 'files', name)
  }

  /** What the nodes of a run work in; it goes when the run has ended. */
  nodesDir(runId: string): string {
    return join(this.runDir(runId), 'nodes')
  }

  nodeFiles(node: NodeKey): { workDir: string; samplesFile: string; logFile: string } {
    const name = `${node.gridId}-${node.index + 1}`
    return {
      workDir: join(this.nodesDir(node.runId), name),
      samplesFile: join(this.nodesDir(node.runId), `${name}.csv`),
      logFile: join(this.logsDir(node.runId), `${name}.log`)
    }
  }

  /** The tools' own logs; they stay with the run. */
  logsDir(runId: string): string {
    return join(this.runDir(runId), 'logs')
  }

  resultFile(runId: string, gridId: string): string {
    return join(this.runDir(runId), 'results', `${gridId}.csv`)
  }

  /** A fresh folder for the files of a request that is still being read. */
  createUploadDir(): string {
    const dir = join(this.dataDir, 'uploads', createId())
    mkdirSync(dir)
    return dir
  }

  saveProcess(group: ProcessGroup): void {
    writeWhole(join(this.dataDir, 'processes', `${group.pid}.json`), group)
  }

  forgetProcess(pid: number): void {
    rmSync(join(this.dataDir, 'processes', `${pid}.json`), { force: true })
  }

  /** The tools' processes that were noted and never seen to end. */
  leftoverProcesses(): ProcessGroup[] {
    return this.readAll<ProcessGroup>(join(this.dataDir, 'processes'))
  }

  close(): void {
    rmSync(this.lockFile, { force: true })
  }

  private get lockFile(): string {
    return join(this.dataDir, 'service.json')
  }

  /** Two services in one folder would end each other's tools. */
  private lock(): void {
    const holder = this.readJson<ProcessGroup>(this.lockFile)
    if (holder && holder.pid !== process.pid && isSameProcess(holder)) {
      throw new Error(
        `the data folder ${this.dataDir} is in use by the service with process id ${holder.pid}; stop it, or choose another folder`
      )
    }
    writeWhole(this.lockFile, { pid: process.pid, startTime: readStartTime(process.pid) ?? '' })
  }

  private load(): void {
    for (const grid of this.readAll<GridRecord>(join(this.dataDir, 'grids'))) this.grids.set(grid.id, grid)
    for (const id of readdirSync(join(this.dataDir, 'runs'))) {
      const run = this.readJson<RunRecord>(join(this.runDir(id), 'run.json'))
      if (run) this.runs.set(run.id, run)
    }
    // What a killed service was still receiving belongs to no run.
    rmSync(join(this.dataDir, 'uploads'), { recursive: true, force: true })
    mkdirSync(join(this.dataDir, 'uploads'))
  }

  private readAll<T extends object>(dir: string): T[] {
    const names = readdirSync(dir).filter((name) => name.endsWith('.json'))
    return names.map((name) => this.readJson<T>(join(dir, name))).filter((record) => record !== undefined)
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows what it wrote there
  private readJson<T>(file: string): T | undefined {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as T
    } catch (thrown) {
      const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isMissing) this.log(`${file} cannot be read and is left out: ${messageOf(thrown)}`)
      return undefined
    }
  }
}

function writeWhole(file: string, content: object): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}
