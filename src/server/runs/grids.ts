import type { Clock } from '../clock.js'
import { messageOf } from '../errors.js'
import type { GridNodes } from './grid-nodes.js'
import { formatMinutes } from '../format-elapsed.js'
import { Interruption } from './interruption.js'
import type { NodeSet } from '../nodes/load-node.js'
import type { GridEnd, GridRecord, GridSpec, UserReference } from '../store/records.js'
import { createId } from '../store/data-folder.js'
import type { Queue } from '../queue/queue.js'
import type { Store } from '../store/store.js'

const MS_A_MINUTE = 60_000

/** Grids and their life cycle: `queued → starting → started → stopped`. A grid stops when its minutes are up. */
export class Grids {
  private readonly ends = new Map<string, AbortController>()
  private readonly timers = new Map<string, () => void>()
  private readonly work = new Map<string, Set<Promise<unknown>>>()

  constructor(
    private readonly parts: {
      store: Store
      clock: Clock
      nodes: GridNodes
      queue: Queue
      log: (line: string) => void
    }
  ) {}

  /** Creates a standalone grid, which starts by itself. */
  create(spec: GridSpec, user?: UserReference): GridRecord {
    const grid = this.describe(spec, { batchId: null, status: 'queued', ...(user && { user }) })
    this.parts.store.create({ grids: [grid] })
    setImmediate(() => void this.bringUp(grid, { isTakenUp: false }))
    return grid
  }

  /** Continues with a standalone grid of an earlier service; its minutes have been going on. */
  takeUp(grid: GridRecord): void {
    if (grid.status === 'started') this.limit(grid)
    void this.bringUp(grid, { isTakenUp: true })
  }

  /** A grid for a run, which starts and ends it; it is added to the store together with the run. */
  describeForRun(spec: GridSpec, batchId: string, user?: UserReference): GridRecord {
    return this.describe(spec, { batchId, status: 'starting', ...(user && { user }) })
  }

  /** Starts the nodes of a run's own grid. */
  async openNodes(
    grid: GridRecord,
    wish: { runId: string | undefined; tool?: string; isTakenUp: boolean; signal: AbortSignal }
  ): Promise<NodeSet> {
    const { signal, ...rest } = wish
    const set = await this.parts.nodes.open(grid, rest, AbortSignal.any([signal, this.endSignal(grid)]))
    const names = set.nodes.flatMap((_, index) => set.factsOf(index).name ?? [])
    if (names.length > 0) grid.nodeNames = names
    this.parts.store.saveGrid(grid)
    return set
  }

  /** Gives the nodes back. A run's own grid has ended before, but keeps them until its results are safe. */
  closeNodes(grid: GridRecord): Promise<void> {
    return this.parts.nodes.close(grid)
  }

  /** The nodes of a standalone grid, also of one that is only just being taken up. */
  nodesOf(grid: GridRecord): Promise<NodeSet> {
    return (
      this.parts.nodes.of(grid) ??
      Promise.reject(new Error(`grid ${grid.id} ${grid.problem ?? 'has no nodes any more'}`))
    )
  }

  /** Its minutes begin. A run's own grids start when its tool is ready; a standalone grid does not know its tools yet. */
  start(grid: GridRecord): void {
    if (grid.status === 'stopped') return
    grid.startedMs ??= this.parts.clock.now()
    this.move(grid, 'started')
    this.limit(grid)
  }

  /** Ends a grid and everything running on it; `deleted` by a caller unless another reason is given. */
  async terminate(grid: GridRecord, end: GridEnd = 'deleted'): Promise<void> {
    this.timers.get(grid.id)?.()
    this.timers.delete(grid.id)
    if (grid.status !== 'stopped') {
      grid.ended = { by: end, atMs: this.parts.clock.now() }
      this.move(grid, 'stopped')
    }
    this.endOf(grid).abort(this.describeEnd(grid, end))
    await Promise.allSettled([...(this.work.get(grid.id) ?? [])])
    if (end !== 'run ended') await this.closeNodes(grid)
  }

  /** For a run that is taken up again: its own grids may have ended because it was about to. */
  revive(grid: GridRecord): void {
    if (grid.ended?.by === 'run ended') {
      delete grid.ended
      this.move(grid, grid.startedMs === null ? 'starting' : 'started')
    }
    if (grid.ended) this.endOf(grid).abort(this.describeEnd(grid, grid.ended.by))
    else if (grid.batchId !== null && grid.status === 'started') this.limit(grid)
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

  /** Gives all nodes back; what runs on them was ended before. */
  async close(): Promise<void> {
    for (const callOff of this.timers.values()) callOff()
    const grids = this.parts.store.activeGrids()
    for (const grid of grids) {
      grid.ended = { by: 'closed', atMs: this.parts.clock.now() }
      this.move(grid, 'stopped')
    }
    await Promise.all(grids.map((grid) => this.closeNodes(grid)))
  }

  /** A standalone grid; if its nodes do not start, it has stopped, and whoever wants it is told why. */
  private async bringUp(grid: GridRecord, { isTakenUp }: { isTakenUp: boolean }): Promise<void> {
    if (grid.status === 'queued') this.move(grid, 'starting')
    try {
      await this.openNodes(grid, { runId: undefined, isTakenUp, signal: this.endSignal(grid) })
      if (grid.status === 'starting') this.start(grid)
    } catch (thrown) {
      if (grid.status === 'stopped') return
      grid.problem = messageOf(thrown)
      this.parts.log(`grid ${grid.id} stops: ${grid.problem}`)
      await this.terminate(grid, 'failed')
    }
  }

  /** Stops it when its minutes are up. */
  private limit(grid: GridRecord): void {
    const { clock, log } = this.parts
    const endMs = (grid.startedMs ?? clock.now()) + grid.spec.stopAfterMin * MS_A_MINUTE
    const callOff = clock.after(Math.max(0, endMs - clock.now()), () => {
      log(`grid ${grid.id} stops: its ${grid.spec.stopAfterMin} minutes are up`)
      void this.terminate(grid, 'stop_after')
    })
    this.timers.get(grid.id)?.()
    this.timers.set(grid.id, callOff)
  }

  private describeEnd({ id, spec, ended, problem }: GridRecord, end: GridEnd): Interruption {
    const atMs = ended?.atMs ?? this.parts.clock.now()
    if (end === 'stop_after') {
      const why = `by its stop_after of ${formatMinutes(spec.stopAfterMin)}`
      return new Interruption({ what: `grid ${id} was cut off`, why, atMs })
    }
    const what = {
      deleted: 'was deleted',
      'run ended': 'ended',
      failed: `failed (${problem ?? 'its nodes are gone'})`,
      closed: 'was closed with the service'
    }[end]
    return new Interruption({ what: `grid ${id} ${what}`, atMs })
  }

  private describe(spec: GridSpec, start: Pick<GridRecord, 'batchId' | 'status' | 'user'>): GridRecord {
    return { id: createId(), spec, ...start, createdMs: this.parts.clock.now(), startedMs: null }
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
