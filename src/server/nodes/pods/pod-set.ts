import type { NodeFacts, NodeSet } from '../load-node.js'
import type { PodDocument } from './start/documents.js'
import { letGo } from './start/let-go.js'
import { createPodNode } from './pod-node.js'
import { watchPods } from './start/pod-watch.js'
import { limitOf } from './start/pod-words.js'
import { parseQuantity } from './start/quantities.js'
import { removeJobs } from './start/remove-jobs.js'
import type { PodsToStart, StartedPods } from './start/start-pods.js'
import { machineOf } from './start/start-words.js'

export interface PodSetParts extends PodsToStart, StartedPods {
  readonly jobName: string
  readonly onLeft: (words: string) => void
}

/** The pods of a grid as its nodes, watched until they are given back. */
export function createPodSet(parts: PodSetParts): NodeSet {
  const { cluster, clock, image, log } = parts
  const watch = watchPods(parts)
  const found = new Map<object, Promise<unknown>>()
  const nodes = parts.pods.map((pod, index) =>
    createPodNode({
      cluster,
      pod: pod?.metadata.name ?? `${parts.jobName}-${index}`,
      nodeName: pod === undefined ? 'unknown' : machineOf(pod),
      image,
      memoryBytes: pod && quantityOf(pod, 'memory'),
      lost: watch.lostOf(index),
      whyLost: () => watch.whyLost(index),
      found,
      clock,
      log
    })
  )
  let closing: Promise<void> | undefined
  return {
    nodes,
    factsOf: (index) => {
      const pod = watch.podOf(index)
      return { ...podFacts(pod, cluster.name), ...nodes[index]?.facts() } as NodeFacts
    },
    doubts: () => nodes.flatMap((node) => node.doubts()),
    close: () => {
      watch.stop()
      return (closing ??= giveBack(parts))
    }
  }
}

/** Deleting them ends them; who may not do that can still tell them to end. */
async function giveBack(parts: PodSetParts): Promise<void> {
  if (await removeJobs({ ...parts, isUnclear: false })) return
  const names = parts.pods.flatMap((pod) => pod?.metadata.name ?? [])
  await letGo(parts.cluster, names, parts.clock)
}

function podFacts(
  pod: PodDocument | undefined,
  place: string
): Pick<NodeFacts, 'name' | 'place' | 'cpuLimit' | 'restarts'> {
  if (pod === undefined) return { place: `a pod that is gone (${place})`, cpuLimit: null, restarts: null }
  const restarts = pod.status?.containerStatuses?.map(({ restartCount = 0 }) => restartCount) ?? []
  return {
    name: pod.metadata.name,
    place: `pod ${pod.metadata.name} on the machine ${machineOf(pod)} (${place})`,
    cpuLimit: quantityOf(pod, 'cpu') ?? null,
    restarts: restarts.reduce((sum, count) => sum + count, 0)
  }
}

function quantityOf(pod: PodDocument, resource: 'cpu' | 'memory'): number | undefined {
  const limit = limitOf(pod, resource)
  return limit === undefined ? undefined : parseQuantity(limit)
}
