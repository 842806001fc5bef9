import type { Cluster } from '../../kubernetes/cluster.js'
import type { EventDocument, JobDocument, ListDocument, PodDocument } from './documents.js'
import { jobName, GRID_LABEL } from './job-manifest.js'

const INDEX_LABEL = 'batch.kubernetes.io/job-completion-index'

export interface GridView {
  readonly job: JobDocument | undefined
  readonly pods: readonly PodDocument[]
}

export async function viewGrid(cluster: Cluster, selector: string, signal: AbortSignal): Promise<GridView> {
  const query = `?labelSelector=${encodeURIComponent(selector)}`
  const [jobs, pods] = await Promise.all([
    cluster.request<ListDocument<JobDocument>>('GET', `${jobsPath(cluster)}${query}`, { signal }),
    cluster.request<ListDocument<PodDocument>>('GET', `${corePath(cluster)}/pods${query}`, { signal })
  ])
  // Labels can be copied by anyone, a name cannot.
  const job = jobs.items.find(
    ({ metadata }) => metadata.name === jobName(metadata.labels?.[GRID_LABEL] ?? '')
  )
  return { job, pods: pods.items }
}

/** Those that the grid's Job created: others with the same labels are somebody else's. */
export function ownPods({ job, pods }: GridView): readonly PodDocument[] {
  return pods.filter(
    ({ metadata }) => job && metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid)
  )
}

/** What happened to an object, the latest last. Nothing if the cluster does not say: events explain, they decide nothing. */
export async function eventsOf(
  cluster: Cluster,
  { name, uid }: { name: string; uid: string },
  signal: AbortSignal
): Promise<readonly EventDocument[]> {
  const query = `?fieldSelector=${encodeURIComponent(`involvedObject.name=${name}`)}`
  const list = await cluster
    .request<ListDocument<EventDocument>>('GET', `${corePath(cluster)}/events${query}`, { signal })
    .catch(() => undefined)
  return (list?.items ?? [])
    .filter(({ involvedObject }) => involvedObject.uid === uid)
    .sort((a, b) => timeOf(a) - timeOf(b))
}

/** Which node of the grid a pod is, counted from 0. */
export function indexOf(pod: PodDocument): number {
  const text = pod.metadata.labels?.[INDEX_LABEL] ?? pod.metadata.annotations?.[INDEX_LABEL]
  return text === undefined ? -1 : Number(text)
}

export function jobsPath(cluster: Cluster): string {
  return `/apis/batch/v1/namespaces/${encodeURIComponent(cluster.address.namespace)}/jobs`
}

function corePath(cluster: Cluster): string {
  return `/api/v1/namespaces/${encodeURIComponent(cluster.address.namespace)}`
}

function timeOf({ lastTimestamp, eventTime, metadata }: EventDocument): number {
  return Date.parse(lastTimestamp ?? eventTime ?? metadata?.creationTimestamp ?? '') || 0
}
