import type { Clock } from '../../contract/clock.js'
import { refuseAll } from '../errors.js'
import { count, messageOf } from '../../contract/text.js'
import { Interruption, requireWritten } from './interruption.js'
import { NodeError, type NodePlace, type NodesInUse, type NodeSet } from '../nodes/load-node.js'
import type { GridEnd, GridRecord, GridSpec, RunRecord, UserReference } from '../../contract/records.js'
import { createId } from '../store/data-folder.js'
import type { Queue } from '../queue/queue.js'
import type { Store } from '../store/store.js'

const MS_A_MINUTE = 60_000

interface Opened extends NodesInUse {
  readonly set: Promise<NodeSet>
  readonly controller: AbortController
}

/**
 * Grids and their life cycle: `queued → starting → started → stopped`. A grid is `started` until its minutes are up or somebody deletes
 * it. It has nodes only while runs are at work on it, and each run has its own: an idle grid uses nothing.
 */
export class Grids {
  private readonly opened = new Set<Opened>()
  private readonly ends = new Map<string, AbortController>()
  private readonly timers = new Map<string, () => void>()
  private readonly work = new Map<string, Set<Promise<unknown>>>()

  constructor(
    private readonly parts: {
      store: Store
      clock: Clock
      placeOf: (region: string) => NodePlace | undefined
      queue: Queue
      log: (line: string) => void
    }
  ) {}

  /** Creates a grid without a run, which starts by itself. */
  async create(spec: GridSpec, user?: UserReference): Promise<GridRecord> {
    const { grid } = await this.parts.store.createWhenFree(() => {
      this.parts.queue.requireOpen()
      const problems = this.parts.queue.check('grid', [spec])
      if (problems.length > 0) throw refuseAll(problems)
      const made = this.describe(spec, { batchId: null, user })
      return { grid: made, grids: [made] }
    })
    // The caller gets `queued`.
    setImmediate(() => this.start(grid))
    return grid
  }

  /** Continues with a grid of an earlier service, whose minutes are running already. */
  resume(grid: GridRecord): void {
    if (grid.status === 'started') this.limit(grid)
    else this.start(grid)
  }

  /** A new record. A grid for a run is added to the store together with the run, which starts it. */
  describe(
    spec: GridSpec,
    owner: Pick<GridRecord, 'batchId' | 'createdFor'> & { user: UserReference | undefined }
  ): GridRecord {
    const { batchId, user, createdFor } = owner
    const record = { id: createId(), spec, batchId, createdMs: this.parts.clock.now(), startedMs: null }
    return { ...record, status: 'queued', ...(user && { user }), ...(createdFor && { createdFor }) }
  }

  /** Its first run's turn has come: the nodes are about to start. */
  prepare(grid: GridRecord): void {
    if (grid.status === 'queued') this.move(grid, 'starting')
  }

  /** Its first run waits again. */
  postpone(grid: GridRecord): void {
    if (grid.status === 'starting') this.move(grid, 'queued')
  }

  /** Whether its nodes outlive this process. */
  outlives({ spec }: GridRecord): boolean {
    return this.parts.placeOf(spec.region)?.outlivesService ?? false
  }

  /** Starts nodes for a run. Only `closeNodes` closes them, even if the signal aborts. */
  async openNodes(
    grid: GridRecord,
    { run, isContinued }: { run: RunRecord; isContinued: boolean },
    signal: AbortSignal
  ): Promise<NodeSet> {
    const controller = new AbortController()
    const either = AbortSignal.any([signal, this.endSignal(grid), controller.signal])
    const opening = this.startNodes(grid, { run, isContinued }, either)
    this.opened.add({ runId: run.id, gridId: grid.id, set: opening, controller })
    const set = await opening
    const names = set.nodes.flatMap((_, index) => set.factsOf(index).name ?? [])
    if (names.length > 0) grid.nodeNames = names
    this.parts.store.saveGrid(grid)
    return set
  }

  /** Closes the nodes of a run, or of all runs on the grid, even if they are still starting. */
  async closeNodes(grid: GridRecord, run?: RunRecord): Promise<void> {
    const all = [...this.opened].filter(({ gridId }) => gridId === grid.id)
    const closing = all.filter(({ runId }) => run === undefined || runId === run.id)
    await Promise.all(closing.map((opened) => this.closeSet(opened)))
  }

