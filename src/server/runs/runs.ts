import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { makeFolder } from '../../files/make-folder.js'
import type { Clock } from '../clock.js'
import type { Engines } from '../engines/engines.js'
import { messageOf, RequestError } from '../errors.js'
import type { LoadNode } from '../nodes/load-node.js'
import { LoadRecorder } from '../nodes/machine/load-recorder.js'
import type { readLoad } from '../nodes/machine/load-sample.js'
import type { GridNodes } from './grid-nodes.js'
import type { Grids } from './grids.js'
import type { Queue, Turn } from '../queue/queue.js'
import { Interruption } from './interruption.js'
import { isOwn, makeReady, type Manner, type ReadyRun } from './make-ready.js'
import { NodeBook } from './node-book.js'
import {
  type FileRecord,
  type GridRecord,
  hasEnded,
  type RunRecord,
  type RunRequest,
  type GridWish,
  type UserReference
} from '../store/records.js'
import { type NodeEnd, runOnGrids } from './run-on-grids.js'
import { type RunEnd, RunEndings } from './run-endings.js'
import { createId } from '../store/data-folder.js'
import type { Store } from '../store/store.js'

interface Execution {
  readonly run: RunRecord
  readonly controller: AbortController
  readonly done: Promise<void>
}

interface Ports {
  readonly store: Store
  readonly grids: Grids
  readonly engines: Engines
  readonly nodes: GridNodes
  readonly queue: Queue
  /** Refuses regions that there are not. */
  readonly checkRegion: (region: string) => string[]
  readonly readLoad: typeof readLoad
  readonly clock: Clock
  readonly log: (line: string) => void
}

const ENDED_UNOBSERVED: RunEnd = {
  problems: ['The service ended during this run.'],
  losses: [],
  nodes: [],
  endedMs: undefined
}

/** The runner kills ten seconds after its first signal, and the tools need part of that to exit. */
const CLOSE_WITHIN_MS = 4500

/** Runs and their life cycle: `queued → running → finished`, or `problem` if the plan did not run to completion. */
export class Runs {
  private readonly executions = new Map<string, Execution>()
  private readonly endings: RunEndings
  private isClosing = false

  constructor(private readonly ports: Ports) {
    this.endings = new RunEndings(ports)
  }

  /** Takes ownership of the uploaded files and starts the run. */
  async create(wish: {
    request: RunRequest
    grids: readonly GridWish[]
    files: readonly FileRecord[]
    uploadDir: string
    user?: UserReference | undefined
  }): Promise<RunRecord> {
    this.requireStarted(wish.grids)
    const id = createId()
    return this.inNewFolder(id, async () => {
      await rename(wish.uploadDir, this.ports.store.folder.uploadDir(id))
      return this.begin({ id, ...wish })
    })
  }

  /** Repeats the same plan, files and grids as a new run. */
  async repeat(previous: RunRecord, user?: UserReference): Promise<RunRecord> {
    if (!hasEnded(previous)) throw new RequestError(422, `run ${previous.id} is still ${previous.status}`)
    const grids = this.ports.store
      .gridsOf(previous)
      .map((grid): GridWish => (grid.batchId === previous.batchId ? { spec: grid.spec } : { uuid: grid.id }))
    this.requireStarted(grids)
    const id = createId()
    const { store } = this.ports
    return this.inNewFolder(id, async () => {
      await mkdir(store.folder.uploadDir(id))
      for (const { name } of previous.files)
        await copyFile(
          store.folder.uploadedFile(previous.id, name),
          store.folder.uploadedFile(id, name),
          constants.COPYFILE_FICLONE
        )
      const files = previous.files.map(({ name }) => ({ uuid: createId(), name }))
      return this.begin({ id, request: previous.request, grids, files, user })
    })
  }

  /** Ends the run's processes and returns when its results are ready. */
  async stop(run: RunRecord): Promise<void> {
    const execution = this.executions.get(run.id)
    if (!execution) return
    if (!hasEnded(run)) this.move(run, 'stopping')
    const atMs = this.ports.clock.now()
    execution.controller.abort(new Interruption({ what: 'stopped by a caller', atMs, isAllowed: true }))
    await execution.done
  }

