import { constants } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from './clock.js'
import type { Engine, NodeOutcome } from './engine.js'
import { messageOf, RequestError } from './errors.js'
import type { Grids } from './grids.js'
import { type FileRecord, type GridRecord, hasEnded, type RunRecord, type RunRequest } from './records.js'
import { runOnGrids } from './run-on-grids.js'
import { describeEnd } from './run-report.js'
import { createId, type Store } from './store.js'
import type { GridWish } from './validation.js'

interface Execution {
  readonly controller: AbortController
  readonly done: Promise<void>
}

interface Parts {
  readonly store: Store
  readonly grids: Grids
  readonly engine: Engine
  readonly clock: Clock
  readonly log: (line: string) => void
}

/** Runs and their life: `queued → running → finished`, or `problem` when the tool could not run the plan. */
export class Runs {
  private readonly executions = new Map<string, Execution>()
  private isClosing = false

  constructor(private readonly parts: Parts) {}

  /** Takes over the uploaded files and starts the run. */
  async create(wish: {
    request: RunRequest
    grids: readonly GridWish[]
    files: readonly FileRecord[]
    uploadDir: string
  }): Promise<RunRecord> {
    this.requireStarted(wish.grids)
    const id = createId()
    await mkdir(this.parts.store.runDir(id), { recursive: true })
    await rename(wish.uploadDir, join(this.parts.store.runDir(id), 'files'))
    return this.begin({ id, ...wish })
  }

  /** The same plan, files and grids once more, as a new run. */
  async repeat(previous: RunRecord): Promise<RunRecord> {
    if (!hasEnded(previous)) throw new RequestError(422, `run ${previous.id} is still ${previous.status}`)
    const grids = this.parts.store
      .gridsOf(previous)
      .map((grid): GridWish => (grid.batchId === previous.batchId ? { spec: grid.spec } : { uuid: grid.id }))
    this.requireStarted(grids)
    const id = createId()
    await mkdir(join(this.parts.store.runDir(id), 'files'), { recursive: true })
    for (const { name } of previous.files) {
      await copyFile(
        this.parts.store.uploadedFile(previous.id, name),
        this.parts.store.uploadedFile(id, name),
        constants.COPYFILE_FICLONE
      )
    }
    const files = previous.files.map(({ name }) => ({ uuid: createId(), name }))
    return this.begin({ id, request: previous.request, grids, files })
  }

  /** Ends the run's processes and comes back when its results are there. */
  async stop(run: RunRecord): Promise<void> {
    const execution = this.executions.get(run.id)
    if (!execution) return
    if (!hasEnded(run)) this.move(run, 'stopping')
    execution.controller.abort()
    await execution.done
  }

  /** What a killed service left under way did not come to an end of its own. */
  async adoptLeftovers(): Promise<void> {
    for (const run of this.parts.store.allRuns().filter((run) => !hasEnded(run))) {
      await this.conclude(run, {
        problem: 'The service ended while this run was under way.',
        outcomes: [],
        endedEarly: []
      })
    }
    for (const grid of this.parts.store.allGrids()) {
      if (grid.status !== 'stopped') await this.parts.grids.terminate(grid)
    }
  }

  /** Ends all runs, quickly: there is no time to collect results when a job is cancelled. */
  async close(): Promise<void> {
    this.isClosing = true
    const executions = [...this.executions.values()]
    for (const { controller } of executions) controller.abort()
    await Promise.all(executions.map(({ done }) => done))
  }