  /** Starts its minutes: at once, or for a grid that was created with a run, when the run's tool is ready. */
  start(grid: GridRecord): void {
    if (grid.status === 'stopped' || grid.status === 'started') return
    grid.startedMs = this.parts.clock.now()
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
    await this.closeNodes(grid)
    this.ends.delete(grid.id)
    this.work.delete(grid.id)
  }

  /** Its run has ended. One that has not started by then never will. */
  async noteRunEnd(grid: GridRecord): Promise<void> {
    if (grid.status === 'queued' || grid.status === 'starting') await this.terminate(grid, 'run ended')
  }

  /** Aborted when the grid ends. */
  endSignal(grid: GridRecord): AbortSignal {
    // The controllers of ended grids are forgotten.
    return grid.status === 'stopped' && !this.ends.has(grid.id)
      ? AbortSignal.abort(this.describeEnd(grid, grid.ended?.by ?? 'deleted'))
      : this.endOf(grid).signal
  }

  /** The end of the grid waits for this work. */
  async follow<T>(grid: GridRecord, work: Promise<T>): Promise<T> {
    const all = this.work.get(grid.id) ?? new Set()
    this.work.set(grid.id, all.add(work))
    try {
      return await work
    } finally {
      all.delete(work)
      if (all.size === 0) this.work.delete(grid.id)
    }
  }

  /** Closes all nodes; what ran on them has been ended before. The grids continue with the next service, if there is one. */
  async close(): Promise<void> {
    for (const callOff of this.timers.values()) callOff()
    await Promise.all([...this.opened].map((opened) => this.closeSet(opened)))
  }

  private async closeSet(opened: Opened): Promise<void> {
    this.opened.delete(opened)
    opened.controller.abort(new NodeError('the nodes are not needed any more'))
    const set = await opened.set.catch(() => undefined)
    await set?.close()
  }

  private async startNodes(
    { id, spec }: GridRecord,
    { run, isContinued }: { run: RunRecord; isContinued: boolean },
    signal: AbortSignal
  ): Promise<NodeSet> {
    // The next service must know of nodes that outlive this one.
    if (!isContinued) await requireWritten(this.parts.store, 'the nodes were not started')
    signal.throwIfAborted()
    const place = this.parts.placeOf(spec.region)
    if (place === undefined) throw new NodeError(`there is no region ${spec.region} any more`)
    const { region, instanceQuantity: quantity, instanceType, stopAfterMin } = spec
    const wish = { runId: run.id, tool: run.request.tool, isContinued }
    try {
      return await place.open({ gridId: id, region, quantity, instanceType, stopAfterMin, ...wish }, signal)
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      if (thrown instanceof NodeError) throw thrown
      throw new NodeError(
        `the nodes in ${region} (${place.name}) could not be started: ${messageOf(thrown)}`,
        { cause: thrown }
      )
    }
  }

  /** Stops it when its minutes are up. If the wall clock was set back while no service ran, it still gets no more than its minutes. */
  private limit(grid: GridRecord): void {
    const { clock, log } = this.parts
    const lengthMs = grid.spec.stopAfterMin * MS_A_MINUTE
    const endMs = (grid.startedMs ?? clock.now()) + lengthMs
    const callOff = clock.after(Math.min(lengthMs, Math.max(0, endMs - clock.now())), () => {
      log(`grid ${grid.id} stops: its time of ${count(grid.spec.stopAfterMin, 'minute')} is up`)
      void this.terminate(grid, 'stop_after')
    })
    this.timers.get(grid.id)?.()
    this.timers.set(grid.id, callOff)
  }

  private describeEnd({ id, spec, ended }: GridRecord, end: GridEnd): Interruption {
    const atMs = ended?.atMs ?? this.parts.clock.now()
    const isCut = end === 'stop_after'
    const what = isCut ? 'was cut off' : end === 'deleted' ? 'was deleted' : 'ended'
    const why = isCut ? `by its stop_after of ${spec.stopAfterMin} min` : ''
    return new Interruption({ what: `grid ${id} ${what}`, why, atMs })
  }

  private move(grid: GridRecord, status: GridRecord['status']): void {
    grid.status = status
    this.parts.store.saveGrid(grid)
  }

  private endOf(grid: GridRecord): AbortController {
    const controller = this.ends.get(grid.id) ?? new AbortController()
    this.ends.set(grid.id, controller)
    return controller
  }
}
