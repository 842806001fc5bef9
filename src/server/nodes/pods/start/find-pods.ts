import { clauseOf } from '../../../errors.js'
import { NodeError } from '../../load-node.js'
import type { PodDocument } from './documents.js'
import { pause } from '../pause.js'
import { viewGrid, type GridView } from './pod-view.js'
import { podsOf, type PodsToStart, type StartedPods } from './start-pods.js'

const RETRY_EVERY_MS = 2000
/** How often a node failed before this pod was created: whatever this one is, it is not the first. */
const FAILURE_COUNTS = [
  'batch.kubernetes.io/job-index-failure-count',
  'batch.kubernetes.io/job-index-ignored-failure-count'
]

/** A grid's pods that another process started, in the order of their nodes; undefined for those that are gone. */
export async function findPods(parts: PodsToStart, signal: AbortSignal): Promise<StartedPods> {
  const view = await viewInTime(parts, signal)
  const pods = podsOf(view, parts.quantity).map((pod) => (pod && !isReplacement(pod) ? pod : undefined))
  if (view.job === undefined && pods.every((pod) => pod === undefined))
    throw new NodeError(
      `The pods of the grid in ${parts.region} are gone: there is no Job of it in ${parts.cluster.name} any more. What they had measured since they were last seen is lost.`
    )
  return { view, pods }
}

async function viewInTime(parts: PodsToStart, signal: AbortSignal): Promise<GridView> {
  for (;;) {
    try {
      return await viewGrid(parts.cluster, parts.selector, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (parts.clock.now() >= parts.deadlineMs)
        throw new NodeError(
          `The pods of the grid in ${parts.region} cannot be found again: ${clauseOf(error)}.`,
          { cause: error }
        )
    }
    await pause(parts.clock, RETRY_EVERY_MS, signal)
  }
}

function isReplacement(pod: PodDocument): boolean {
  return FAILURE_COUNTS.some((name) => Number(pod.metadata.annotations?.[name] ?? '0') > 0)
}
