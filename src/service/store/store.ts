import type { ProcessGroup } from '../nodes/machine/processes.js'
import type { GridRecord, RunRecord, RunStatus, GridSpec } from '../../contract/records.js'
import type { DataFolder } from './data-folder.js'

/** What a list of runs is limited to. Names of runs match by a part of them, everything else as a whole. */
export interface RunFilter {
  readonly name?: string
  readonly project?: string
  readonly tag?: string
  readonly user?: string
  readonly status?: RunStatus
}

export interface RunListRequest {
  readonly filter?: RunFilter
  readonly offset: number
  readonly limit: number
}

export interface RunPage {
  readonly runs: readonly RunRecord[]
  /** Of all that match, on every page. */
  readonly total: number
}

/**
 * Runs and grids, and what has to be known of the processes working for them. A record that can still change (an unsettled run, its
 * grids, an active grid) is the same object for everyone who asks: it is changed in place, and then saved.
 */
export interface Store {
  readonly folder: DataFolder
  run(id: string): RunRecord | undefined
  grid(id: string): GridRecord | undefined
  gridsOf(run: RunRecord): GridRecord[]
  /** Newest first: a run that was just created is on the first page. */
  listRuns(request: RunListRequest): RunPage
  /** Those that have not ended, or whose results have yet to be merged; oldest first. */
  unsettledRuns(): RunRecord[]
  /** Those that have not stopped. */
  activeGrids(): GridRecord[]
  nextSequence(): number
  /** Adds new records, all of them or none: what cannot be kept is an error. */
  create(records: { run?: RunRecord; grids: readonly GridRecord[] }): void
  /** A change has happened, whether it can be written or not: where it cannot, it is written as soon as possible. */
  saveRun(run: RunRecord): void
  saveGrid(grid: GridRecord): void
  /** Writes what could not be written yet; throws if there is still something left. Before a reply that claims a change. */
  flush(): void
  /** Returns when a folder of a run would survive a power failure. Before the run's record claims that it is there. */
  secure(folder: string): Promise<void>
  saveProcess(group: ProcessGroup): void
  forgetProcess(pid: number): void
  /** The tools' process groups that were recorded and never seen to end. */
  leftoverProcesses(): ProcessGroup[]
  /** Identifies what belongs to this data wherever it is, for as long as the data exists. */
  marker(): string
  /** Two services with the same data would end each other's tools. */
  claim(): void
  close(): void
}

export function matchesFilter({ request, status, user }: RunRecord, filter: RunFilter): boolean {
  const { name = '', project, tag, status: wanted } = filter
  return (
    (request.name ?? '').toLowerCase().includes(name.toLowerCase()) &&
    (project === undefined || request.project === project) &&
    (tag === undefined || request.tags.includes(tag)) &&
    (filter.user === undefined || user?.name === filter.user) &&
    (wanted === undefined || status === wanted)
  )
}

/** A grid of a run: to be created for it, or one that exists. */
export type GridWish = { readonly spec: GridSpec } | { readonly uuid: string }
