import { stat } from 'node:fs/promises'
import type { Measurements } from '../../results/figures/measurements.js'
import { scanFiles } from '../../results/parallel/scan-files.js'
import { apdexTargetMs } from '../runs/apdex.js'
import { findNode } from '../runs/node-book.js'
import type { Clock } from '../clock.js'
import { describeTool, type ServiceFacts, PAGE_SIZE } from '../service-facts.js'
import { messageOf } from '../errors.js'
import type { EventStream } from './event-stream.js'
import { saysLoss } from '../runs/findings.js'
import { type FollowedFile, SampleFollower } from './follow-samples.js'
import type { GridFacts } from '../../report/outcome.js'
import type { PageDocument } from '../../report/page/document.js'
import type { PagePaths } from '../../report/page/page.js'
import type { RenderedPage, RunLine, RunListPage, RunState } from '../../report/page/served-pages.js'
import type { Pages } from './pages.js'
import { findRowSecrets } from '../runs/row-secrets.js'
import { hasEnded, type RunRecord } from '../store/records.js'
import { type Sight, Watch } from './watch.js'

/** Rendered pages of ended runs are cached, because their results may take seconds to read; only a few, because they may be large. */
const KEPT_DRAWINGS = 8
const HOME = '/'
const LIST_EVENTS = '/events'

interface Ports {
  readonly facts: ServiceFacts
  readonly clock: Clock
  readonly synthetic: boolean
  readonly log: (line: string) => void
  /** Loaded with the first request for a page. */
  readonly loadPages: () => Promise<Pages>
}

/** The service's web pages: the list of runs, and a page per run, live while it runs. */
export class RunPages {
  readonly #runWatches = new Map<string, Watch>()
  /** By page of the list. */
  readonly #listWatches = new Map<number, Watch>()
  readonly #drawings = new Map<string, Promise<PageDocument>>()

  constructor(private readonly ports: Ports) {}

  /** Of the list of runs; an empty list has one page too. */
  get pageCount(): number {
    return countPages(this.ports.facts.store.listRuns({ offset: 0, limit: 1 }).total)
  }

