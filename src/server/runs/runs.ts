import { constants } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { makeFolder } from '../../files/make-folder.js'
import type { Clock } from '../clock.js'
import type { PreparedPlan } from '../engines/engine.js'
import type { Engines } from '../engines/engines.js'
import { messageOf, RequestError } from '../errors.js'
import type { LoadNode } from '../nodes/load-node.js'
import { LoadRecorder } from '../nodes/machine/load-recorder.js'
import type { readLoad } from '../nodes/machine/load-sample.js'
import type { Grids } from './grids.js'
import { Interruption } from './interruption.js'
import {
  type FileRecord,
  hasEnded,
  type RunRecord,
  type RunRequest,
  type GridWish
} from '../store/records.js'
import { type NodeEnd, runOnGrids } from './run-on-grids.js'
import { RunEndings } from './run-endings.js'
import { createId, type Store } from '../store/store.js'

interface Execution {
  readonly controller: AbortController
  readonly done: Promise<void>
}

interface Ports {
  readonly store: Store
  readonly grids: Grids
  readonly engines: Engines
  readonly node: LoadNode
  readonly readLoad: typeof readLoad
  readonly clock: Clock
  readonly log: (line: string) => void
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
  }): Promise<RunRecord> {
    this.requireStarted(wish.grids)
    const id = createId()
    await this.inNewFolder(id, () => rename(wish.uploadDir, this.ports.store.uploadDir(id)))
    return this.begin({ id, ...wish })
  }

  /** Repeats the same plan, files and grids as a new run. */
  async repeat(previous: RunRecord): Promise<RunRecord> {
    if (!hasEnded(previous)) throw new RequestError(422, `run ${previous.id} is still ${previous.status}`)
    const grids = this.ports.store
      .gridsOf(previous)
      .map((grid): GridWish => (grid.batchId === previous.batchId ? { spec: grid.spec } : { uuid: grid.id }))
    this.requireStarted(grids)
    const id = createId()
    const { store } = this.ports
    await this.inNewFolder(id, async () => {
      await mkdir(store.uploadDir(id))
      for (const { name } of previous.files)
        await copyFile(
          store.uploadedFile(previous.id, name),
          store.uploadedFile(id, name),
          constants.COPYFILE_FICLONE
        )
    })
    const files = previous.files.map(({ name }) => ({ uuid: createId(), name }))
    return this.begin({ id, request: previous.request, grids, files })
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

  /** Finishes what a killed or closed service left undone. */
  async adoptLeftovers(): Promise<void> {
    for (const run of this.ports.store.allRuns()) {
      if (run.unmerged) await this.settle(run).catch((thrown: unknown) => this.ports.log(messageOf(thrown)))
      if (hasEnded(run)) continue
      await this.endings.conclude(run, {
        problems: ['The service ended during this run.'],
        losses: [],
        nodes: [],
        endedMs: undefined
      })
    }
    for (const grid of this.ports.store.allGrids()) {
      if (grid.status !== 'stopped') await this.ports.grids.terminate(grid)
    }
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
    for (const [id, { controller }] of executions) {
      log(`ending run ${id} because the service is closing; its results so far are kept`)
      const what = 'The service was closed during this run.'
      controller.abort(new Interruption({ what, atMs: clock.now() }))
    }
    await Promise.all(executions.map(([, { done }]) => done))
    callOff()
  }

  /** Removes a folder that could not be filled. */
  private async inNewFolder(id: string, fill: () => Promise<void>): Promise<void> {
    const folder = this.ports.store.runDir(id)
    try {
      makeFolder(folder)
      await fill()
    } catch (thrown) {
      await rm(folder, { recursive: true, force: true })
      throw thrown
    }
  }

  private requireStarted(wishes: readonly GridWish[]): void {
    const problems = wishes.flatMap((wish) => {
      if ('spec' in wish) return []
      const grid = this.ports.store.grid(wish.uuid)
      if (!grid) return [`there is no grid ${wish.uuid}`]
      return grid.status === 'started' ? [] : [`grid ${wish.uuid} is ${grid.status}, not started`]
    })
    if (problems.length > 0) throw new RequestError(422, problems.join('; '))
  }

  private begin(wish: {
    id: string
    request: RunRequest
    grids: readonly GridWish[]
    files: readonly FileRecord[]
  }): RunRecord {
    if (this.isClosing) throw new RequestError(503, 'the service is closing')
    const batchId = createId()
    const gridIds = wish.grids.map((grid) =>
      'uuid' in grid ? grid.uuid : this.ports.grids.createForRun(grid.spec, batchId).id
    )
    const run: RunRecord = {
      id: wish.id,
      batchId,
      request: wish.request,
      gridIds,
      files: wish.files,
      createdMs: this.ports.clock.now(),
      sequence: this.ports.store.nextSequence(),
      toolVersion: null,
      status: 'queued',
      apdex: null,
      samples: null,
      remoteErrors: null,
      startedMs: null,
      stoppedMs: null,
      report: null
    }
    this.ports.store.saveRun(run)
    const controller = new AbortController()
    const done = this.execute(run, controller.signal)
      .catch((thrown: unknown) => this.ports.log(`run ${run.id} could not be saved: ${messageOf(thrown)}`))
      .finally(() => this.executions.delete(run.id))
    this.executions.set(run.id, { controller, done })
    return run
  }

  private async execute(run: RunRecord, signal: AbortSignal): Promise<void> {
    // The caller gets `queued` before anything happens.
    await new Promise((resolve) => setImmediate(resolve))
    const grids = this.ports.store.gridsOf(run)
    const load = new LoadRecorder(this.ports)
    const findings = { problems: [] as string[], losses: [] as string[] }
    let nodes: NodeEnd[] = []
    try {
      const plan = await this.prepare(run, signal)
      if (plan !== undefined) {
        run.toolVersion = plan.version
        for (const grid of grids) if (grid.status === 'starting') this.ports.grids.start(grid)
        run.startedMs = this.ports.clock.now()
        this.move(run, 'running')
        const node = load.watch(this.ports.node)
        nodes = await runOnGrids({ ...this.ports, node }, { run, plan, grids, signal })
      }
    } catch (thrown) {
      findings.problems.push(messageOf(thrown))
      this.ports.log(`run ${run.id} cannot continue: ${messageOf(thrown)}`)
    }
    for (const interruption of interruptionsOf(nodes, run.startedMs === null ? signal : undefined))
      findings[interruption.isAllowed ? 'losses' : 'problems'].push(interruption.describe(run.startedMs))
    const endedMs = this.ports.clock.now()
    const own = grids.filter((grid) => grid.batchId === run.batchId)
    await Promise.all(own.map((grid) => this.ports.grids.terminate(grid, 'run ended')))
    await this.endings.conclude(run, { ...findings, doubts: load.judge(), nodes, endedMs })
  }

  /** Installs the tool and compiles the plan; undefined if the run was stopped meanwhile, which does not wait for it. */
  private async prepare(run: RunRecord, signal: AbortSignal): Promise<PreparedPlan | undefined> {
    const { store, engines } = this.ports
    const plan = engines.of(run.request.tool).prepare({
      ...run.request,
      fileNames: run.files.map(({ name }) => name),
      uploadDir: store.uploadDir(run.id),
      buildDir: store.buildDir(run.id),
      nodes: () => Promise.resolve([this.ports.node]),
      signal
    })
    const ready = await Promise.race([plan, aborted(signal)])
    return signal.aborted ? undefined : (ready ?? undefined)
  }

  private move(run: RunRecord, status: RunRecord['status']): void {
    run.status = status
    this.ports.store.saveRun(run)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Each reason once, and the run's own if no node was working yet. */
function interruptionsOf(nodes: readonly NodeEnd[], unstarted: AbortSignal | undefined): Interruption[] {
  const reasons = nodes.flatMap(({ interruption }) => interruption ?? [])
  if (unstarted?.aborted) reasons.push(unstarted.reason as Interruption)
  return [...new Set(reasons)]
}
