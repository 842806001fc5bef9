import type { KubernetesPlace } from '../../../regions/regions.js'
import type { Clock } from '../../clock.js'
import type { Cluster } from '../kubernetes/cluster.js'
import type { NodePlace, NodeSet, NodeSetRequest } from '../load-node.js'
import { createJob } from './start/create-job.js'
import type { JobDocument } from './start/documents.js'
import { findPods } from './start/find-pods.js'
import { jobManifest, jobName } from './start/job-manifest.js'
import { gridSelector } from './start/labels.js'
import { removeJobs } from './start/remove-jobs.js'
import { createPodSet } from './pod-set.js'
import { waitForPods, type PodsToStart, type StartedPods } from './start/start-pods.js'
import { SUPERVISOR } from './work/supervisor.js'

export interface PodPlaceParts {
  readonly place: KubernetesPlace
  readonly cluster: Cluster
  /** Of a place that names none; for tools that drive browsers, the one with browsers. */
  readonly defaultImage: string
  /** Identifies whatever this service creates. */
  readonly marker: string
  readonly clock: Clock
  readonly log: (line: string) => void
  /** Called with what to do where pods could not be deleted; without it, that is logged. */
  readonly onLeft?: (words: string) => void
}

/** Of a grid: as many pods as one service was seen to follow. */
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

function imageFor(defaultImage: string, tool: string | undefined): string {
  return tool !== undefined && BROWSER_TOOLS.includes(tool) ? `${defaultImage}-browsers` : defaultImage
}

async function openGrid(
  given: PodPlaceParts,
  request: NodeSetRequest,
  signal: AbortSignal
): Promise<NodeSet> {
  const parts = { ...given, defaultImage: imageFor(given.defaultImage, request.tool) }
  const { cluster, clock, place, marker, log } = parts
  const { onLeft = log } = parts
  const grid: PodsToStart & { onLeft: typeof log } = {
    cluster,
    clock,
    log,
    onLeft,
    place,
    selector: gridSelector({ marker, gridId: request.gridId }),
    quantity: request.quantity,
    region: request.region,
    image: place.image ?? parts.defaultImage,
    deadlineMs: clock.now() + place.startTimeoutMs
  }
  try {
    const started = request.isTakenUp
      ? await resumeGrid(grid, request, signal)
      : await startGrid(parts, request, grid, signal)
    return createPodSet({ ...grid, ...started, jobName: jobName(request.gridId) })
  } catch (error) {
    await removeJobs({ ...grid, isUnclear: true })
    throw error
  }
}

async function startGrid(
  parts: PodPlaceParts,
  request: NodeSetRequest,
  grid: PodsToStart,
  signal: AbortSignal
): Promise<StartedPods> {
  const { marker, defaultImage, place } = parts
  const manifest = jobManifest({ place, request, marker, defaultImage, script: SUPERVISOR })
  const { gridId } = request
  await createJob({ ...grid, manifest, name: jobName(gridId), marker, gridId }, signal)
  return waitForPods(grid, signal)
}

/** Whoever started the pods may have ended before all of them ran, or before the Job had created them. */
async function resumeGrid(
  grid: PodsToStart,
  { isStarting = false }: NodeSetRequest,
  signal: AbortSignal
): Promise<StartedPods> {
  const found = await findPods(grid, signal)
  const isPending = found.pods.some((pod) => pod?.status?.phase === 'Pending')
  const mayCome = isStarting && found.pods.includes(undefined) && !hasFailedPods(found.view.job)
  return isPending || mayCome ? waitForPods(grid, signal) : found
}

/** What is missing then does not come, or is not the first. */
function hasFailedPods(job: JobDocument | undefined): boolean {
  const { failed = 0, failedIndexes = '' } = job?.status ?? {}
  return failed > 0 || failedIndexes !== ''
}