  async listPage(page: number): Promise<RenderedPage> {
    return (await this.ports.loadPages()).renderListPage(this.#listOf(page), pathOfPage(LIST_EVENTS, page))
  }

  watchList(page: number, stream: EventStream): void {
    const watch = this.#listWatches.get(page) ?? this.#createListWatch(page)
    this.#listWatches.set(page, watch)
    watch.add(stream)
  }

  /** A run in progress is shown without its figures; they come with the first event. */
  async runPage(run: RunRecord): Promise<RenderedPage> {
    const pages = await this.ports.loadPages()
    const drawing = hasEnded(run)
      ? await this.#drawEnded(run)
      : pages.describeRun(await this.#stateOf(run, undefined))
    return pages.renderRunPage(drawing, this.#pathsOf(run))
  }

  watchRun(run: RunRecord, stream: EventStream): void {
    const watch = this.#runWatches.get(run.id) ?? this.#createRunWatch(run)
    this.#runWatches.set(run.id, watch)
    watch.add(stream)
  }

  close(): void {
    for (const watch of [...this.#listWatches.values(), ...this.#runWatches.values()]) watch.close()
  }

  #createListWatch(page: number): Watch {
    for (const [other, watch] of this.#listWatches) if (!watch.isWatched) this.#listWatches.delete(other)
    const onEnd = (thrown: unknown): void => this.#complain('the list of runs', thrown)
    return new Watch({ clock: this.ports.clock, look: () => this.#lookAtList(page), onEnd })
  }

  #createRunWatch(run: RunRecord): Watch {
    const { clock, facts } = this.ports
    // They may have ended while nobody was watching.
    for (const id of this.#runWatches.keys()) {
      const other = facts.store.run(id)
      if (other && hasEnded(other)) this.#runWatches.delete(id)
    }
    const follower = findRowSecrets(run, facts.store).then(
      (secrets) => new SampleFollower(this.#filesOf(run), secrets)
    )
    const onEnd = (thrown: unknown): void => {
      this.#runWatches.delete(run.id)
      this.#complain(`run ${run.id}`, thrown)
    }
    return new Watch({ clock, look: () => this.#lookAtRun(run, follower), onEnd })
  }

  async #lookAtRun(run: RunRecord, follower: Promise<SampleFollower>): Promise<Sight> {
    const pages = await this.ports.loadPages()
    if (hasEnded(run)) return { data: JSON.stringify(await this.#drawEnded(run)), isLast: true }
    const state = await this.#stateOf(run, await (await follower).look())
    return { data: JSON.stringify(pages.describeRun(state)), isLast: false }
  }

  async #lookAtList(page: number): Promise<Sight> {
    const pages = await this.ports.loadPages()
    return { data: JSON.stringify(pages.renderRunList(this.#listOf(page))), isLast: false }
  }

  #drawEnded(run: RunRecord): Promise<PageDocument> {
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

  async #readEnded(run: RunRecord): Promise<PageDocument> {
    const { store } = this.ports.facts
    const files = []
    for (const { id, spec } of store.gridsOf(run)) {
      const path = store.folder.resultFile(run.id, id)
      if ((await sizeOf(path)) !== undefined) files.push({ path, grid: id, region: spec.region })
    }
    const measurements = files.length === 0 ? undefined : await scanFiles(files)
    return (await this.ports.loadPages()).describeRun(await this.#stateOf(run, measurements))
  }

  async #stateOf(run: RunRecord, measurements: Measurements | undefined): Promise<RunState> {
    const { request } = run
    return {
      id: run.id,
      name: request.name ?? undefined,
      status: run.status,
      tool: describeTool(run, this.ports.facts),
      threads: request.threads ?? undefined,
      durationSeconds: request.durationSec ?? undefined,
      startedMs: run.startedMs ?? undefined,
      stoppedMs: run.stoppedMs ?? undefined,
      nowMs: this.ports.clock.now(),
      apdexTargetMs: apdexTargetMs(request.properties),
      summary: run.report?.summary,
      problem: run.remoteErrors ?? undefined,
      warnings: run.warnings ?? [],
      rehearsal: run.report?.rehearsal ?? this.ports.synthetic,
      grids: hasEnded(run) ? await this.#gridsOf(run) : [],
      nodes: run.nodes,
      isAllHere: this.ports.facts.places.regions === undefined,
      measurements
    }
  }

  async #gridsOf(run: RunRecord): Promise<GridFacts[]> {
    const { store } = this.ports.facts
    const facts = store.gridsOf(run).map(async ({ id, spec }) => ({
      gridId: id,
      region: spec.region,
      nodeCount: spec.instanceQuantity,
      bytes: await sizeOf(store.folder.resultFile(run.id, id)),
      problem: undefined
    }))
    return Promise.all(facts)
  }

  #filesOf(run: RunRecord): FollowedFile[] {
    const { store } = this.ports.facts
    return store.gridsOf(run).flatMap(({ id, spec }) =>
      Array.from({ length: spec.instanceQuantity }, (_, index) => ({
        file: store.folder.nodeFiles({ runId: run.id, gridId: id, index }).samplesFile,
        grid: id,
        region: spec.region,
        offsetMs: () => findNode(run, id, index)?.clockOffsetMs ?? 0
      }))
    )
  }

  #listOf(page: number): RunListPage {
    const start = (page - 1) * PAGE_SIZE
    const { runs, total } = this.ports.facts.store.listRuns({ offset: start, limit: PAGE_SIZE })
    const last = countPages(total)
    return {
      runs: runs.map((run) => this.#lineOf(run)),
      first: start + 1,
      total,
      ...(page > 2 && { newestPath: pathOfPage(HOME, 1) }),
      ...(page > 1 && { newerPath: pathOfPage(HOME, page - 1) }),
      ...(page < last && { olderPath: pathOfPage(HOME, page + 1) }),
      ...(page < last - 1 && { oldestPath: pathOfPage(HOME, last) })
    }
  }

  #lineOf(run: RunRecord): RunLine {
    return {
      path: this.#pathOf(run),
      id: run.id,
      name: run.request.name ?? undefined,
      status: run.status,
      apdex: run.apdex ?? undefined,
      createdMs: run.createdMs,
      elapsedMs:
        run.startedMs === null ? undefined : (run.stoppedMs ?? this.ports.clock.now()) - run.startedMs,
      samples: run.samples ?? undefined,
      errorRate: run.report?.mean_error_rate == null ? undefined : run.report.mean_error_rate / 100,
      rehearsal: run.report?.rehearsal ?? this.ports.synthetic,
      problem: run.remoteErrors ?? undefined,
      isLoadLost: saysLoss(run.remoteErrors)
    }
  }

  #pathOf(run: RunRecord): string {
    return `/${this.ports.facts.words.runs}/${run.id}`
  }

  #pathsOf(run: RunRecord): Required<PagePaths> {
    const path = this.#pathOf(run)
    return { eventsPath: `${path}/events`, stopPath: `${path}/stop`, homePath: HOME }
  }

  #complain(what: string, thrown: unknown): void {
    if (thrown !== undefined) this.ports.log(`could not render the page of ${what}: ${messageOf(thrown)}`)
  }
}

function countPages(runs: number): number {
  return Math.max(1, Math.ceil(runs / PAGE_SIZE))
}

function pathOfPage(path: string, page: number): string {
  return page === 1 ? path : `${path}?page=${page}`
}

async function sizeOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ size }) => size,
    () => undefined
  )
}
