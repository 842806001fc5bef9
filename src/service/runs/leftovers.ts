import { messageOf } from '../../contract/text.js'
import { type GridRecord, hasEnded, type RunRecord } from '../../contract/records.js'
import { isOwn, type RunPorts } from './make-ready.js'
import type { RunEnd, RunEndings } from './run-endings.js'

interface Work {
  readonly endings: RunEndings
  readonly launch: (run: RunRecord, how: { isTakenUp: boolean }) => void
}

/** What becomes of a run that a service left behind. */
type Fate = 'wait' | 'take up' | 'end'

const ENDED_UNOBSERVED: RunEnd = {
  problems: ['The service ended during this run.'],
  losses: [],
  nodes: [],
  endedMs: undefined
}

/** Continues with runs and grids whose nodes outlived their service; runs that had not started wait again; all others end. Returns the ids of the grids in use. */
export async function adoptLeftovers(ports: RunPorts, { endings, launch }: Work): Promise<string[]> {
  const { store, grids, log } = ports
  const inUse = new Set<GridRecord>()
  const waitingGrids = adoptStandalone(ports, inUse)
  const waiting: RunRecord[] = []
  for (const run of store.unsettledRuns()) {
    if (run.unmerged) await endings.settle(run).catch((thrown: unknown) => log(messageOf(thrown)))
    if (hasEnded(run)) continue
    const fate = decideFate(ports, run)
    if (fate === 'end') await endings.conclude(run, ENDED_UNOBSERVED)
    else for (const grid of store.gridsOf(run)) inUse.add(grid)
    if (fate === 'wait') waiting.push(run)
    if (fate === 'take up') takeUp(ports, run, launch)
  }
  // After those that have their nodes already, in their order.
  const entries = [
    ...waitingGrids.map((grid) => ({ ...grid, enter: () => grids.takeUp(grid) })),
    ...waiting.map((run) => ({ ...run, enter: () => waitAgain(ports, run, launch) }))
  ]
  for (const { enter } of entries.sort((one, other) => one.createdMs - other.createdMs)) enter()
  const left = store.activeGrids().filter((grid) => !inUse.has(grid))
  for (const grid of left) await grids.terminate(grid)
  return [...inUse].filter(({ status }) => status !== 'stopped').map(({ id }) => id)
}

/** A run whose tools may have been started is never started again. */
function decideFate({ store, grids }: RunPorts, run: RunRecord): Fate {
  const all = store.gridsOf(run)
  if (run.status === 'stopping' || all.length !== run.gridIds.length) return 'end'
  const own = all.filter((grid) => isOwn(run, grid))
  const isUnstarted = run.status === 'queued' && run.startedMs === null && run.goMs === undefined
  // Pods that are on their way are its own: it goes on with them.
  const hasPods = own.some((grid) => grid.status !== 'queued' && grids.outlives(grid))
  if (isUnstarted && !hasPods) return 'wait'
  return all.every((grid) => grids.outlives(grid)) ? 'take up' : 'end'
}

function takeUp({ store, grids, log }: RunPorts, run: RunRecord, launch: Work['launch']): void {
  log(`continuing with run ${run.id}, which a service that ended left behind`)
  for (const grid of store.gridsOf(run)) grids.revive(grid)
  launch(run, { isTakenUp: true })
}

/** A standalone grid on this machine goes on for it: it has no nodes that could have been lost. */
function waitAgain({ store, grids, log }: RunPorts, run: RunRecord, launch: Work['launch']): void {
  log(`run ${run.id} waits again: it had not started when the service ended`)
  for (const grid of store.gridsOf(run)) {
    if (isOwn(run, grid)) grids.postpone(grid)
    else if (grid.status !== 'stopped' && !grids.outlives(grid) && !grids.nodesOf(grid)) grids.takeUp(grid)
  }
  launch(run, { isTakenUp: false })
}

/** Standalone grids whose nodes outlive the service go on. Returns those that wait for their nodes. */
function adoptStandalone({ store, grids }: RunPorts, inUse: Set<GridRecord>): GridRecord[] {
  const outliving = store.activeGrids().filter((grid) => grid.batchId === null && grids.outlives(grid))
  for (const grid of outliving) {
    inUse.add(grid)
    if (grid.status !== 'queued') grids.takeUp(grid)
  }
  return outliving.filter(({ status }) => status === 'queued')
}