  private requireStarted(wishes: readonly GridWish[]): void {
    const problems = wishes.flatMap((wish) => {
      if ('spec' in wish) return []
      const grid = this.parts.store.grid(wish.uuid)
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
      'uuid' in grid ? grid.uuid : this.parts.grids.createForRun(grid.spec, batchId).id
    )
    const run: RunRecord = {
      id: wish.id,
      batchId,
      request: wish.request,
      gridIds,
      files: wish.files,
      createdMs: this.parts.clock.now(),
      sequence: this.parts.store.nextSequence(),
      toolVersion: null,
      status: 'queued',
      apdex: null,
      samples: null,
      remoteErrors: null,
      startedMs: null,
      stoppedMs: null,
      report: null
    }
    this.parts.store.saveRun(run)
    const controller = new AbortController()
    const done = this.execute(run, controller.signal)
      .catch((thrown: unknown) => this.parts.log(`run ${run.id} cannot be kept: ${messageOf(thrown)}`))
      .finally(() => this.executions.delete(run.id))
    this.executions.set(run.id, { controller, done })
    return run
  }

  private async execute(run: RunRecord, signal: AbortSignal): Promise<void> {
    // The caller is answered `queued` before anything happens.
    await new Promise((resolve) => setImmediate(resolve))
    const grids = this.parts.store.gridsOf(run)
    const endedEarly: string[] = []
    let outcomes: NodeOutcome[] = []
    let problem: string | null = null
    try {
      await this.startGrids(run, grids, signal)
      if (!signal.aborted) {
        run.startedMs = this.parts.clock.now()
        this.move(run, 'running')
        outcomes = await runOnGrids(this.parts, { run, grids, signal, endedEarly })
      }
    } catch (thrown) {
      problem = messageOf(thrown)
      this.parts.log(`run ${run.id} cannot go on: ${problem}`)
    }
    if (this.isClosing) problem = 'The service was closed while this run was under way.'
    const own = grids.filter((grid) => grid.batchId === run.batchId)
    await Promise.all(own.map((grid) => this.parts.grids.terminate(grid)))
    await this.conclude(run, { outcomes, problem, endedEarly })
  }

  private async startGrids(run: RunRecord, grids: readonly GridRecord[], signal: AbortSignal): Promise<void> {
    const ready = this.parts.engine.prepare().then(async (version) => {
      run.toolVersion = version
      await Promise.all(
        grids.filter((grid) => grid.status === 'starting').map((grid) => this.parts.grids.start(grid))
      )
    })
    // A stop does not wait for an installation.
    await Promise.race([ready, aborted(signal)])
  }

  /** Everything is in its place before the status says that the run is over: who sees `finished` can have it all. */
  private async conclude(
    run: RunRecord,
    end: { outcomes: readonly NodeOutcome[]; problem: string | null; endedEarly: readonly string[] }
  ): Promise<void> {
    const { store, engine, clock } = this.parts
    run.stoppedMs = clock.now()
    const spans = end.outcomes.flatMap((outcome) => outcome.span ?? [])
    if (spans.length > 0) {
      run.startedMs = Math.min(...spans.map((span) => span.startMs))
      run.stoppedMs = Math.max(...spans.map((span) => span.endMs))
    }
    const said = end.outcomes.flatMap((outcome) => outcome.problem ?? [])
    const problems = [...new Set([...(end.problem ? [end.problem] : []), ...said])]
    let endedBadly = problems.length > 0
    const losses = new Set(end.outcomes.flatMap((outcome) => outcome.losses ?? []))
    run.remoteErrors = [...problems, ...[...losses].map((loss) => `load lost: ${loss}`)].join('\n') || null
    try {
      const grids = this.isClosing ? [] : store.gridsOf(run)
      const { endedEarly } = end
      Object.assign(run, await describeEnd(run, { store, grids, endedEarly, synthetic: engine.synthetic }))
    } catch (thrown) {
      endedBadly = true
      run.remoteErrors =
        `${run.remoteErrors ?? ''}\nThe results could not be read: ${messageOf(thrown)}`.trim()
    }
    await rm(store.nodesDir(run.id), { recursive: true, force: true })
    this.move(run, endedBadly ? 'problem' : 'finished')
  }

  private move(run: RunRecord, status: RunRecord['status']): void {
    run.status = status
    this.parts.store.saveRun(run)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
