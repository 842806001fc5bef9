import { join, dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { closeSync, openSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { type Clock, steadyNow } from '../../contract/clock.js'
import { type GridRecord, isSettled, type RunRecord } from '../../contract/records.js'
import { count, messageOf } from '../../contract/text.js'
import { attempt } from '../errors.js'
import { inTransaction, loadSqlite, neverWait } from './database.js'
import { explainDatabase, isBusy, refuseWrite } from './database-errors.js'
import { ChangeCount } from './change-count.js'
import { createId } from './data-folder.js'
import { describeHold, QueueHold } from './queue-hold.js'
import {
  isActive,
  isUnstarted,
  type LikeRequest,
  type Project,
  type RunListRequest,
  type RunPage,
  type SeenSlice,
  Store
} from './store.js'
import { Facts, GridTable, RunTable } from './tables.js'
import { whenFree } from './when-free.js'

const RETRY_MS = 5000
/** Another process is done in a moment; only one that takes longer than this is worth a line in the log. */
const BUSY_RETRY_MS = 100
const TOLD_AFTER_MS = 2000
/** The process that has the folder: a service that cannot write even that does not start. */
const HOLDER = 'service'
/** The waiting runs that had logs at the latest start. */
const SEEN_LOGS = 'waiting-with-logs'

interface Change {
  readonly write: () => void
  readonly onWritten: () => void
}

/** Runs and grids in a database. In memory is only what can still change or could not be written; the rest is read when asked for. */
export class SqliteStore extends Store {
  readonly #runTable: RunTable
  readonly #gridTable: GridTable
  readonly #facts: Facts
  readonly #changeCount: ChangeCount
  /** Whether queued runs wait for an admin. */
  override readonly hold: QueueHold
  /** Changes that are not in the database yet: the newest one of each thing, by its kind and id. */
  readonly #changes = new Map<string, Change>()
  readonly #onSettled: ((run: RunRecord) => void)[] = []
  #highestSequence: number
  #isClosed = false
  /** Somebody was told. */
  #isFailing = false
  #failingSinceMs: number | undefined
  #callOff: (() => void) | undefined

  constructor(
    dataDir: string,
    readonly database: DatabaseSync,
    private readonly parts: { log: (line: string) => void; clock: Clock; lock: DatabaseSync }
  ) {
    super(dataDir)
    this.#runTable = new RunTable(database, parts.log)
    this.#gridTable = new GridTable(database, parts.log)
    this.#facts = new Facts(database)
    this.#changeCount = new ChangeCount(database, { dataDir, owner: () => this.marker() })
    this.hold = new QueueHold(database)
    for (const run of this.#runTable.unsettled()) this.runs.set(run.id, run)
    for (const grid of this.#gridTable.active()) this.grids.set(grid.id, grid)
    for (const id of this.#gridsInUse()) this.#keepGrid(id)
    this.#highestSequence = this.#runTable.highestSequence()
  }

  /** Called with each run whose results are complete, once that is in the database. */
  onSettled(listener: (run: RunRecord) => void): void {
    this.#onSettled.push(listener)
  }

  override run(id: string): RunRecord | undefined {
    return this.runs.get(id) ?? this.#runTable.find(id)
  }

  override grid(id: string): GridRecord | undefined {
    return this.grids.get(id) ?? this.#gridTable.find(id)
  }

  /** By what is in the database: while changes cannot be written, a filter finds runs by the status they had before. */
  override listRuns({ filter = {}, seenBy = 'all', offset, limit }: RunListRequest): RunPage {
    return {
      runs: this.#runTable.page(filter, { offset, limit, seenBy, known: this.runs }),
      total: this.#runTable.count(filter, seenBy)
    }
  }

  override listGrids(slice: SeenSlice): { grids: readonly GridRecord[]; total: number } {
    return { grids: this.#gridTable.page(slice, this.grids), total: this.#gridTable.count(slice) }
  }

  override listProjects(slice: SeenSlice): { projects: readonly Project[]; total: number } {
    return this.#runTable.projects(slice)
  }

  override runsLike(run: RunRecord, request: LikeRequest): readonly RunRecord[] {
    return this.#runTable.like(run, { ...request, known: this.runs })
  }

  override nextSequence(): number {
    return this.#highestSequence + 1
  }

  override create({ run, grids }: { run?: RunRecord; grids: readonly GridRecord[] }): void {
    try {
      inTransaction(this.database, () => {
        for (const { write } of this.#changes.values()) write()
        this.#changeCount.note()
        for (const grid of grids) this.#gridTable.insert(grid)
        if (run) this.#runTable.insert(run)
      })
    } catch (thrown) {
      throw refuseWrite(thrown, run ? 'the run was not created' : 'the grid was not created')
    }
    // It is created: what cannot be written here is written with the next change.
    attempt(() => this.#changeCount.write())
    this.#noteWritten()
    super.create({ ...(run && { run }), grids })
    if (!run) return
    this.#highestSequence = Math.max(this.#highestSequence, run.sequence)
    for (const id of run.gridIds) this.#keepGrid(id)
    this.#forgetSettled(run, { isNews: true })
  }

  override createWhenFree<T extends { run?: RunRecord; grids: readonly GridRecord[] }>(
    make: () => T
  ): Promise<T> {
    return whenFree(() => this.add(make), this.parts.clock)
  }

  override saveRun(run: RunRecord): void {
    // A run that is not in memory has settled before: only its thresholds have changed.
    const isNews = this.runs.has(run.id)
    super.saveRun(run)
    this.#change(`run ${run.id}`, {
      write: () => this.#runTable.update(run, this.parts.clock.now()),
      onWritten: () => this.#forgetSettled(run, { isNews })
    })
  }

  override saveGrid(grid: GridRecord): void {
    super.saveGrid(grid)
    this.#change(`grid ${grid.id}`, {
      write: () => this.#gridTable.update(grid),
      onWritten: () => this.#forgetGrid(grid.id)
    })
  }

  override marker(): string {
    const known = this.#facts.get('marker') ?? ''
    if (/^[a-f\d]{24}$/.test(known)) return known
    const marker = createId()
    // Nothing may be created under a marker that nobody would find again.
    this.#facts.set('marker', marker)
    return marker
  }

  override claim(): void {
    try {
      this.#facts.set(HOLDER, String(process.pid))
      this.#holdIfRestored()
      // Written now, if there is none yet: callers come next.
      this.marker()
    } catch (thrown) {
      throw explainDatabase(thrown, this.folder.path)
    }
    neverWait(this.database)
    const find = this.database.prepare('SELECT 1 FROM runs WHERE id = ?')
    const lost = this.folder.discardUnborn((id) => find.get(id) !== undefined)
    if (lost > 0)
      this.parts.log(
        `${count(lost, 'folder')} in ${join(this.folder.path, 'runs')} with results that the database does not know: was it restored from an older copy, or its -wal file lost? They are left as they are`
      )
  }

  /** A run that waits in an older copy may have run since. */
  #holdIfRestored(): void {
    const waiting = this.unsettledRuns().filter(isUnstarted)
    const started = waiting.map(({ id }) => id).filter((id) => this.folder.hasStarted(id))
    // An admin who has let the queue go has seen these.
    const seen = new Set((this.#facts.get(SEEN_LOGS) ?? '').split(' '))
    const doubt =
      this.#changeCount.findDoubt() ??
      (started.some((id) => !seen.has(id))
        ? 'there are logs of runs that have not started, as far as it knows'
        : undefined)
    inTransaction(this.database, () => {
      this.#changeCount.note()
      this.#facts.set(SEEN_LOGS, started.join(' '))
      if (doubt !== undefined && waiting.length > 0)
        this.hold.hold(
          `the service's database may have been restored from an older copy (${doubt}), and waiting runs may have run since`
        )
    })
    this.#changeCount.write()
    const { why } = this.hold
    if (why !== undefined) this.parts.log(describeHold(why))
  }

  override flush(): void {
    const failure = this.#writeChanges()
    if (failure !== undefined) throw refuseWrite(failure, 'it was done, but could not be recorded yet')
  }

  override flushWhenFree(withinMs?: number): Promise<void> {
    return whenFree(() => this.flush(), this.parts.clock, withinMs)
  }

  override secure(folder: string): Promise<void> {
    return syncTree(folder, this.folder.path)
  }

  override close(): void {
    if (this.#isClosed) return
    this.#writeChanges()
    this.#callOff?.()
    this.#isClosed = true
    this.#changeCount.close()
    this.database.close()
    // If it cannot, the next start tries again.
    attempt(() => this.folder.discardUploads())
    this.parts.lock.close()
  }

  #change(key: string, change: Change): void {
    if (this.#isClosed) return
    this.#changes.set(key, change)
    this.#writeChanges()
  }

  /** Writes the present state; returns why not, if so. Failing blocks nothing: it is retried with the next change, later, or at the end. */
  #writeChanges(): unknown {
    const { clock, log } = this.parts
    this.#callOff?.()
    try {
      if (this.#changes.size > 0) {
        inTransaction(this.database, () => {
          for (const { write } of this.#changes.values()) write()
          this.#changeCount.note()
        })
        this.#changeCount.write()
      }
      this.#noteWritten()
      return undefined
    } catch (failure) {
      const busy = isBusy(failure)
      this.#failingSinceMs ??= steadyNow(clock)
      // Logged once: a full disk fails at every change.
      if (!this.#isFailing && (!busy || steadyNow(clock) - this.#failingSinceMs >= TOLD_AFTER_MS)) {
        this.#isFailing = true
        log(
          `the service's state cannot be written (${messageOf(failure)}); it stays in memory and is written as soon as possible`
        )
      }
      this.#callOff = clock.after(busy ? BUSY_RETRY_MS : RETRY_MS, () => void this.#writeChanges())
      return failure
    }
  }

  #noteWritten(): void {
    this.#callOff?.()
    const changes = [...this.#changes.values()]
    this.#changes.clear()
    for (const { onWritten } of changes) onWritten()
    if (this.#isFailing) this.parts.log("the service's state can be written again")
    this.#isFailing = false
    this.#failingSinceMs = undefined
  }

  #forgetSettled(run: RunRecord, { isNews }: { isNews: boolean }): void {
    if (!isSettled(run)) return
    this.runs.delete(run.id)
    for (const id of run.gridIds) this.#forgetGrid(id)
    if (isNews) for (const listener of this.#onSettled) listener(run)
  }

  #keepGrid(id: string): void {
    const grid = this.grid(id)
    if (grid) this.grids.set(id, grid)
  }

  #forgetGrid(id: string): void {
    const grid = this.grids.get(id)
    if (grid && !isActive(grid) && !this.#changes.has(`grid ${id}`) && !this.#gridsInUse().has(id))
      this.grids.delete(id)
  }

  #gridsInUse(): Set<string> {
    return new Set([...this.runs.values()].flatMap(({ gridIds }) => gridIds))
  }
}

/** Returns when a folder with all that is in it, and its name in the folders above, would survive a power failure. */
async function syncTree(folder: string, top: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((thrown: unknown) => {
    // A run without samples has no results.
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
  for (const entry of entries ?? [])
    if (entry.isFile() || entry.isDirectory()) await sync(join(entry.parentPath, entry.name))
  for (let path = entries ? folder : dirname(folder); path.startsWith(top); path = dirname(path))
    await sync(path)
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Two services in one folder would start each other's runs and end each other's tools. The lock is the system's, by SQLite: it ends with
 * its process, and holds between containers too.
 */
export function requireLock(database: DatabaseSync, dataDir: string): DatabaseSync {
  const file = join(dataDir, 'service.lock')
  closeSync(openSync(file, 'a', 0o600))
  const { DatabaseSync } = loadSqlite()
  const lock = new DatabaseSync(file)
  try {
    // Nothing is ever written to it.
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (thrown) {
    lock.close()
    if (!isBusy(thrown)) throw thrown
    const pid = new Facts(database).get(HOLDER)
    const whom = pid === undefined ? 'another service' : `the service with process id ${pid}`
    throw new Error(`the data folder ${dataDir} is in use by ${whom}; stop it, or choose another folder`, {
      cause: thrown
    })
  }
}
