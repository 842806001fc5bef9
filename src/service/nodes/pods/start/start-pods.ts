import { clauseOf } from '../../../errors.js'
import type { KubernetesPlace } from '../../../../contract/regions/regions.js'
import type { Clock } from '../../../../contract/clock.js'
import type { Cluster } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import {
  eventsOf,
  type GridView,
  indexOf,
  type JobDocument,
  ownPods,
  type PodDocument,
  viewGrid
} from './pod-view.js'
import { capitalize } from '../../../../contract/text.js'
import { deletionOf, startProblemOf, type StartProblem } from './pod-words.js'

/** Long enough for a service account or a secret of a new namespace to appear. */
const RARELY_HEALS_MS = 5000
/** After this time, people want to know what it is waiting for. */
const SAY_AFTER_MS = 10_000
const EVERY_MS = 500
const LATER_EVERY_MS = 2000
/** Pods that wait usually wait for the same thing. */
const PODS_TO_EXPLAIN = 3

export interface PodsToStart {
  readonly cluster: Cluster
  readonly selector: string
  readonly quantity: number
  readonly region: string
  readonly place: KubernetesPlace
  readonly image: string
  readonly clock: Clock
  readonly deadlineMs: number
  readonly log: (line: string) => void
}

/** The pods of a grid in the order of its nodes, undefined for those that are gone, and how the cluster showed them. */
export interface StartedPods {
  readonly view: GridView
  readonly pods: readonly (PodDocument | undefined)[]
}

interface Waiting extends StartProblem {
  readonly index: number
}

/** Waits until all pods of a grid run. A `NodeError` says why they do not. */
export async function waitForPods(parts: PodsToStart, signal: AbortSignal): Promise<StartedPods> {
  const { clock, deadlineMs, quantity } = parts
  const startMs = clock.now()
  const since = new Map<string, number>()
  const seen: Seen = new Map()
  const say = sayOnce(parts, startMs)
  let unreachable: unknown
  for (;;) {
    const view = await viewGrid(parts.cluster, parts.selector, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      unreachable = error
      return undefined
    })
    const nowMs = clock.now()
    let waiting: readonly Waiting[] = []
    if (view !== undefined) {
      unreachable = undefined
      waiting = await problemsOf(parts, view, seen, signal)
      if (waiting.length === 0) return { view, pods: podsOf(view, quantity) }
      const hopeless = waiting.filter((problem) => isHopeless(problem, since, nowMs))
      if (hopeless.length > 0) throw notStarted(parts, hopeless, undefined)
    }
    say(waiting, unreachable)
    if (nowMs >= deadlineMs) throw notStarted(parts, waiting, unreachable)
    const everyMs = pauseFor(quantity, nowMs - startMs < SAY_AFTER_MS ? EVERY_MS : LATER_EVERY_MS)
    await clock.sleep(Math.min(everyMs, deadlineMs - nowMs), signal)
  }
}

/** Large grids are listed less often, because each pod costs the cluster and this process something. */
export function pauseFor(quantity: number, leastMs: number): number {
  return Math.max(leastMs, quantity * 5)
}

/** A grid's pods in the order of its nodes. */
export function podsOf(view: GridView, quantity: number): (PodDocument | undefined)[] {
  const byIndex = new Map<number, PodDocument>()
  for (const pod of ownPods(view)) {
    const isDeleted = pod.metadata.deletionTimestamp !== undefined
    if (!isDeleted || !byIndex.has(indexOf(pod))) byIndex.set(indexOf(pod), pod)
  }
  return Array.from({ length: quantity }, (_, index) => byIndex.get(index))
}

type Seen = Map<number, PodDocument>

