import type { Clock } from '../../contract/clock.js'
import { refuseAll } from '../errors.js'
import { messageOf } from '../../contract/text.js'
import { Interruption, requireWritten } from './interruption.js'
import { NodeError, type NodePlace, type NodeSet, type NodeSetRequest } from '../nodes/load-node.js'
import type { GridEnd, GridRecord, GridSpec, UserReference } from '../../contract/records.js'
import { createId } from '../store/data-folder.js'
import type { Queue, Turn } from '../queue/queue.js'
import type { Store } from '../store/store.js'

const MS_A_MINUTE = 60_000

type NodeWish = Pick<NodeSetRequest, 'runId' | 'tool' | 'isTakenUp'>

interface Opened {
  readonly set: Promise<NodeSet>
  readonly controller: AbortController
}

/** Grids and their life cycle: `queued → starting → started → stopped`. A grid stops when its minutes are up. */
export class Grids {
  private readonly opened = new Map<string, Opened>()
  private readonly ends = new Map<string, AbortController>()
  private readonly timers = new Map<string, () => void>()
  private readonly work = new Map<string, Set<Promise<unknown>>>()
  /** Of the standalone grids. */
  private readonly turns = new Map<string, Turn>()

  constructor(
    private readonly parts: {
      store: Store
      clock: Clock
      placeOf: (region: string) => NodePlace | undefined
      queue: Queue
      log: (line: string) => void
    }
  ) {}

  /** Creates a standalone grid, which starts by itself. */
  create(spec: GridSpec, user?: UserReference): GridRecord {
    this.parts.queue.requireOpen()
    const problems = this.parts.queue.check({ kind: 'grid', grids: [{ spec, isOwn: true }] })
    if (problems.length > 0) throw refuseAll(problems)
    const grid = this.describe(spec, { batchId: null, user })
    this.parts.store.create({ grids: [grid] })
    void this.bringUp(grid, { isTakenUp: false })
    return grid
  }

  /** Continues with a standalone grid of an earlier service; its minutes have been going on. */
  takeUp(grid: GridRecord): void {
    if (grid.status === 'started') this.limit(grid)
    void this.bringUp(grid, { isTakenUp: grid.status !== 'queued' })
  }

  /** A new record; that of a grid for a run, which starts and ends it, is added to the store together with the run. */
  describe(
    spec: GridSpec,
    owner: Pick<GridRecord, 'batchId'> & { user: UserReference | undefined }
  ): GridRecord {
    const { batchId, user } = owner
    const record = { id: createId(), spec, batchId, createdMs: this.parts.clock.now(), startedMs: null }
    return { ...record, status: 'queued', ...(user && { user }) }
  }

  /** Its nodes are about to start: the run's turn has come. */
  prepare(grid: GridRecord): void {
    if (grid.status === 'queued') this.move(grid, 'starting')
  }

  /** Its run waits again. */
  postpone(grid: GridRecord): void {
    if (grid.status === 'starting') this.move(grid, 'queued')
  }

  /** Whether its nodes outlive this process. */
  outlives({ spec }: GridRecord): boolean {
    return this.parts.placeOf(spec.region)?.outlivesService ?? false
  }

  /** Starts the nodes of a run's own grid; they are closed by `closeNodes` alone, even if the signal aborts. */
  async openNodes(grid: GridRecord, wish: NodeWish, signal: AbortSignal): Promise<NodeSet> {
    // The next service must know of nodes that outlive this one.
    if (!wish.isTakenUp) requireWritten(this.parts.store, 'the nodes were not started')
    const controller = new AbortController()
    const opening = this.startNodes(
      grid,
      wish,
      AbortSignal.any([signal, this.endSignal(grid), controller.signal])
    )
    this.opened.set(grid.id, { set: opening, controller })
    const set = await opening
    const names = set.nodes.flatMap((_, index) => set.factsOf(index).name ?? [])
    if (names.length > 0) grid.nodeNames = names
    this.parts.store.saveGrid(grid)
    return set
  }

  /** Gives the nodes back, also if they are only just starting. A run's own grid keeps them until its results are safe. */
  async closeNodes(grid: GridRecord): Promise<void> {
    const opened = this.opened.get(grid.id)
    this.opened.delete(grid.id)
    opened?.controller.abort(new NodeError(`the nodes in ${grid.spec.region} are not needed any more`))
    const set = await opened?.set.catch(() => undefined)
    await set?.close()
  }

  /** The nodes of a standalone grid, also of one that is only just being taken up; undefined if it has none. */
  nodesOf(grid: GridRecord): Promise<NodeSet> | undefined {
    return this.opened.get(grid.id)?.set
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
    this.turns.get(grid.id)?.leave()
    this.turns.delete(grid.id)
    this.ends.delete(grid.id)
    this.work.delete(grid.id)
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
    // What has ended is forgotten.
    return grid.status === 'stopped' && !this.ends.has(grid.id)
      ? AbortSignal.abort(this.describeEnd(grid, grid.ended?.by ?? 'deleted'))
      : this.endOf(grid).signal
  }

