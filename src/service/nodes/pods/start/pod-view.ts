import type { Cluster } from '../../kubernetes/cluster.js'
import { jobName, GRID_LABEL, RUN_LABEL } from './job-manifest.js'

/** What is read of the objects of the Kubernetes API; as JSON, so times are text. */
export interface ObjectMeta {
  readonly name: string
  readonly uid: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
  readonly ownerReferences?: readonly { readonly uid: string }[]
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface JobDocument {
  readonly metadata: ObjectMeta
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly failed?: number
    /** The nodes that get no other pod. */
    readonly failedIndexes?: string
  }
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string }
}

export interface PodDocument {
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly nodeName?: string
    readonly containers: readonly {
      readonly name: string
      readonly resources?: { readonly limits?: Readonly<Record<string, string>> }
    }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly conditions?: readonly Condition[]
    readonly containerStatuses?: readonly {
      readonly name: string
      readonly restartCount?: number
      readonly state?: ContainerState
    }[]
  }
}

export interface EventDocument {
  readonly metadata?: { readonly creationTimestamp?: string | null }
  readonly involvedObject: { readonly uid?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
}

export interface ListDocument<T> {
  readonly items: readonly T[]
}

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
  const job = jobs.items.find(({ metadata: { name, labels = {} } }) => {
    return name === jobName({ runId: labels[RUN_LABEL] ?? '', gridId: labels[GRID_LABEL] ?? '' })
  })
  return { job, pods: pods.items }
}

/** The pods that the grid's Job created: others with the same labels belong to somebody else. */
export function ownPods({ job, pods }: GridView): readonly PodDocument[] {
  return pods.filter(
    ({ metadata }) => job && metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid)
  )
}

/** What happened to an object, the latest last; empty if the cluster does not say. Events only explain; they decide nothing. */
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
