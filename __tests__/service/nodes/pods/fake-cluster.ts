import { ClusterError, type Cluster } from '../../../../src/service/nodes/kubernetes/cluster.js'
import type {
  EventDocument,
  JobDocument,
  PodDocument
} from '../../../../src/service/nodes/pods/start/pod-view.js'

export const MARKER = 'feed01'
export const NODES = { runId: 'beef', gridId: 'abc123' }
const LABELS = {
  ...{ 'loadgate.dev/marker': MARKER, 'loadgate.dev/run': NODES.runId },
  'loadgate.dev/grid': NODES.gridId
}
const JOB = 'loadgate-beef-abc123'

export function makeJob(
  changes: { labels?: Record<string, string>; conditions?: object[] } = {}
): JobDocument {
  const metadata = { name: JOB, uid: 'job-1', labels: changes.labels ?? LABELS }
  return { metadata, status: { conditions: (changes.conditions ?? []) as never } }
}

type Status = NonNullable<PodDocument['status']>

/** A pod that runs and is ready, unless it is told otherwise. */
export function makePod(
  index: number,
  status: Status = {},
  metadata: Partial<PodDocument['metadata']> = {}
): PodDocument {
  return {
    metadata: {
      name: `${JOB}-${index}-x`,
      uid: `pod-${index}`,
      labels: { ...LABELS, 'batch.kubernetes.io/job-completion-index': String(index) },
      ownerReferences: [{ uid: 'job-1' }],
      ...metadata
    },
    spec: {
      nodeName: 'machine-1',
      containers: [{ name: 'node', resources: { limits: { cpu: '500m', memory: '64Mi' } } }]
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'node', restartCount: 0, state: {} }],
      ...status
    }
  }
}

export function waitingPod(index: number, reason: string, message?: string): PodDocument {
  return makePod(index, {
    phase: 'Pending',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [
      { name: 'node', state: { waiting: { reason, ...(message !== undefined && { message }) } } }
    ]
  })
}

export type Answer = 'served' | 'lost before' | 'lost after' | number

/** An API with one namespace, whose state tests change. */
export class FakeCluster implements Cluster {
  readonly address = { kubeconfig: '/k', context: 'load-eu', namespace: 'load' }
  readonly name = 'namespace load of the cluster load-eu'
  jobs: JobDocument[] = []
  pods: PodDocument[] = []
  events: EventDocument[] = []
  /** What appears when a Job is created. */
  podsOfJob: PodDocument[] = []
  isAway = false
  /** What happens to each of the next POSTs and DELETEs. */
  answers: Answer[] = []
  readonly asked: string[] = []
  readonly deleted: unknown[] = []

  async request<T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options: { body?: unknown; signal?: AbortSignal } = {}
  ): Promise<T> {
    options.signal?.throwIfAborted()
    this.asked.push(`${method} ${decodeURIComponent(path)}`)
    if (this.isAway) throw new ClusterError('The cluster cannot be reached: ECONNREFUSED.', undefined)
    if (method === 'GET') return this.#read(path) as T
    const answer = this.answers.shift() ?? 'served'
    if (answer === 'lost before') throw new ClusterError('The connection was cut.', undefined)
    if (typeof answer === 'number') throw new ClusterError(`HTTP ${answer}: no.`, answer)
    const reply =
      method === 'POST' ? this.#create(options.body as JobDocument) : this.#delete(path, options.body)
    if (answer === 'lost after') throw new ClusterError('The connection was cut.', undefined)
    return reply as T
  }

  /** Streams stay open, and nothing comes of them. */
  exec(...[, , , signal]: Parameters<Cluster['exec']>): Promise<{ code: number }> {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  }

  #read(path: string): unknown {
    const name = /\/jobs\/([^/?]+)$/.exec(path)?.[1]
    if (name !== undefined) return this.jobs.find(({ metadata }) => metadata.name === name) ?? notFound()
    if (path.includes('/events')) return { items: this.events }
    const selector = new URL(path, 'http://x').searchParams.get('labelSelector') ?? ''
    const items: readonly (JobDocument | PodDocument)[] = path.includes('/jobs') ? this.jobs : this.pods
    return {
      items: items.filter(({ metadata }) =>
        selector.split(',').every((pair) => {
          const [key, value] = pair.split('=')
          return metadata.labels?.[key!] === value
        })
      )
    }
  }

  #create(manifest: JobDocument): JobDocument {
    const { name } = manifest.metadata
    if (this.jobs.some(({ metadata }) => metadata.name === name))
      throw new ClusterError(`HTTP 409: jobs.batch "${name}" already exists`, 409)
    const job = { ...manifest, metadata: { ...manifest.metadata, uid: 'job-1' } }
    this.jobs.push(job)
    this.pods.push(...this.podsOfJob)
    return job
  }

  #delete(path: string, body: unknown): object {
    this.deleted.push(body)
    const before = this.jobs.length
    this.jobs = this.jobs.filter(({ metadata }) => !path.endsWith(`/${metadata.name}`))
    this.pods = []
    return before === this.jobs.length ? notFound() : {}
  }
}

function notFound(): never {
  throw new ClusterError('HTTP 404: not found', 404)
}
