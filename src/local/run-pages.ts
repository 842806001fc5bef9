import { stat } from 'node:fs/promises'
import type { Measurements } from '../results/measurements.js'
import { scanFiles } from '../results/scan-files.js'
import { apdexTargetMs } from './apdex.js'
import type { Clock } from './clock.js'
import type { Desk } from './documents.js'
import { messageOf } from './errors.js'
import type { EventStream } from './event-stream.js'
import { SampleFollower } from './follow-samples.js'
import type { GridFacts, PageArtist, RenderedPage, RunLine, RunPagePaths, RunState } from './pages.js'
import { hasEnded, type RunRecord } from './records.js'
import { type Sight, Watch } from './watch.js'

/** Drawings of ended runs are kept, for their results may take seconds to read; a few, for they may be large. */
const KEPT_DRAWINGS = 8
const LIST_EVENTS = '/events'

interface Parts {
  readonly desk: Desk
  readonly clock: Clock
  readonly synthetic: boolean
  readonly log: (line: string) => void
  /** Loaded when the first page is asked for. */
  readonly loadArtist: () => Promise<PageArtist>
}

/** The service's web pages: the list of runs, and each run's own, live as long as it goes on. */
export class RunPages {
  readonly #runWatches = new Map<string, Watch>()
  readonly #listWatch: Watch
  readonly #drawings = new Map<string, Promise<object>>()

  constructor(private readonly parts: Parts) {
    const { clock } = parts
    const onEnd = (thrown: unknown): void => this.#complain('the list of runs', thrown)
    this.#listWatch = new Watch({ clock, look: () => this.#lookAtList(), onEnd })
  }