  /**
   * Finishes what a killed or closed service left undone. Runs and grids whose nodes have outlived it are taken up again. Returns
   * the ids of the grids that are in use.
   */
  async adoptLeftovers(): Promise<string[]> {
    const { store, grids, nodes, log } = this.ports
    const inUse = new Set<GridRecord>()
    for (const grid of store.activeGrids()) {
      if (grid.batchId !== null || !nodes.outlive(grid)) continue
      inUse.add(grid)
      grids.takeUp(grid)
    }
    for (const run of store.unsettledRuns()) {
      if (run.unmerged) await this.settle(run).catch((thrown: unknown) => log(messageOf(thrown)))
      if (hasEnded(run)) continue
      if (this.canTakeUp(run)) for (const grid of this.takeUp(run)) inUse.add(grid)
      else await this.endings.conclude(run, ENDED_UNOBSERVED)
    }
    const left = store.activeGrids().filter((grid) => !inUse.has(grid))
    for (const grid of left) await grids.terminate(grid)
    return [...inUse].filter(({ status }) => status !== 'stopped').map(({ id }) => id)
  }

  private canTakeUp(run: RunRecord): boolean {
    const grids = this.ports.store.gridsOf(run)
    const areThere =
      grids.length === run.gridIds.length && grids.every((grid) => this.ports.nodes.outlive(grid))
    return areThere && run.status !== 'stopping'
  }

  private takeUp(run: RunRecord): GridRecord[] {
    const { store, log } = this.ports
    log(`continuing with run ${run.id}, which a service that ended left behind`)
    const grids = store.gridsOf(run)
    for (const grid of grids) this.ports.grids.revive(grid)
    this.launch(run, { isTakenUp: true })
    return grids
  }

  /** Merges the results of a run that had no space or no time for it when it ended. */
  settle(run: RunRecord): Promise<void> {
    return this.endings.settle(run)
  }