async function problemsOf(parts: PodsToStart, view: GridView, seen: Seen, signal: AbortSignal) {
  const { cluster, quantity, image } = parts
  const place = { ...parts.place, image }
  const { job } = view
  const isIncomplete = job !== undefined && ownPods(view).length < quantity
  const events = isIncomplete ? await eventsOf(cluster, job.metadata, signal) : []
  const found: (Waiting & { pod: PodDocument | undefined })[] = []
  for (const [index, pod] of podsOf(view, quantity).entries()) {
    const problem = replacedPod(seen, index, pod, job) ?? startProblemOf({ pod, job, events }, place)
    if (problem !== undefined) found.push({ ...problem, index, pod })
  }
  const explained = found.slice(0, PODS_TO_EXPLAIN).map(async (problem) => {
    const { pod, heals } = problem
    if (pod === undefined || heals === 'never') return problem
    const events = await eventsOf(cluster, pod.metadata, signal)
    return { ...problem, ...startProblemOf({ pod, job, events }, place) }
  })
  return [...(await Promise.all(explained)), ...found.slice(PODS_TO_EXPLAIN)]
}

/** A pod that is gone does not come back, and its replacement is not used. */
function replacedPod(
  seen: Seen,
  index: number,
  pod: PodDocument | undefined,
  job: JobDocument | undefined
): StartProblem | undefined {
  const before = seen.get(index)
  if (pod !== undefined && before === undefined) seen.set(index, pod)
  if (before === undefined || before.metadata.uid === pod?.metadata.uid) return undefined
  return { ...deletionOf(before, job, false), heals: 'never' }
}

function isHopeless(problem: Waiting, since: Map<string, number>, nowMs: number): boolean {
  const key = `${problem.index} ${problem.reason}`
  const firstMs = since.get(key) ?? nowMs
  since.set(key, firstMs)
  return problem.heals === 'never' || (problem.heals === 'rarely' && nowMs - firstMs >= RARELY_HEALS_MS)
}

/** Says what is being waited for, when it takes long and whenever it changes. */
function sayOnce(parts: PodsToStart, startMs: number) {
  let said = ''
  return (waiting: readonly Waiting[], unreachable: unknown): void => {
    if (parts.clock.now() - startMs < SAY_AFTER_MS) return
    const reasons = waiting.map(({ index, reason }) => `${index} ${reason}`).join(', ')
    const key = unreachable === undefined ? reasons : 'unreachable'
    if (key === said) return
    said = key
    parts.log(
      unreachable === undefined
        ? `Waiting for ${countOf(waiting.length, parts.quantity)} of the grid in ${parts.region}. ${explain(waiting)}`
        : `The pods in ${parts.cluster.name} could not be listed: ${clauseOf(unreachable)}. Trying again.`
    )
  }
}

function notStarted(parts: PodsToStart, waiting: readonly Waiting[], unreachable: unknown): NodeError {
  const seconds = Math.round(parts.place.startTimeoutMs / 1000)
  if (unreachable !== undefined)
    return new NodeError(
      `The pods of the grid in ${parts.region} did not start within ${seconds} s: ` +
        `those in ${parts.cluster.name} could not be listed: ${clauseOf(unreachable)}.`,
      { cause: unreachable }
    )
  const isLate = parts.clock.now() >= parts.deadlineMs
  return new NodeError(
    `${capitalize(countOf(waiting.length, parts.quantity))} of the grid in ${parts.region} did not start` +
      `${isLate ? ` within ${seconds} s` : ''} (${parts.cluster.name}). ${explain(waiting)}`
  )
}

/** One sentence and one piece of advice for all that wait for the same reason. */
function explain(waiting: readonly Waiting[]): string {
  const reasons = [...new Set(waiting.map(({ reason }) => reason))]
  return reasons
    .map((reason) => {
      const same = waiting.filter((other) => other.reason === reason)
      const numbers = same.map(({ index }) => index + 1).join(', ')
      return `Node${same.length === 1 ? '' : 's'} ${numbers}: ${same[0]?.words ?? ''}. ${same[0]?.advice ?? ''}`
    })
    .join(' ')
}

function countOf(some: number, all: number): string {
  if (all === 1) return 'the only pod'
  return some === all ? `all ${all} pods` : `${some} of ${all} pods`
}