  async listPage(): Promise<RenderedPage> {
    return (await this.parts.loadArtist()).renderListPage(this.#lines(), LIST_EVENTS)
  }

  watchList(stream: EventStream): void {
    this.#listWatch.add(stream)
  }

  /** A run that goes on is shown without its figures, which come with the first event. */
  async runPage(run: RunRecord): Promise<RenderedPage> {
    const artist = await this.parts.loadArtist()
    const drawing = hasEnded(run)
      ? await this.#drawEnded(run)
      : artist.describeRun(await this.#stateOf(run, undefined))
    return artist.renderRunPage(drawing, this.#pathsOf(run))
  }

  watchRun(run: RunRecord, stream: EventStream): void {
    const watch = this.#runWatches.get(run.id) ?? this.#createRunWatch(run)
    this.#runWatches.set(run.id, watch)
    watch.add(stream)
  }

  close(): void {
    this.#listWatch.close()
    for (const watch of this.#runWatches.values()) watch.close()
  }

  #createRunWatch(run: RunRecord): Watch {
    const { clock, desk } = this.parts
    // Nobody may have been looking when they ended.
    for (const id of this.#runWatches.keys()) {
      const other = desk.store.run(id)
      if (other && hasEnded(other)) this.#runWatches.delete(id)
    }
    const follower = new SampleFollower(this.#filesOf(run))
    const onEnd = (thrown: unknown): void => {
      this.#runWatches.delete(run.id)
      this.#complain(`run ${run.id}`, thrown)
    }
    return new Watch({ clock, look: () => this.#lookAtRun(run, follower), onEnd })
  }

  async #lookAtRun(run: RunRecord, follower: SampleFollower): Promise<Sight> {
    const artist = await this.parts.loadArtist()
    if (hasEnded(run)) return { data: JSON.stringify(await this.#drawEnded(run)), isLast: true }
    const state = await this.#stateOf(run, await follower.look())
    return { data: JSON.stringify(artist.describeRun(state)), isLast: false }
  }

  async #lookAtList(): Promise<Sight> {
    const artist = await this.parts.loadArtist()
    return { data: JSON.stringify(artist.renderRunList(this.#lines())), isLast: false }
  }

  #drawEnded(run: RunRecord): Promise<object> {
    const known = this.#drawings.get(run.id)
    if (known) return known
    const drawing = this.#readEnded(run).catch((thrown: unknown) => {
      this.#drawings.delete(run.id)
      throw thrown
    })
    this.#drawings.set(run.id, drawing)
    const [oldest] = this.#drawings.keys()
    if (this.#drawings.size > KEPT_DRAWINGS && oldest !== undefined) this.#drawings.delete(oldest)
    return drawing
  }

  async #readEnded(run: RunRecord): Promise<object> {
    const { store } = this.parts.desk
    const files = []
    for (const { id, spec } of store.gridsOf(run)) {
      const path = store.resultFile(run.id, id)
      if ((await sizeOf(path)) !== undefined) files.push({ path, grid: id, region: spec.region })
    }
    const measurements = files.length === 0 ? undefined : await scanFiles(files)
    return (await this.parts.loadArtist()).describeRun(await this.#stateOf(run, measurements))
  }

  async #stateOf(run: RunRecord, measurements: Measurements | undefined): Promise<RunState> {
    const { request } = run
    return {
      id: run.id,
      name: request.name ?? undefined,
      status: run.status,
      tool: run.toolVersion === null ? request.tool : `${request.tool}-${run.toolVersion}`,
      threads: request.threads ?? undefined,
      durationSeconds: request.durationSec ?? undefined,
      startedMs: run.startedMs ?? undefined,
      stoppedMs: run.stoppedMs ?? undefined,
      nowMs: this.parts.clock.now(),
      apdexTargetMs: apdexTargetMs(request.properties),
      summary: run.report?.summary,
      problem: run.remoteErrors ?? undefined,
      rehearsal: run.report?.rehearsal ?? this.parts.synthetic,
      grids: hasEnded(run) ? await this.#gridsOf(run) : [],
      measurements
    }
  }

  async #gridsOf(run: RunRecord): Promise<GridFacts[]> {
    const { store } = this.parts.desk
    const facts = store.gridsOf(run).map(async ({ id, spec }) => ({
      gridId: id,
      region: spec.region,
      nodeCount: spec.instanceQuantity,
      bytes: await sizeOf(store.resultFile(run.id, id)),
      problem: undefined
    }))
    return Promise.all(facts)
  }

  #filesOf(run: RunRecord): { file: string; grid: string; region: string }[] {
    const { store } = this.parts.desk
    return store.gridsOf(run).flatMap(({ id, spec }) =>
      Array.from({ length: spec.instanceQuantity }, (_, index) => ({
        file: store.nodeFiles({ runId: run.id, gridId: id, index }).samplesFile,
        grid: id,
        region: spec.region
      }))
    )
  }

  #lines(): RunLine[] {
    return this.parts.desk.store.allRuns().map((run) => ({
      path: this.#pathOf(run),
      id: run.id,
      name: run.request.name ?? undefined,
      status: run.status,
      apdex: run.apdex ?? undefined,
      createdMs: run.createdMs,
      elapsedMs:
        run.startedMs === null ? undefined : (run.stoppedMs ?? this.parts.clock.now()) - run.startedMs,
      samples: run.samples ?? undefined,
      errorRate: run.report?.mean_error_rate == null ? undefined : run.report.mean_error_rate / 100,
      rehearsal: run.report?.rehearsal ?? this.parts.synthetic
    }))
  }

  #pathOf(run: RunRecord): string {
    return `/${this.parts.desk.words.runs}/${run.id}`
  }

  #pathsOf(run: RunRecord): RunPagePaths {
    const path = this.#pathOf(run)
    return { eventsPath: `${path}/events`, stopPath: `${path}/stop`, homePath: '/' }
  }

  #complain(what: string, thrown: unknown): void {
    if (thrown !== undefined) this.parts.log(`the page of ${what} cannot be shown: ${messageOf(thrown)}`)
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ size }) => size,
    () => undefined
  )
}
