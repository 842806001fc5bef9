import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../../../contract/clock.js'
import type { Cluster } from '../kubernetes/cluster.js'
import {
  type NodePlace,
  type NodeSet,
  type NodeSetRequest,
  NodeError,
  type NodeFacts,
  type ImageShell,
  type LoadNode,
  type ToolSearch
} from '../load-node.js'
import { clauseOf } from '../../errors.js'
import { createJob, removeJobs } from './start/jobs.js'
import { type GridView, type PodDocument, viewGrid } from './start/pod-view.js'
import { jobManifest, jobName, gridSelector, type JobParts } from './start/job-manifest.js'
import { waitForPods, type PodsToStart, type StartedPods, podsOf } from './start/start-pods.js'
import { exportLines } from './work/supervisor.js'
import { watchPods } from './start/pod-watch.js'
import { limitOf, machineOf } from './start/pod-words.js'
import { type ContactParts, POD_TIMINGS, PodContact } from './work/pod-contact.js'
import { PodRecord } from './work/pod-record.js'
import { PodTurn } from './work/pod-turn.js'

export interface PodPlaceParts extends Omit<JobParts, 'request'> {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: (line: string) => void
  /** Called with advice if pods could not be deleted; without it, that is logged. */
  readonly onLeft?: (words: string) => void
}

/** The most nodes of a grid: as many pods as one service could follow in a measurement. */
const MOST_NODES = 1000

/** A namespace of a cluster: a grid is a Job, a node is one of its pods. */
export function createPodPlace(parts: PodPlaceParts): NodePlace {
  return {
    name: parts.cluster.name,
    outlivesService: true,
    mostNodes: MOST_NODES,
    open: (request, signal) => openGrid(parts, request, signal)
  }
}

const BROWSER_TOOLS: readonly string[] = ['java-selenium-chrome', 'java-selenium-firefox', 'service-chrome']

async function openGrid(parts: PodPlaceParts, request: NodeSetRequest, signal: AbortSignal) {
  const { cluster, clock, place, marker, log, onLeft = log } = parts
  const { quantity, region } = request
  const defaultImage = `${parts.defaultImage}${BROWSER_TOOLS.includes(request.tool) ? '-browsers' : ''}`
  const grid = {
    ...{ cluster, clock, log, onLeft, place, quantity, region },
    selector: gridSelector({ ...request, marker }),
    image: place.image ?? defaultImage,
    deadlineMs: clock.now() + place.startTimeoutMs
  }
  try {
    const manifest = jobManifest({ place, request, marker, defaultImage })
    if (!request.isContinued) await createJob(grid, manifest, signal)
    const started = await (request.isContinued ? findPods(grid, signal) : waitForPods(grid, signal))
    return createPodSet({ ...grid, ...started, jobName: jobName(request) })
  } catch (error) {
    await removeJobs({ ...grid, isUnclear: true })
    throw error
  }
}

const RETRY_EVERY_MS = 2000
/** How often a node failed before this pod was created: if it did, this pod is a replacement. */
const FAILURE_COUNTS = ['failure', 'ignored-failure'].map(
  (what) => `batch.kubernetes.io/job-index-${what}-count`
)

/** A grid's pods that another process started, in the order of their nodes; undefined for those that are gone. */
async function findPods(parts: PodsToStart, signal: AbortSignal): Promise<StartedPods> {
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
    await parts.clock.sleep(RETRY_EVERY_MS, signal)
  }
}

function isReplacement(pod: PodDocument): boolean {
  return FAILURE_COUNTS.some((name) => Number(pod.metadata.annotations?.[name] ?? '0') > 0)
}

