import type { Clock } from '../clock.js'
import { formatMinutes, Interruption } from './interruption.js'
import type { GridRecord, GridSpec } from '../store/records.js'
import { createId, type Store } from '../store/store.js'

const MS_A_MINUTE = 60_000

/** Why a grid ends. A run still using it is told; one that has ended does not matter. */
type GridEnd = 'deleted' | 'stop_after' | 'run ended'

/** Grids and their life cycle: `queued → starting → started → stopped`. A grid stops when its minutes are up. */
export class Grids {
  private readonly ends = new Map<string, AbortController>()
  private readonly timers = new Map<string, () => void>()
  private readonly work = new Map<string, Set<Promise<unknown>>>()

  constructor(private readonly parts: { store: Store; clock: Clock; log: (line: string) => void }) {}

  /** Creates a standalone grid, which starts by itself. */
  create(spec: GridSpec): GridRecord {
    const grid = this.record(spec, { batchId: null, status: 'queued' })
    setImmediate(() => this.start(grid))
    return grid
  }

  /** Creates a grid for a run, which starts and ends it. */
  createForRun(spec: GridSpec, batchId: string): GridRecord {
    return this.record(spec, { batchId, status: 'starting' })
  }

  /** Its minutes begin. A run's own grids start when its tool is ready; a standalone grid does not know its tools yet. */
  start(grid: GridRecord): void {
    if (grid.status === 'stopped') return
    if (grid.status === 'queued') this.move(grid, 'starting')
    grid.startedMs = this.parts.clock.now()
    this.move(grid, 'started')
    const callOff = this.parts.clock.after(grid.spec.stopAfterMin * MS_A_MINUTE, () => {
      this.parts.log(`grid ${grid.id} stops: its ${grid.spec.stopAfterMin} minutes are up`)
      void this.terminate(grid, 'stop_after')
    })
    this.timers.set(grid.id, callOff)
  }

  /** Ends a grid and everything running on it; `deleted` by a caller unless another reason is given. */
  async terminate(grid: GridRecord, end: GridEnd = 'deleted'): Promise<void> {
    this.timers.get(grid.id)?.()
    this.timers.delete(grid.id)
    if (grid.status !== 'stopped') this.move(grid, 'stopped')
    this.endOf(grid).abort(this.describeEnd(grid, end))
    await Promise.allSettled([...(this.work.get(grid.id) ?? [])])
  }

  /** Aborted when the grid ends. */
  endSignal(grid: GridRecord): AbortSignal {
    return this.endOf(grid).signal
  }

  /** The grid's end waits for its work. */
  async follow<T>(grid: GridRecord, work: Promise<T>): Promise<T> {
    const all = this.work.get(grid.id) ?? new Set()
    this.work.set(grid.id, all.add(work))
    try {
      return await work
    } finally {
      all.delete(work)
    }
  }

  /** Cancels the timers of all grids; what runs on them is ended elsewhere. */
  close(): void {
    for (const callOff of this.timers.values()) callOff()
    for (const grid of this.parts.store.allGrids()) if (grid.status !== 'stopped') this.move(grid, 'stopped')
  }

  private describeEnd({ id, spec }: GridRecord, end: GridEnd): Interruption {
    const atMs = this.parts.clock.now()
    if (end === 'stop_after') {
      const why = `by its stop_after of ${formatMinutes(spec.stopAfterMin)}`
      return new Interruption({ what: `grid ${id} was cut off`, why, atMs })
    }
    const what = { deleted: 'was deleted', 'run ended': 'ended' }[end]
    return new Interruption({ what: `grid ${id} ${what}`, atMs })
  }

  private record(spec: GridSpec, start: Pick<GridRecord, 'batchId' | 'status'>): GridRecord {
    const grid = { id: createId(), spec, ...start, createdMs: this.parts.clock.now(), startedMs: null }
    this.parts.store.saveGrid(grid)
    return grid
  }

  private move(grid: GridRecord, status: GridRecord['status']): void {
    grid.status = status
    this.parts.store.saveGrid(grid)
  }

  private endOf(grid: GridRecord): AbortController {
    const known = this.ends.get(grid.id)
    if (known) return known
    const controller = new AbortController()
    this.ends.set(grid.id, controller)
    return controller
  }
}
