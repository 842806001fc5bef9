import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import type { NodeOutcome, PreparedPlan } from '../engines/engine.js'
import { messageOf } from '../errors.js'
import type { LoadNode } from '../nodes/load-node.js'
import type { Grids } from './grids.js'
import type { Interruption } from './interruption.js'
import type { GridRecord, RunRecord } from '../store/records.js'
import { shareThreads } from './share-threads.js'
import type { Store } from '../store/store.js'

interface Ports {
  readonly store: Store
  readonly grids: Grids
  readonly node: LoadNode
  readonly log: (line: string) => void
}

interface NodeWork {
  readonly run: RunRecord
  readonly plan: PreparedPlan
  readonly grid: GridRecord
  /** Among the grids of the run. */
  readonly gridIndex: number
  readonly index: number
  /** Among all nodes of the run. */
  readonly ordinal: number
  readonly threads: number | null
}

/** How one node's part of the run ended. */
export interface NodeEnd {
  readonly grid: GridRecord
  readonly index: number
  /** There was no thread left for it. */
  readonly isIdle: boolean
  readonly outcome: NodeOutcome
  /** Set if the work was cut short. */
  readonly interruption: Interruption | undefined
}

/** Runs the plan on every node of every grid until the node, the grid or the run ends. Returns when all have ended. */
export async function runOnGrids(
  ports: Ports,
  work: { run: RunRecord; plan: PreparedPlan; grids: readonly GridRecord[]; signal: AbortSignal }
): Promise<NodeEnd[]> {
  const { run, plan, signal } = work
  const ofGrids = work.grids.map((grid, gridIndex) => {
    const before = work.grids.slice(0, gridIndex).reduce((sum, { spec }) => sum + spec.instanceQuantity, 0)
    // The reason is that of the first signal to abort.
    const either = AbortSignal.any([signal, ports.grids.endSignal(grid)])
    const nodes = shareThreads(grid.spec, run.request.threads).map((threads, index) =>
      endNode(ports, { run, plan, grid, gridIndex, index, ordinal: before + index, threads }, either)
    )
    return ports.grids.follow(grid, Promise.all(nodes))
  })
  return (await Promise.all(ofGrids)).flat()
}

/** An exception is this node's problem; the others continue, and nothing is left running. */
async function endNode(ports: Ports, work: NodeWork, signal: AbortSignal): Promise<NodeEnd> {
  const { run, grid, index, threads } = work
  let outcome: NodeOutcome
  try {
    outcome = await runNode(ports, work, signal)
  } catch (thrown) {
    outcome = { problem: thrown === signal.reason ? null : messageOf(thrown) }
    if (outcome.problem !== null) ports.log(`run ${run.id} cannot continue: ${outcome.problem}`)
  }
  const interruption = signal.aborted ? (signal.reason as Interruption) : undefined
  return { grid, index, isIdle: threads === 0, outcome, interruption }
}

async function runNode(ports: Ports, work: NodeWork, signal: AbortSignal): Promise<NodeOutcome> {
  const { run, grid, index, threads } = work
  const nodeName = `${grid.spec.region} ${grid.id.slice(0, 6)} node ${index + 1}`
  if (threads === 0) {
    ports.log(`${nodeName}: no threads left for it, so it stays idle`)
    return { problem: null }
  }
  const { workDir, samplesFile, logFile } = ports.store.nodeFiles({ runId: run.id, gridId: grid.id, index })
  makeFolder(dirname(logFile))
  await placeFiles(ports.store, run, workDir)
  if (signal.aborted) return { problem: null }
  const { rampupSec, durationSec, hosts, properties } = run.request
  const planFile = join(workDir, run.files[0]?.name ?? '')
  return work.plan.runNode(
    {
      node: ports.node,
      place: { region: grid.spec.region, gridIndex: work.gridIndex, nodeIndex: index, ordinal: work.ordinal },
      ...{ planFile, samplesFile, logFile, nodeName, mark: randomBytes(12).toString('hex') },
      ...{ threads, rampupSec, durationSec, hosts, properties }
    },
    signal
  )
}

/**
 * Each node has its own folder and files: a plan may write to its data, and the upload, other nodes and repeats must not
 * see that. On file systems with copy-on-write the copies take no space until then.
 */
async function placeFiles(store: Store, run: RunRecord, workDir: string): Promise<void> {
  makeFolder(workDir)
  for (const { name } of run.files) {
    await copyFile(store.uploadedFile(run.id, name), join(workDir, name), constants.COPYFILE_FICLONE)
  }
}
