import type { Clock } from '../../../../contract/clock.js'
import { clauseOf } from '../../../errors.js'
import { capitalize, messageOf } from '../../../../contract/text.js'
import { kubectlDelete } from '../../../../contract/regions/regions.js'
import { type Cluster, hasStatus, isUnclear } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import { type JobDocument, jobsPath, type ListDocument } from './pod-view.js'
import { GRID_LABEL, type JobManifest, MARKER_LABEL, selectorOf } from './job-manifest.js'

const CREATE_EVERY_MS = 1000
const DELETE_EVERY_MS = 2000
const GIVE_UP_AFTER_MS = 60_000
/** The post step has a minute; the cluster's error should be reported before it is over. */
const POST_STEP_MS = 50_000

/** Creates a Job once: each attempt has the same name; the cluster is asked if unsure. A sent request is not aborted: it may be served. */
export async function createJob(
  { cluster, clock, deadlineMs }: { cluster: Cluster; clock: Clock; deadlineMs: number },
  manifest: JobManifest,
  signal: AbortSignal
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      await cluster.request('POST', jobsPath(cluster), { body: manifest })
      return
    } catch (error) {
      const mayExist = isUnclear(error) || hasStatus(error, 409)
      if (mayExist && (await isThere(cluster, manifest))) return
      if (!mayExist || clock.now() + CREATE_EVERY_MS > deadlineMs)
        throw new NodeError(
          `The Job ${manifest.metadata.name} could not be created in ${cluster.name}: ${messageOf(error)}`,
          { cause: error }
        )
    }
    await clock.sleep(CREATE_EVERY_MS, signal)
  }
}

async function isThere(cluster: Cluster, { metadata }: JobManifest): Promise<boolean> {
  const { name, labels } = metadata
  const job = await cluster.request<JobDocument>('GET', `${jobsPath(cluster)}/${name}`).catch(() => undefined)
  const isOther = (label: string): boolean => job?.metadata.labels?.[label] !== labels[label]
  if (job !== undefined && [MARKER_LABEL, GRID_LABEL].some(isOther))
    throw new NodeError(
      `There is a Job ${name} in ${cluster.name} already, which another service created. Delete it, or use another namespace.`
    )
  return job !== undefined
}

/** Deletes the Jobs with their pods, except the kept ones, and returns how many. One by one, because deleting a collection needs a permission of its own. */
export async function deleteJobs(
  cluster: Cluster,
  selector: string,
  { signal, kept }: { signal?: AbortSignal | undefined; kept?: ReadonlySet<string> } = {}
): Promise<number> {
  const options = signal === undefined ? {} : { signal }
  const found = await cluster.request<ListDocument<JobDocument>>(
    'GET',
    `${jobsPath(cluster)}?labelSelector=${encodeURIComponent(selector)}`,
    options
  )
  const items = found.items.filter(({ metadata }) => !kept?.has(metadata.name))
  const failures: unknown[] = []
  for (const { metadata } of items) {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      // Another Job may have the name by now, which is not ours.
      preconditions: { uid: metadata.uid }
    }
    await cluster
      .request('DELETE', `${jobsPath(cluster)}/${metadata.name}`, { body, ...options })
      .catch((error: unknown) => hasStatus(error, 404, 409) || failures.push(error))
  }
  // Thrown after the others are deleted.
  if (failures.length > 0) throw failures[0]
  return items.length
}

export interface JobsToDelete {
  readonly cluster: Cluster
  readonly selector: string
  readonly clock: Clock
  /** Whether a Job may still be about to appear, because nobody knows if it was created. */
  readonly isUnclear: boolean
  readonly signal?: AbortSignal
}

/** Deletes the Jobs, and retries for a minute if the cluster does not answer. Never throws: `onLeft` is called with what to do instead. */
export async function removeJobs(jobs: JobsToDelete & { onLeft: (words: string) => void }): Promise<void> {
  const { cluster, selector, onLeft } = jobs
  await deleteSurely(jobs, GIVE_UP_AFTER_MS).catch((error: unknown) =>
    onLeft(
      `${capitalize(cluster.name)}: the pods could not be deleted: ${clauseOf(error)}. They end at the deadline of their Job; ` +
        `to delete them now, run: ${kubectlDelete(cluster.address, selector)}`
    )
  )
}

/** Deletes what carries a marker, from another process than the one that created it. Returns how many Jobs there were. */
export function deleteMarked(marker: string, jobs: Omit<JobsToDelete, 'selector'>): Promise<number> {
  return deleteSurely({ ...jobs, selector: selectorOf({ [MARKER_LABEL]: marker }) }, POST_STEP_MS)
}

/** Retries after a temporary failure, which must not leave pods running. Throws the last one. */
async function deleteSurely(jobs: JobsToDelete, giveUpAfterMs: number): Promise<number> {
  const { cluster, selector, clock, signal } = jobs
  const untilMs = clock.now() + giveUpAfterMs
  let looksLeft = jobs.isUnclear ? 2 : 1
  for (;;) {
    try {
      looksLeft -= 1
      const count = await deleteJobs(cluster, selector, { signal })
      if (count > 0 || looksLeft <= 0) return count
    } catch (error) {
      if (!isUnclear(error) || clock.now() >= untilMs) throw error
      looksLeft += 1
    }
    await clock.sleep(DELETE_EVERY_MS, signal)
  }
}
