import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubernetesPlace } from '../../src/contract/regions/regions.js'
import { systemClock } from '../../src/contract/clock.js'
import type { Cluster } from '../../src/service/nodes/kubernetes/cluster.js'
import { openCluster } from '../../src/service/nodes/kubernetes/open-cluster.js'
import type { NodeSet, NodeSetRequest } from '../../src/service/nodes/load-node.js'
import { createPodPlace } from '../../src/service/nodes/pods/pod-place.js'
import { makePlace as makeAnyPlace } from '../support/kubernetes/make-place.js'
import type { JobDocument, ListDocument, PodDocument } from '../../src/service/nodes/pods/start/pod-view.js'

const IMAGE = process.env.LOADGATE_KUBERNETES_IMAGE ?? 'localhost/loadgate/jmeter:5.6.3'
const IMPATIENCE_MS = 60_000

function makePlace(changes: Partial<KubernetesPlace> = {}): KubernetesPlace {
  return makeAnyPlace({
    imagePullPolicy: 'Never',
    instanceTypes: new Map([['small', { cpu: '100m', memory: '64Mi' }]]),
    startTimeoutMs: 30_000,
    ...changes
  })
}

/** Grids in a namespace of their own on the cluster of KUBECONFIG. */
export class PodGrids {
  readonly marker = randomBytes(12).toString('hex')
  readonly lines: string[] = []

  private constructor(readonly cluster: Cluster) {}

  static async create(labels: Record<string, string> = {}): Promise<PodGrids> {
    const namespace = `loadgate-${randomBytes(4).toString('hex')}`
    const cluster = await openCluster({ context: undefined, namespace }, process.env)
    const body = { metadata: { name: namespace, labels } }
    await cluster.request('POST', '/api/v1/namespaces', { body })
    const grids = new PodGrids(cluster)
    // Every pod of a namespace needs it, and it appears a moment later.
    await grids.until(
      async () => (await grids.list(`/api/v1/namespaces/${namespace}/serviceaccounts`)).length > 0
    )
    return grids
  }

  get path(): string {
    return `/api/v1/namespaces/${this.cluster.address.namespace}`
  }

  open(
    place: Partial<KubernetesPlace> = {},
    request: Partial<NodeSetRequest> = {},
    cluster: Cluster = this.cluster,
    signal: AbortSignal = new AbortController().signal
  ): Promise<NodeSet> {
    return createPodPlace({
      place: makePlace(place),
      cluster,
      defaultImage: IMAGE,
      marker: this.marker,
      clock: systemClock,
      log: (line) => this.lines.push(line)
    }).open(
      {
        gridId: randomBytes(12).toString('hex'),
        runId: 'c0ffee',
        tool: 'jmeter',
        region: 'eu',
        quantity: 1,
        instanceType: 'small',
        stopAfterMin: 5,
        isContinued: false,
        ...request
      },
      signal
    )
  }

  async pods(): Promise<readonly PodDocument[]> {
    return (await this.list(`${this.path}/pods`)) as readonly PodDocument[]
  }

  async jobs(): Promise<readonly JobDocument[]> {
    const { namespace } = this.cluster.address
    return (await this.list(`/apis/batch/v1/namespaces/${namespace}/jobs`)) as readonly JobDocument[]
  }

  async list(path: string): Promise<readonly unknown[]> {
    return (await this.cluster.request<ListDocument<unknown>>('GET', path)).items
  }

  /** How many Jobs and pods are left, once the cluster had the time to clear them away. */
  async countLeftovers(): Promise<number> {
    const count = async (): Promise<number> => (await this.pods()).length + (await this.jobs()).length
    await this.until(async () => (await count()) === 0).catch(() => undefined)
    return count()
  }

  async until(isSo: () => Promise<boolean>): Promise<void> {
    const endMs = Date.now() + IMPATIENCE_MS
    while (!(await isSo())) {
      if (Date.now() > endMs) throw new Error('it took too long')
      await sleep(100)
    }
  }

  async delete(): Promise<void> {
    await this.cluster.request('DELETE', this.path)
  }
}
