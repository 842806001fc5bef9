import { createHash, randomBytes } from 'node:crypto'
import { constants, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { copyFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, removeFolder } from '../../contract/files.js'
import type { GridRecord, RunRecord } from '../../contract/records.js'

/** A new identifier, in an alphabet that is safe in paths and URLs. */
export function createId(): string {
  return randomBytes(12).toString('hex')
}

/** The same identifier for the same text, and another one for any other. */
export function idFor(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24)
}

/** SQLite has two more beside it while it is in use. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'loadgate.sqlite')
}

/** Where the files of runs are: uploads, nodes' work, logs and results. */
export class DataFolder {
  constructor(readonly path: string) {
    for (const name of ['runs', 'uploads', 'trash']) makeFolder(join(path, name), { mode: 0o700 })
  }

  /** What those who keep plans apart need to know of it. */
  forPlans(): { dataDir: string; runDir: (runId: string) => string } {
    return { dataDir: this.path, runDir: this.runDir }
  }

  readonly runDir = (runId: string): string => join(this.path, 'runs', runId)
  readonly uploadDir = (runId: string): string => join(this.runDir(runId), 'files')
  readonly uploadedFile = (runId: string, name: string): string => join(this.uploadDir(runId), name)
  /** For what a run's plan is compiled to. */
  readonly buildDir = (runId: string): string => join(this.runDir(runId), 'build')
  /** The working folder of a run's nodes; removed when the run has ended. */
  readonly nodesDir = (runId: string): string => join(this.runDir(runId), 'nodes')
  /** The tools' logs; they stay with the run. */
  readonly logsDir = (runId: string): string => join(this.runDir(runId), 'logs')
  /** The samples so far, for whoever follows them; removed with the nodes' files. */
  readonly liveFile = (runId: string, gridId: string): string =>
    join(this.nodesDir(runId), `${gridId}-live.csv`)
  readonly resultsDir = (runId: string): string => join(this.runDir(runId), 'results')
  readonly resultFile = (runId: string, gridId: string): string =>
    join(this.resultsDir(runId), `${gridId}.csv`)
  /** What is about to be removed. */
  readonly trashDir = (): string => join(this.path, 'trash')

  /** Renamed first: a kill during the removal must not leave some of the nodes' samples as if they were all. */
  async discardNodes(runId: string): Promise<void> {
    const gone = goneNodes(this, runId)
    await rename(this.nodesDir(runId), gone).catch(() => undefined)
    await removeFolder(gone)
  }

  /** Whether its tools have been started once, whatever its record says. */
  readonly hasStarted = (runId: string): boolean =>
    [this.nodesDir(runId), goneNodes(this, runId), this.logsDir(runId)].some(existsSync)

  /** The same, or it was stopped before: a run that waits has results as soon as it is stopped. */
  readonly hasTraces = (runId: string): boolean =>
    this.hasStarted(runId) || existsSync(this.resultsDir(runId))

  readonly hasUploads = ({ id, files }: RunRecord): boolean =>
    files.every(({ name }) => existsSync(this.uploadedFile(id, name)))

  /** Copies the uploaded files of a run; with copy-on-write they take no space until somebody writes to them. */
  async copyUploads({ id, files }: RunRecord, to: string): Promise<void> {
    makeFolder(to)
    for (const { name } of files)
      await copyFile(this.uploadedFile(id, name), join(to, name), constants.COPYFILE_FICLONE)
  }

  /** The samples of each node of a grid that works for a run. */
  samplesFiles(runId: string, { id: gridId, spec }: GridRecord): string[] {
    const indexes = Array.from({ length: spec.instanceQuantity }, (_, index) => index)
    return indexes.map((index) => this.nodeFiles({ runId, gridId, index }).samplesFile)
  }

  /** The files of one node of a grid that works for a run. */
  nodeFiles({ runId, gridId, index }: { runId: string; gridId: string; index: number }) {
    const name = `${gridId}-${index + 1}`
    const workDir = join(this.nodesDir(runId), name)
    return { workDir, samplesFile: `${workDir}.csv`, logFile: join(this.logsDir(runId), `${name}.log`) }
  }

  /**
   * Removes the folders of runs that were never created. Those with traces of a run have lost their record, and stay. If there are such and
   * no record at all, the others may have lost theirs too, and stay as well. Returns how many have lost it.
   */
  discardUnborn(isKnown: (runId: string) => boolean): number {
    const ids = readdirSync(join(this.path, 'runs')).filter((id) => /^[a-f\d]{24}$/.test(id))
    const unknown = ids.filter((id) => !isKnown(id))
    const lost = unknown.filter((id) => readdirSync(this.runDir(id)).some((name) => name !== 'files'))
    const isEverythingLost = lost.length > 0 && unknown.length === ids.length
    for (const id of isEverythingLost ? [] : unknown.filter((one) => !lost.includes(one)))
      rmSync(this.runDir(id), { recursive: true, force: true })
    return lost.length
  }

  /** A new folder for the files of a request that is still being read. */
  createUploadDir(): string {
    const dir = join(this.path, 'uploads', createId())
    // It becomes the folder of a run: plans of other runs may pass by it.
    mkdirSync(dir, { mode: 0o700 })
    return dir
  }

  /** What a service was still receiving at its end belongs to no run. */
  discardUploads(): void {
    const uploads = join(this.path, 'uploads')
    for (const name of readdirSync(uploads)) rmSync(join(uploads, name), { recursive: true, force: true })
  }
}

function goneNodes(folder: DataFolder, runId: string): string {
  return `${folder.nodesDir(runId)}.gone`
}

/** Writes a file into a folder and removes it; throws if there is no room for this many bytes. */
export function probeFolder(folder: string, bytes: number): void {
  const file = join(folder, '.writable')
  try {
    writeFileSync(file, Buffer.alloc(bytes, 'x'), { mode: 0o600 })
  } finally {
    rmSync(file, { force: true })
  }
}