  /** The grid's end waits for its work. */
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

  /** Gives the nodes back, but those that are kept for the next start; what runs on them was ended before. */
  async close(kept: ReadonlySet<string>): Promise<void> {
    for (const callOff of this.timers.values()) callOff()
    const isKept = ({ id, status, batchId }: GridRecord): boolean =>
      kept.has(id) || (status === 'queued' && batchId === null)
    const grids = this.parts.store.activeGrids().filter((grid) => !isKept(grid))
    for (const grid of grids) {
      grid.ended = { by: 'closed', atMs: this.parts.clock.now() }
      this.move(grid, 'stopped')
    }
    await Promise.all(grids.map((grid) => this.closeNodes(grid)))
  }

  private async startNodes({ id, spec, startedMs }: GridRecord, wish: NodeWish, signal: AbortSignal) {
    const place = this.parts.placeOf(spec.region)
    if (place === undefined) throw new NodeError(`there is no region ${spec.region} any more`)
    const { region, instanceQuantity: quantity, instanceType, stopAfterMin } = spec
    const request = { gridId: id, region, quantity, instanceType, stopAfterMin, ...wish }
    try {
      if (!wish.isTakenUp || startedMs !== null) return await place.open(request, signal)
      // It is not known how far the start was: nothing ran on them yet, so new ones do as well.
      return await place
        .open({ ...request, isStarting: true }, signal)
        .catch(() => place.open({ ...request, isTakenUp: false }, signal))
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      if (thrown instanceof NodeError) throw thrown
      throw new NodeError(
        `the nodes in ${region} (${place.name}) could not be started: ${messageOf(thrown)}`,
        { cause: thrown }
      )
    }
  }

  /** A standalone grid; if its nodes do not start, it has stopped, and whoever wants it is told why. */
  private async bringUp(grid: GridRecord, { isTakenUp }: { isTakenUp: boolean }): Promise<void> {
    try {
      const turn = this.takeTurn(grid, { isTakenUp })
      turn.catch(() => undefined)
      // Runs may want the nodes of one that is taken up at once.
      if (!isTakenUp) await turn
      this.prepare(grid)
      await this.openNodes(grid, { runId: undefined, isTakenUp }, this.endSignal(grid))
      if (grid.status === 'starting') this.start(grid)
    } catch (thrown) {
      if (grid.status === 'stopped') return
      grid.problem = messageOf(thrown)
      this.parts.log(`grid ${grid.id} stops: ${grid.problem}`)
      await this.terminate(grid, 'failed')
    }
  }

  /** Its pods work from now until its end. The caller gets `queued` before anything happens. */
  private async takeTurn(grid: GridRecord, { isTakenUp }: { isTakenUp: boolean }): Promise<void> {
    const grids = [{ spec: grid.spec, isOwn: true }]
    const entry = { kind: 'grid' as const, id: grid.id, user: grid.user, isTakenUp, grids }
    const turn = this.parts.queue.enter(entry, this.endSignal(grid))
    turn.catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    const mine = await turn
    // It may have ended meanwhile.
    if (grid.status === 'stopped') mine.leave()
    this.endSignal(grid).throwIfAborted()
    this.turns.set(grid.id, mine)
  }

  /** Stops it when its minutes are up. If the wall clock was set back while no service ran, it still gets no more than its minutes. */
  private limit(grid: GridRecord): void {
    const { clock, log } = this.parts
    const lengthMs = grid.spec.stopAfterMin * MS_A_MINUTE
    const endMs = (grid.startedMs ?? clock.now()) + lengthMs
    const callOff = clock.after(Math.min(lengthMs, Math.max(0, endMs - clock.now())), () => {
      log(`grid ${grid.id} stops: its ${grid.spec.stopAfterMin} minutes are up`)
      void this.terminate(grid, 'stop_after')
    })
    this.timers.get(grid.id)?.()
    this.timers.set(grid.id, callOff)
  }

  private describeEnd({ id, spec, ended, problem }: GridRecord, end: GridEnd): Interruption {
    const atMs = ended?.atMs ?? this.parts.clock.now()
    const what = {
      stop_after: 'was cut off',
      deleted: 'was deleted',
      'run ended': 'ended',
      failed: `failed (${problem ?? 'its nodes are gone'})`,
      closed: 'was closed with the service'
    }[end]
    const why = end === 'stop_after' ? `by its stop_after of ${spec.stopAfterMin} min` : ''
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
