import { clauseOf } from '../../../errors.js'
import type { Cluster } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import { eventsOf, type GridView, type PodDocument, viewGrid } from './pod-view.js'
import { isReady, lastWarningOf, lossOf, machineOf, quoted, type PodProblem } from './pod-words.js'
import { pauseFor, type PodsToStart, type StartedPods } from './start-pods.js'
import { capitalize } from '../../../../contract/text.js'

/** Often enough to see a pod that is being deleted before it is gone. */
const EVERY_MS = 2000
/** A kubelet that restarts is back earlier. */
const SILENT_MACHINE_MS = 60_000

/** Only these pods count: another one of the same node is a replacement, which nobody uses. */
export type PodsToWatch = StartedPods & Pick<PodsToStart, 'cluster' | 'selector' | 'region' | 'clock' | 'log'>

export type PodWatch = ReturnType<typeof watchPods>

interface Watched {
  readonly index: number
  pod: PodDocument | undefined
  /** Since when it is not ready, by this machine's clock. */
  unreadyMs: number | undefined
  readonly lost: AbortController
}

export function watchPods(parts: PodsToWatch) {
  const { clock, cluster } = parts
  const watched = parts.pods.map((pod, index): Watched => {
    return { index, pod, unreadyMs: undefined, lost: new AbortController() }
  })
  const ending = new AbortController()
  const everyMs = pauseFor(parts.pods.length, EVERY_MS)
  let isAway = false
  let callOff = (): void => undefined

  const lose = (one: Watched, problem: PodProblem): void => one.lost.abort(lossError(parts, one, problem))
  for (const one of watched) {
    const loss = lossOf(one.pod, parts.view.job)
    if (loss !== undefined) lose(one, loss)
  }
  const judge = async (view: GridView): Promise<void> => {
    for (const one of watched) {
      if (one.lost.signal.aborted) continue
      const pod = view.pods.find(({ metadata }) => metadata.uid === one.pod?.metadata.uid)
      const loss = lossOf(pod, view.job, one.pod)
      one.pod = pod ?? one.pod
      if (loss !== undefined) lose(one, await explained(cluster, loss, one.pod, ending.signal))
      else if (pod === undefined || isReady(pod)) one.unreadyMs = undefined
      else if (clock.now() - (one.unreadyMs ??= clock.now()) >= SILENT_MACHINE_MS)
        lose(one, await silence(cluster, pod, ending.signal))
    }
  }
  const lookNow = oneAtATime(async () => {
    try {
      const view = await viewGrid(cluster, parts.selector, ending.signal)
      if (isAway) parts.log(`${capitalize(cluster.name)} answers again.`)
      isAway = false
      await judge(view)
    } catch (error) {
      if (ending.signal.aborted) return
      // The load continues without the API; the readers of its results notice if nothing arrives for too long.
      if (!isAway)
        parts.log(
          `The pods in ${cluster.name} could not be listed: ${clauseOf(error)}. The load continues; trying again.`
        )
      isAway = true
    }
  })
  const schedule = (): void => {
    if (!ending.signal.aborted) callOff = clock.after(everyMs, () => void lookNow().then(schedule))
  }
  schedule()

  return {
    /** How the pod was last seen; undefined for one that was gone from the beginning. */
    podOf: (index: number) => watched[index]?.pod,
    /** Aborted with a `NodeError` when the pod is lost. */
    lostOf: (index: number) => watched[index]?.lost.signal ?? ending.signal,
    /** Asks the cluster now; undefined if the pod is not lost, or the cluster does not answer. */
    whyLost: async (index: number) => {
      const signal = watched[index]?.lost.signal
      if (signal?.aborted === false) await lookNow()
      return signal?.aborted ? (signal.reason as NodeError) : undefined
    },
    stop: () => {
      ending.abort()
      callOff()
    }
  }
}

/** Runs the act. Callers that come while it runs share the next one, which sees everything that happened before. */
function oneAtATime(act: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    if (running !== undefined)
      return (next ??= running.then(() => {
        next = undefined
        return start()
      }))
    running = act().finally(() => (running = undefined))
    return running
  }
  return start
}

/** A pod that vanishes between two checks leaves nothing but its events. */
async function explained(
  cluster: Cluster,
  loss: PodProblem,
  pod: PodDocument | undefined,
  signal: AbortSignal
) {
  if (loss.reason !== 'Deleted' || pod === undefined) return loss
  const { reason, message } = (await eventsOf(cluster, pod.metadata, signal)).at(-1) ?? {}
  if (reason === undefined) return loss
  return { ...loss, words: `${loss.words}; its last event is ${quoted(reason, message)}` }
}

/** The pod's phase does not change when its machine is lost; the cluster only stops calling it ready. */
async function silence(cluster: Cluster, pod: PodDocument, signal: AbortSignal): Promise<PodProblem> {
  const warning = lastWarningOf(await eventsOf(cluster, pod.metadata, signal))
  return {
    reason: 'NotReady',
    words: `its machine is silent: the pod has not been ready for ${SILENT_MACHINE_MS / 1000} s (${quoted('NodeNotReady', warning)})`,
    advice: `See what happened to the machine ${machineOf(pod)}.`
  }
}

/** The message of every loss: which node, where it ran, the cluster's words, what to do. */
function lossError({ region, pods }: PodsToWatch, { index, pod }: Watched, problem: PodProblem): NodeError {
  const where = pod === undefined ? '' : ` (pod ${pod.metadata.name} on the machine ${machineOf(pod)})`
  return new NodeError(
    `Node ${index + 1} of ${pods.length} of the grid in ${region}${where} was lost: ${problem.words}. ${problem.advice}`
  )
}
