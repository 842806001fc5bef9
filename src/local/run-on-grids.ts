import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Engine, NodeOutcome } from './engine.js'
import type { Grids } from './grids.js'
import type { GridRecord, RunRecord } from './records.js'
import { shareThreads } from './share-threads.js'
import type { Store } from './store.js'

interface Parts {
  readonly store: Store
  readonly grids: Grids
  readonly engine: Engine
  readonly log: (line: string) => void
}

interface NodeWork {
  readonly run: RunRecord
  readonly grid: GridRecord
  readonly index: number
  /** Among all nodes of the run. */
  readonly ordinal: number
  readonly threads: number | null
}

/** Runs the plan on every node of every grid, each until its own end, the grid's or the run's. */
export async function runOnGrids(
  parts: Parts,
  work: { run: RunRecord; grids: readonly GridRecord[]; signal: AbortSignal; endedEarly: string[] }
): Promise<NodeOutcome[]> {
  const { run, signal, endedEarly } = work
  const ofGrids = work.grids.map(async (grid, place) => {
    const before = work.grids.slice(0, place).reduce((sum, { spec }) => sum + spec.instanceQuantity, 0)
    const end = parts.grids.endSignal(grid)
    const either = AbortSignal.any([signal, end])
    const nodes = shareThreads(grid.spec, run.request.threads).map((threads, index) =>
      runNode(parts, { run, grid, index, ordinal: before + index, threads }, either)
    )
    const outcomes = await parts.grids.follow(grid, Promise.all(nodes))
    if (end.aborted && !signal.aborted) endedEarly.push(grid.id)
    return outcomes
  })
  // All of them come to their end before the first failure is told: nothing is left running behind it.
  const settled = await Promise.allSettled(ofGrids)
  for (const result of settled) if (result.status === 'rejected') throw result.reason
  return settled.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

async function runNode(parts: Parts, work: NodeWork, signal: AbortSignal): Promise<NodeOutcome> {
  const { run, grid, index, ordinal, threads } = work
  const nodeName = `${grid.spec.region} ${grid.id.slice(0, 6)} node ${index + 1}`
  if (threads === 0) {
    parts.log(`${nodeName}: no thread is left for it, so it stays idle`)
    return { problem: null }
  }
  const { workDir, samplesFile, logFile } = parts.store.nodeFiles({ runId: run.id, gridId: grid.id, index })
  await mkdir(dirname(logFile), { recursive: true })
  await placeFiles(parts.store, run, workDir)
  if (signal.aborted) return { problem: null }
  const { rampupSec, durationSec, hosts, properties } = run.request
  const planFile = join(workDir, run.files[0]?.name ?? '')
  return parts.engine.runNode(
    { planFile, samplesFile, logFile, ordinal, nodeName, threads, rampupSec, durationSec, hosts, properties },
    signal
  )
}

/**
 * Each node has a folder and files of its own: a plan may write to its data, and the upload, other nodes and repeats
 * must not see it. Where the file system can share blocks until then, the copies cost no space.
 */
async function placeFiles(store: Store, run: RunRecord, workDir: string): Promise<void> {
  await mkdir(workDir, { recursive: true })
  for (const { name } of run.files) {
    await copyFile(store.uploadedFile(run.id, name), join(workDir, name), constants.COPYFILE_FICLONE)
  }
}
