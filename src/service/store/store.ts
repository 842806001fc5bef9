import {
  type GridRecord,
  type GridSpec,
  isSettled,
  type RunRecord,
  type RunStatus
} from '../../contract/records.js'
import { messageOf } from '../../contract/text.js'
import { seesGrid, seesRun, type Visibility } from './visibility.js'
import { createId, DataFolder, probeFolder } from './data-folder.js'

/** What a list of runs is limited to. Names of runs match by a part of them, everything else as a whole. */
export interface RunFilter {
  readonly name?: string
  readonly project?: string
  readonly tag?: string
  readonly user?: string
  readonly status?: RunStatus
}

/** The part of a list that a page shows. */
export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** For whom a list is: for somebody who sees everything, unless it says so. */
export interface SeenSlice extends Slice {
  readonly seenBy?: Visibility
}

export interface RunListRequest extends SeenSlice {
  readonly filter?: RunFilter
}

/** `upTo` is a run's `sequence`. */
export interface LikeRequest {
  readonly upTo?: number
  readonly limit: number
  readonly seenBy?: Visibility
}

export interface RunPage {
  readonly runs: readonly RunRecord[]
  readonly total: number
}

/** A name that runs have as their `project`. */
export interface Project {
  readonly name: string
  readonly runs: number
}

/** What there is of a run that somebody was given: it finds no other run. */
export type RunData = Pick<Store, 'folder' | 'gridsOf' | 'saveRun' | 'flush' | 'flushWhenFree' | 'hold'>

/** A grid of a run: to be created for it, or one that exists. */
export type GridWish = { readonly spec: GridSpec } | { readonly uuid: string }

const PROBE_BYTES = 20

/**
 * Runs and grids. A record that can still change (an unsettled run, its grids, an active grid) is the same object for everyone: it is
 * changed in place and then saved. This store is for a service that ends with its step: no later process could use what it wrote.
 */
export class Store {
  readonly folder: DataFolder
  /** Whether queued runs wait for an admin; undefined where nothing outlives the service. */
  readonly hold: { readonly why: string | undefined; release(): void } | undefined
  protected readonly runs = new Map<string, RunRecord>()
  protected readonly grids = new Map<string, GridRecord>()
  readonly #marker = createId()

  constructor(dataDir: string) {
    this.folder = new DataFolder(dataDir)
  }

  run(id: string): RunRecord | undefined {
    return this.runs.get(id)
  }

  grid(id: string): GridRecord | undefined {
    return this.grids.get(id)
  }

  gridsOf({ gridIds }: RunRecord): GridRecord[] {
    return gridIds.flatMap((id) => this.grid(id) ?? [])
  }

  /** Newest first: a run that was just created is on the first page. */
  listRuns({ filter = {}, seenBy = 'all', offset, limit }: RunListRequest): RunPage {
    const found = [...this.runs.values()]
      .reverse()
      .filter((run) => matchesFilter(run, filter) && seesRun(seenBy, run))
    return { runs: found.slice(offset, offset + limit), total: found.length }
  }

  /** Newest first. */
  listGrids({ seenBy = 'all', offset, limit }: SeenSlice): { grids: readonly GridRecord[]; total: number } {
    const grids = [...this.grids.values()].reverse().filter((grid) => seesGrid(seenBy, grid))
    return { grids: grids.slice(offset, offset + limit), total: grids.length }
  }

  /** By name. */
  listProjects({ seenBy = 'all', offset, limit }: SeenSlice): {
    projects: readonly Project[]
    total: number
  } {
    const counts = new Map<string, number>()
    const seen = [...this.runs.values()].filter((run) => seesRun(seenBy, run))
    for (const { request } of seen)
      if (request.project !== null) counts.set(request.project, (counts.get(request.project) ?? 0) + 1)
    const projects = [...counts].map(([name, runs]) => ({ name, runs }))
    projects.sort((one, other) => (one.name < other.name ? -1 : 1))
    return { projects: projects.slice(offset, offset + limit), total: projects.length }
  }

  /** Runs of the same project, or like this one without any, newest first; `upTo` that one, if it is given. */
  runsLike(
    { request }: RunRecord,
    { upTo = Infinity, limit, seenBy = 'all' }: LikeRequest
  ): readonly RunRecord[] {
    return [...this.runs.values()]
      .filter((run) => run.request.project === request.project && run.sequence <= upTo)
      .filter((run) => seesRun(seenBy, run))
      .sort((one, other) => other.sequence - one.sequence)
      .slice(0, limit)
  }

  /** Runs that have not ended, or whose results are not merged; oldest first. */
  unsettledRuns(): RunRecord[] {
    return [...this.runs.values()].filter((run) => !isSettled(run)).sort((a, b) => a.sequence - b.sequence)
  }

  activeGrids(): GridRecord[] {
    return [...this.grids.values()].filter(isActive)
  }

  nextSequence(): number {
    return this.runs.size + 1
  }

  /** Adds new records, all of them or none: what cannot be kept is an error. */
  create({ run, grids }: { run?: RunRecord; grids: readonly GridRecord[] }): void {
    for (const grid of grids) this.grids.set(grid.id, grid)
    if (run) this.runs.set(run.id, run)
  }

  /** The same, as soon as no other process is writing. What is created is made anew for each attempt: others may have been first. */
  createWhenFree<T extends { run?: RunRecord; grids: readonly GridRecord[] }>(make: () => T): Promise<T> {
    return Promise.resolve().then(() => this.add(make))
  }

  protected add<T extends { run?: RunRecord; grids: readonly GridRecord[] }>(make: () => T): T {
    const made = make()
    this.create(made)
    return made
  }

  /** A change has happened, whether it can be written or not: where it cannot, it is written as soon as possible. */
  saveRun(run: RunRecord): void {
    this.runs.set(run.id, run)
  }

  saveGrid(grid: GridRecord): void {
    this.grids.set(grid.id, grid)
  }

  /** Writes what could not be written before; throws if something is left. Called before a reply that claims a change. */
  flush(): void {
    return
  }

  /** The same, as soon as no other process is writing, or after this time. */
  flushWhenFree(withinMs?: number): Promise<void>
  flushWhenFree(): Promise<void> {
    return Promise.resolve()
  }

  /** Returns when a folder of a run would survive a power failure. Called before the run's record claims that it is there. */
  secure(folder: string): Promise<void>
  secure(): Promise<void> {
    return Promise.resolve()
  }

  /** Identifies what belongs to this data wherever it is, for as long as the data exists. */
  marker(): string {
    return this.#marker
  }

  /** Called before the start: a service without disk space must not start. */
  claim(): void {
    const { path } = this.folder
    try {
      probeFolder(path, PROBE_BYTES)
    } catch (thrown) {
      throw new Error(
        `the data folder ${path} cannot be written to (${messageOf(thrown)}); free up space, or choose another folder`,
        { cause: thrown }
      )
    }
  }

  close(): void {
    return
  }
}

/** Its turn has not come, as far as the record knows. */
export function isUnstarted({ status, startedMs }: RunRecord): boolean {
  return status === 'queued' && startedMs === null
}

export function isActive({ status }: GridRecord): boolean {
  return status !== 'stopped'
}

function matchesFilter({ request, status, user }: RunRecord, filter: RunFilter): boolean {
  const { name = '', project, tag, status: wanted } = filter
  return (
    (request.name ?? '').toLowerCase().includes(name.toLowerCase()) &&
    (project === undefined || request.project === project) &&
    (tag === undefined || request.tags.includes(tag)) &&
    (filter.user === undefined || user?.name === filter.user) &&
    (wanted === undefined || status === wanted)
  )
}
