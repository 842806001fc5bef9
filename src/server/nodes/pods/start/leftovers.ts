import type { Cluster } from '../../kubernetes/cluster.js'
import { ClusterError } from '../../kubernetes/cluster.js'
import type { JobDocument, ListDocument } from './documents.js'
import { jobsPath } from './pod-view.js'

/** Deletes the Jobs, with their pods, and nothing else. Returns how many there were. One by one: deleting a whole collection takes a permission of its own. */
export async function deleteJobs(cluster: Cluster, selector: string, signal?: AbortSignal): Promise<number> {
  const options = signal === undefined ? {} : { signal }
  const { items } = await cluster.request<ListDocument<JobDocument>>(
    'GET',
    `${jobsPath(cluster)}?labelSelector=${encodeURIComponent(selector)}`,
    options
  )
  const failures: unknown[] = []
  for (const { metadata } of items) {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      // Should another one have the name by now, it is not ours.
      preconditions: { uid: metadata.uid }
    }
    await cluster
      .request('DELETE', `${jobsPath(cluster)}/${metadata.name}`, { body, ...options })
      .catch((error: unknown) => isGone(error) || failures.push(error))
  }
  // After the others: one that cannot be deleted must not keep them.
  if (failures.length > 0) throw failures[0]
  return items.length
}

function isGone(error: unknown): boolean {
  return error instanceof ClusterError && (error.status === 404 || error.status === 409)
}
