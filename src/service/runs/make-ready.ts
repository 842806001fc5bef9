import type { PreparedPlan, Engines } from '../engines/engine.js'
import { type Clock, orAborted } from '../../contract/clock.js'
import { removeFolder } from '../../contract/files.js'
import type { LoadNode } from '../nodes/load-node.js'
import type { readLoad } from '../nodes/machine/load-sample.js'
import type { Grids } from './grids.js'
import type { RunGrid } from './node-book.js'
import type { GridRecord, RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'

export interface RunPorts {
  readonly store: Store
  readonly grids: Grids
  readonly engines: Engines
  readonly readLoad: typeof readLoad
  /** Why the creator of a run may not start it any more, in whole sentences; undefined if they may. */
  readonly whyNotStart: (run: RunRecord) => string | undefined
  /** Whether everyone who sees one run sees the other one too, so that it may be named there. */
  readonly isSeenAlike: (run: RunRecord, other: RunRecord | undefined) => boolean
  readonly clock: Clock
  readonly log: (line: string) => void
}

export interface RunControl {
  /** Its nodes may be at work already, started by an earlier service. */
  readonly isContinued: boolean
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
}

export interface ReadyRun {
  readonly plan: PreparedPlan
  readonly grids: readonly RunGrid[]
}

/** Starts the run's nodes while preparing its plan; a failure ends both. Undefined if stopped. The caller closes the nodes in any case. */
export async function makeReady(
  ports: RunPorts,
  run: RunRecord,
  how: RunControl
): Promise<ReadyRun | undefined> {
  const failed = new AbortController()
  const signal = AbortSignal.any([how.signal, failed.signal])
  try {
    const opening = Promise.all(
      ports.store.gridsOf(run).map((grid) => openGrid(ports, { run, grid, ...how, signal }))
    )
    const nodes = async (): Promise<LoadNode[]> => (await opening).flatMap(({ set }) => set?.nodes[0] ?? [])
    const both = Promise.all([prepare(ports, run, { nodes, signal, isContinued: how.isContinued }), opening])
    const [plan, grids] = await orAborted(both, how.signal)
    return { plan, grids }
  } catch (thrown) {
    if (how.signal.aborted) return undefined
    failed.abort(thrown)
    throw thrown
  }
}

/** Whether the grid was created with the run; others may have used it since. */
export function isOwn(run: RunRecord, grid: GridRecord): boolean {
  return grid.batchId === run.batchId
}

/** A grid that has ended needs no nodes: its part of the run is over. */
async function openGrid(
  { grids }: RunPorts,
  { run, grid, isContinued, signal }: RunControl & { run: RunRecord; grid: GridRecord }
): Promise<RunGrid> {
  if (grids.endSignal(grid).aborted) return { grid, set: undefined }
  return { grid, set: await grids.openNodes(grid, { run, isContinued }, signal) }
}

async function prepare(
  { store, engines }: RunPorts,
  run: RunRecord,
  { nodes, signal, isContinued }: RunControl & { nodes: () => Promise<readonly LoadNode[]> }
): Promise<PreparedPlan> {
  const buildDir = store.folder.buildDir(run.id)
  // An earlier service may have got this far. If its nodes are at work, they run what it built, and cannot build anything meanwhile.
  if (!isContinued) await removeFolder(buildDir)
  return engines.of(run.request.tool).prepare({
    ...run.request,
    fileNames: run.files.map(({ name }) => name),
    uploadDir: store.folder.uploadDir(run.id),
    buildDir,
    nodes,
    signal
  })
}
