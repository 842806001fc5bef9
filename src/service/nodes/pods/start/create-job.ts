import type { Clock } from '../../../../contract/clock.js'
import { messageOf } from '../../../../contract/text.js'
import { ClusterError, type Cluster, isUnclear } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import type { JobDocument } from './documents.js'
import { GRID_LABEL, MARKER_LABEL } from './job-manifest.js'
import { jobsPath } from './pod-view.js'

const RETRY_EVERY_MS = 1000

export interface JobToCreate {
  readonly cluster: Cluster
  readonly manifest: Record<string, unknown>
  readonly name: string
  readonly marker: string
  readonly gridId: string
  readonly clock: Clock
  /** By then it must be there. */
  readonly deadlineMs: number
}

/**
 * Creates a Job once. Where it is unclear whether it was created, the cluster is asked; its name is the same in every attempt, so there
 * is never a second one. A request on its way is not called off: nobody would know whether it was served.
 */
export async function createJob(job: JobToCreate, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const unclear = await tryToCreate(job)
    if (unclear === undefined) return
    if (job.clock.now() + RETRY_EVERY_MS > job.deadlineMs) throw notCreated(job, unclear)
    await job.clock.sleep(RETRY_EVERY_MS, signal)
  }
}

/** Undefined if it exists now; the error if it is worth another attempt. */
async function tryToCreate(job: JobToCreate): Promise<unknown> {
  try {
    await job.cluster.request('POST', jobsPath(job.cluster), { body: job.manifest })
    return undefined
  } catch (error) {
    if (!isUnclear(error) && !isConflict(error)) throw notCreated(job, error)
    return (await isThere(job)) ? undefined : error
  }
}

async function isThere(job: JobToCreate): Promise<boolean> {
  try {
    const { metadata } = await job.cluster.request<JobDocument>('GET', `${jobsPath(job.cluster)}/${job.name}`)
    if (metadata.labels?.[MARKER_LABEL] === job.marker && metadata.labels[GRID_LABEL] === job.gridId)
      return true
  } catch {
    return false
  }
  throw new NodeError(
    `There is a Job ${job.name} in ${job.cluster.name} already, which another service created. Delete it, or use another namespace.`
  )
}

function isConflict(error: unknown): boolean {
  return error instanceof ClusterError && error.status === 409
}

function notCreated({ cluster, name }: JobToCreate, error: unknown): NodeError {
  return new NodeError(`The Job ${name} could not be created in ${cluster.name}: ${messageOf(error)}`, {
    cause: error
  })
}