/** The pods of a grid as its nodes, watched until they are closed. */
function createPodSet(
  parts: PodsToStart & StartedPods & { jobName: string; onLeft: (words: string) => void }
): NodeSet {
  const { cluster, clock, image, log } = parts
  const watch = watchPods(parts)
  const found = new Map<object, Promise<unknown>>()
  const nodes = parts.pods.map((pod, index) =>
    createPodNode({
      ...{ cluster, image, found, clock, log },
      pod: pod?.metadata.name ?? `${parts.jobName}-${index}`,
      nodeName: pod === undefined ? 'unknown' : machineOf(pod),
      memoryBytes: pod && quantityOf(pod, 'memory'),
      lost: watch.lostOf(index),
      whyLost: () => watch.whyLost(index)
    })
  )
  let closing: Promise<void> | undefined
  return {
    nodes,
    factsOf: (index) =>
      ({ ...podFacts(watch.podOf(index), cluster.name), ...nodes[index]?.facts() }) as NodeFacts,
    doubts: () => nodes.flatMap((node) => node.doubts()),
    close: () => {
      watch.stop()
      return (closing ??= removeJobs({ ...parts, isUnclear: false }))
    }
  }
}

function podFacts(pod: PodDocument | undefined, place: string) {
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
  return parseQuantity(limitOf(pod, resource) ?? '')
}

/** The powers of 1000, or of 1024 with an `i`, from the third one below 1 on. */
const UNITS = 'num kMGTPE'

/** The number that a quantity of Kubernetes stands for: `500m` is 0.5, `8Gi` is 8589934592; undefined for anything else. */
export function parseQuantity(text: string): number | undefined {
  const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?:([numkMGTPE])|([KMGTPE])i)?$/.exec(text)
  if (found === null) return undefined
  const [, number, unit, binaryUnit] = found
  const power = UNITS.indexOf((binaryUnit ?? unit ?? ' ').replace('K', 'k')) - UNITS.indexOf(' ')
  return Number(number) * (binaryUnit === undefined ? 1000 : 1024) ** power
}

export interface PodNode extends LoadNode {
  /** Facts about its last work. */
  facts(): Pick<NodeFacts, 'startedMs' | 'endedMs' | 'throttled' | 'clockOffsetMs'>
  doubts(): readonly string[]
}

/** Tests change the folder and the timings. */
export interface PodNodeParts
  extends Omit<ContactParts, 'home' | 'timings'>, Partial<Pick<ContactParts, 'home' | 'timings'>> {
  readonly nodeName: string
  readonly image: string
  readonly memoryBytes: number | undefined
  /** What was found in the image, for all nodes of the grid. */
  readonly found: Map<object, Promise<unknown>>
}

/** A node that is a pod. It runs the supervisor, and everything else happens by exec. */
export function createPodNode(parts: PodNodeParts): PodNode {
  const { timings = POD_TIMINGS, home = '/loadgate' } = parts
  const contact = new PodContact({ ...parts, home, timings })
  // Where tools can write although the user of a pod has no home and its image is read-only.
  const env = { HOME: `${home}/home`, TMPDIR: '/tmp' }
  const shell = imageShell(contact, parts.image, env)
  let record = new PodRecord(parts.pod, parts.nodeName)
  return {
    env,
    memoryBytes: parts.memoryBytes,
    outageMs: timings.giveUpMs,
    pathOf: (file) => contact.fileOf(file),
    find: <T>(search: ToolSearch<T>) => remember(parts.found, search, () => search.inImage(shell)),
    run: (command, signal) => {
      signal.throwIfAborted()
      record = new PodRecord(parts.pod, parts.nodeName)
      const turn = `${home}/turns/${turnName(command.id ?? randomUUID())}`
      return new PodTurn({ contact, record, turn }, command, signal).run()
    },
    facts: () => record.facts(),
    doubts: () => record.doubts()
  }
}

/** Ids are plain; anything else is hashed. */
function turnName(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? id : createHash('sha256').update(id).digest('hex')
}

function imageShell(contact: PodContact, image: string, env: NodeJS.ProcessEnv): ImageShell {
  return {
    name: `the image ${image}`,
    ask: async (script, args = []) => {
      const { code, stdout, stderr } = await contact.ask(`${exportLines(env)}${script}`, args)
      return { code, lines: `${stdout}\n${stderr}`.split(/\r?\n/).filter((line) => line !== '') }
    }
  }
}

/** A failure is not remembered: the next node may succeed. */
function remember<T>(found: Map<object, Promise<unknown>>, key: object, find: () => Promise<T>): Promise<T> {
  const known = found.get(key) as Promise<T> | undefined
  if (known !== undefined) return known
  const finding = find()
  found.set(key, finding)
  finding.catch(() => found.delete(key))
  return finding
}
