import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Cluster,
  ClusterError,
  type ExecStreams
} from '../../../src/service/nodes/kubernetes/cluster.js'
import { openCluster } from '../../../src/service/nodes/kubernetes/open-cluster.js'
import { SUPERVISOR } from '../../../src/service/nodes/pods/work/supervisor.js'

const IMAGE = process.env.LOADGATE_KUBERNETES_IMAGE ?? 'localhost/loadgate/jmeter:5.6.3'

export interface WorkPods {
  readonly cluster: Cluster
  /** Of the test's own namespace. */
  readonly path: string
  start(name: string, options?: PodOptions): Promise<string>
  close(): Promise<void>
}

export interface PodOptions {
  readonly memory?: string
  /** The folder is in memory, and so small. */
  readonly sizeLimit?: string
}

/** Pods of the real cluster that do nothing but wait for work, in a namespace of their own. */
export async function openWorkPods(): Promise<WorkPods> {
  const namespace = `loadgate-work-${randomBytes(4).toString('hex')}`
  const cluster = await openCluster({ context: undefined, namespace }, process.env)
  await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } })
  const path = `/api/v1/namespaces/${namespace}/pods`
  return {
    cluster,
    path,
    start: async (name, options = {}) => {
      await whenAllowed(() => cluster.request('POST', path, { body: podOf(name, options) }))
      while (!(await isReady(cluster, `${path}/${name}`))) await sleep(100)
      return name
    },
    close: async () => {
      await cluster.request('DELETE', `/api/v1/namespaces/${namespace}`)
    }
  }
}

/** A new namespace has no service account at first, and pods need one. */
async function whenAllowed(create: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    try {
      await create()
      return
    } catch (thrown) {
      if (!(thrown instanceof ClusterError) || thrown.status !== 403) throw thrown
      await sleep(200)
    }
  }
  throw new Error('The namespace got no service account.')
}

async function isReady(cluster: Cluster, path: string): Promise<boolean> {
  const pod = await cluster.request<{ status: { phase?: string } }>('GET', path)
  return pod.status.phase === 'Running'
}

function podOf(name: string, { memory = '256Mi', sizeLimit }: PodOptions): unknown {
  const resources = { cpu: '100m', memory }
  return {
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        ...{ runAsUser: 65534, runAsGroup: 65534, fsGroup: 65534 },
        seccompProfile: { type: 'RuntimeDefault' }
      },
      containers: [
        {
          ...{
            name: 'node',
            image: IMAGE,
            imagePullPolicy: 'IfNotPresent',
            command: ['sh', '-c', SUPERVISOR]
          },
          resources: { requests: resources, limits: { memory } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [
            { name: 'work', mountPath: '/loadgate' },
            { name: 'tmp', mountPath: '/tmp' }
          ]
        }
      ],
      volumes: [
        { name: 'work', emptyDir: sizeLimit === undefined ? {} : { medium: 'Memory', sizeLimit } },
        { name: 'tmp', emptyDir: {} }
      ]
    }
  }
}

/** The same cluster, whose streams are cut after so many bytes of output; the numbers are used up one by one. */
export function withCuts(cluster: Cluster, nextCut: () => number | undefined): Cluster & { cuts: number } {
  const cutting = {
    ...cluster,
    cuts: 0,
    exec: async (pod: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal) => {
      const afterBytes = nextCut()
      const cut = new AbortController()
      let bytes = 0
      const count = (take: ExecStreams['onStdout']) => async (chunk: Uint8Array) => {
        if (cut.signal.aborted) return
        const passing = afterBytes === undefined ? chunk : chunk.subarray(0, Math.max(0, afterBytes - bytes))
        bytes += chunk.length
        await take?.(passing)
        if (afterBytes === undefined || bytes < afterBytes) return
        cutting.cuts++
        cut.abort(new ClusterError('The test cut the stream.', undefined))
      }
      const counted = { ...streams, onStdout: count(streams.onStdout), onStderr: count(streams.onStderr) }
      return cluster.exec(pod, command, counted, AbortSignal.any([signal, cut.signal]))
    }
  }
  return cutting
}