  /** Ends all runs within the time limit; what cannot be merged by then is merged at the next start. */
  async close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    const { clock, log } = this.ports
    this.isClosing = true
    const callOff = this.endings.limitTo(withinMs)
    const executions = [...this.executions]
    for (const [id, { run, controller }] of executions) {
      // One that has ended may still be giving its nodes back.
      if (!hasEnded(run)) log(`ending run ${id} because the service is closing; its results so far are kept`)
      const what = 'The service was closed during this run.'
      controller.abort(new Interruption({ what, atMs: clock.now() }))
    }
    await Promise.all(executions.map(([, { done }]) => done))
    callOff()
  }

  /** Removes a folder that could not be filled, or whose run could not begin. */
  private async inNewFolder<T>(id: string, fill: () => Promise<T>): Promise<T> {
    const folder = this.ports.store.folder.runDir(id)
    try {
      makeFolder(folder)
      return await fill()
    } catch (thrown) {
      await rm(folder, { recursive: true, force: true })
      throw thrown
    }
  }

  private requireStarted(wishes: readonly GridWish[]): void {
    const problems = wishes.flatMap((wish) => {
      if ('spec' in wish) return this.ports.checkRegion(wish.spec.region)
      const grid = this.ports.store.grid(wish.uuid)
      if (!grid) return [`there is no grid ${wish.uuid}`]
      const why = grid.problem === undefined ? '' : `: ${grid.problem}`
      if (grid.status !== 'started') return [`grid ${wish.uuid} is ${grid.status}, not started${why}`]
      const user = this.userOf(grid)
      return user === undefined ? [] : [`grid ${grid.id} is in use by run ${user} until it ends`]
    })
    if (problems.length > 0) throw new RequestError(422, problems.join('; '))
  }

  /** The run that has the nodes of this grid for itself: those that outlive the service serve one run at a time. */
  private userOf(grid: GridRecord): string | undefined {
    const { store, nodes } = this.ports
    if (!nodes.outlive(grid)) return undefined
    const isUser = (run: RunRecord | undefined): boolean =>
      run !== undefined && !hasEnded(run) && run.gridIds.includes(grid.id)
    return [...this.executions.keys()].find((id) => isUser(store.run(id)))
  }

  private begin(wish: {
    id: string
    request: RunRequest
    grids: readonly GridWish[]
    files: readonly FileRecord[]
    user?: UserReference | undefined
  }): RunRecord {
    if (this.isClosing) throw new RequestError(503, 'the service is closing')
    // Another run may have come while the files were put into place.
    this.requireStarted(wish.grids)
    const batchId = createId()
    const own: GridRecord[] = []
    const gridIds = wish.grids.map((grid) => {
      if ('uuid' in grid) return grid.uuid
      const described = this.ports.grids.describeForRun(grid.spec, batchId, wish.user)
      own.push(described)
      return described.id
    })
    const run: RunRecord = {
      id: wish.id,
      batchId,
      request: wish.request,
      gridIds,
      files: wish.files,
      ...(wish.user && { user: wish.user }),
      createdMs: this.ports.clock.now(),
      sequence: this.ports.store.nextSequence(),
      toolVersion: null,
      status: 'queued',
      apdex: null,
      samples: null,
      remoteErrors: null,
      startedMs: null,
      stoppedMs: null,
      report: null,
      mark: randomBytes(12).toString('hex')
    }
    this.ports.store.create({ run, grids: own })
    this.launch(run, { isTakenUp: false })
    return run
  }

  private launch(run: RunRecord, { isTakenUp }: { isTakenUp: boolean }): void {
    const controller = new AbortController()
    const done = this.execute(run, { isTakenUp, signal: controller.signal })
      .catch((thrown: unknown) => this.ports.log(`run ${run.id} could not be saved: ${messageOf(thrown)}`))
      .finally(() => this.executions.delete(run.id))
    this.executions.set(run.id, { run, controller, done })
  }

  private async execute(run: RunRecord, how: Manner): Promise<void> {
    // The caller gets `queued` before anything happens.
    await new Promise((resolve) => setImmediate(resolve))
    const { grids, store, clock, log } = this.ports
    const load = new LoadRecorder(this.ports)
    const findings = { problems: [] as string[], losses: [] as string[] }
    const doubts: string[] = []
    const own = store.gridsOf(run).filter((grid) => isOwn(run, grid))
    let nodes: NodeEnd[] = []
    const reasons: Interruption[] = []
    let turn: Turn | undefined
    try {
      turn = await this.ports.queue.enter(
        {
          ...{ kind: 'run', id: run.id, user: run.user, isTakenUp: how.isTakenUp },
          grids: store.gridsOf(run).map((grid) => ({ spec: grid.spec, isOwn: isOwn(run, grid) }))
        },
        how.signal
      )
      const ready = await makeReady(this.ports, run, how)
      if (ready !== undefined) {
        const book = this.begun(run, ready)
        const watch = (node: LoadNode): LoadNode => load.watch(node)
        nodes = await runOnGrids(this.ports, { run, ...ready, book, signal: how.signal, watch })
        const judged = this.judgeNodes(run, ready, book)
        doubts.push(...judged.doubts)
        findings.losses.push(...judged.losses)
      }
    } catch (thrown) {
      if (thrown instanceof Interruption) reasons.push(thrown)
      else {
        findings.problems.push(messageOf(thrown))
        log(`run ${run.id} cannot continue: ${messageOf(thrown)}`)
      }
    }
    if (run.startedMs === null && how.signal.aborted) reasons.push(how.signal.reason as Interruption)
    for (const interruption of interruptionsOf(nodes, reasons))
      findings[interruption.isAllowed ? 'losses' : 'problems'].push(interruption.describe(run.startedMs))
    const endedMs = clock.now()
    await Promise.all(own.map((grid) => grids.terminate(grid, 'run ended')))
    await this.endings.conclude(run, { ...findings, doubts: [...load.judge(), ...doubts], nodes, endedMs })
    // Not before the results are safe: a service killed meanwhile can still get them from the nodes.
    await Promise.all(own.map((grid) => grids.closeNodes(grid)))
    turn?.leave()
  }

  /** The minutes of its grids begin, unless they have been going on. */
  private begun(run: RunRecord, { plan, grids }: ReadyRun): NodeBook {
    run.toolVersion = plan.version
    for (const { grid } of grids) if (isOwn(run, grid)) this.ports.grids.start(grid)
    run.startedMs ??= this.ports.clock.now()
    const book = new NodeBook(run, grids)
    this.move(run, 'running')
    return book
  }

  /** What people should know of the nodes as a whole. */
  private judgeNodes(
    run: RunRecord,
    { grids }: ReadyRun,
    book: NodeBook
  ): { doubts: string[]; losses: string[] } {
    const { spread } = book
    if (spread) this.ports.log(`run ${run.id}: ${spread.words}`)
    const told = spread?.effect ? [`${spread.words}; ${spread.effect.words}`] : []
    const doubts = grids.flatMap(({ set }) => set?.doubts() ?? [])
    return spread?.effect?.isLoss ? { doubts, losses: told } : { doubts: [...doubts, ...told], losses: [] }
  }

  private move(run: RunRecord, status: RunRecord['status']): void {
    run.status = status
    this.ports.store.saveRun(run)
  }
}

/** Each reason once. */
function interruptionsOf(nodes: readonly NodeEnd[], others: readonly Interruption[]): Interruption[] {
  return [...new Set([...nodes.flatMap(({ interruption }) => interruption ?? []), ...others])]
}
