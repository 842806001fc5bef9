import type { KubeConfig } from '@kubernetes/client-node'
import { capitalize } from '../../../contract/text.js'
import {
  type Cluster,
  type ClusterAddress,
  type ClusterChoice,
  ClusterError,
  type ExecStreams
} from './cluster.js'
import { Credentials, type Access } from './credentials.js'
import { findKubeconfig, loadKubeconfig } from './kubeconfig.js'
import { requestJson } from './request.js'
import { ExecConnection, UpgradeRefused, type ExecLimits } from './exec-connection.js'
import { refusal } from './words.js'

/** Finds the cluster in the kubeconfig. Nothing is asked of it yet; a promise, so that what is wrong with the file rejects. */
export async function openCluster(choice: ClusterChoice, env: NodeJS.ProcessEnv): Promise<Cluster> {
  return Promise.resolve(open(findKubeconfig(env), choice, env))
}

/** The same cluster and namespace again, in another process. */
export async function reopenCluster(address: ClusterAddress, env: NodeJS.ProcessEnv): Promise<Cluster> {
  return Promise.resolve(open(address.kubeconfig, address, env))
}

function open(paths: string | undefined, choice: ClusterChoice, env: NodeJS.ProcessEnv): Cluster {
  const config = loadKubeconfig(paths, env)
  const source = paths === undefined ? 'the pod that this runs in' : `the kubeconfig ${paths}`
  const { context, server, namespace } = choose(config, choice, source)
  const credentials = new Credentials(config, paths, context, env)
  const openings = new Openings()
  return {
    address: { kubeconfig: paths, context, namespace },
    name: `namespace ${namespace} of the cluster ${paths === undefined ? 'that this runs in' : context}`,
    request: async <T>(
      method: 'GET' | 'POST' | 'DELETE',
      path: string,
      options: { body?: unknown; signal?: AbortSignal } = {}
    ) => (await requestJson({ server, credentials, method, path, ...options })) as T,
    exec: (pod, command, streams, signal) =>
      execInPod({ server, credentials, namespace, pod, command, streams, signal, openings })
  }
}

function choose(
  config: KubeConfig,
  choice: ClusterChoice,
  source: string
): { context: string; server: string; namespace: string } {
  const names = config.contexts.map(({ name }) => name)
  const there = names.length === 0 ? 'It has none' : `It has: ${names.join(', ')}`
  const name = choice.context ?? config.currentContext
  if (!name)
    throw new ClusterError(
      `${capitalize(source)} has no current context. Set \`context\` in \`regions\`. ${there}.`,
      undefined
    )
  const context = config.getContextObject(name)
  if (context === null)
    throw new ClusterError(`There is no context ${name} in ${source}. ${there}.`, undefined)
  config.setCurrentContext(name)
  const cluster = config.getCurrentCluster()
  if (cluster === null)
    throw new ClusterError(
      `The context ${name} names the cluster ${context.cluster}, which is not in ${source}.`,
      undefined
    )
  if (context.user && config.getCurrentUser() === null)
    throw new ClusterError(
      `The context ${name} names the user ${context.user}, which is not in ${source}.`,
      undefined
    )
  if (!URL.canParse(cluster.server))
    throw new ClusterError(`The server of the context ${name} in ${source} is not a URL.`, undefined)
  return {
    context: name,
    server: cluster.server,
    namespace: choice.namespace ?? firstOf(context.namespace?.trim(), 'default')
  }
}

function firstOf(text: string | undefined, otherwise: string): string {
  return text === undefined || text === '' ? otherwise : text
}

export interface ExecParts {
  readonly server: string
  readonly credentials: Credentials
  readonly namespace: string
  readonly pod: string
  readonly command: readonly string[]
  readonly streams: ExecStreams
  readonly signal: AbortSignal
  readonly limits?: ExecLimits
  readonly openings?: Openings
}

/** The only container of our pods. */
const CONTAINER = 'node'

/** Runs a command in a pod. The package's own way has no backpressure and loses errors. */
export async function execInPod(parts: ExecParts): Promise<{ code: number }> {
  const { credentials, signal, pod } = parts
  signal.throwIfAborted()
  const access = await credentials.access(signal)
  signal.throwIfAborted()
  try {
    return await connect(parts, access)
  } catch (error) {
    if (!(error instanceof UpgradeRefused)) throw error
    // Refused before anything was started or read, so this is no second start.
    if (error.status === 401)
      return await connect(parts, await credentials.renew(access, signal)).catch((again: unknown) => {
        throw again instanceof UpgradeRefused ? tell(pod, again) : again
      })
    throw tell(pod, error)
  }
}

async function connect(parts: ExecParts, access: Access): Promise<{ code: number }> {
  const { server, streams, signal, pod, limits, openings } = parts
  const onOpened = await openings?.enter(signal)
  if (signal.aborted) onOpened?.()
  signal.throwIfAborted()
  const connection = { server, url: urlOf(parts), access, streams, signal, pod, limits, onOpened }
  return new ExecConnection(connection).done.finally(onOpened)
}

function tell(pod: string, { status, body }: UpgradeRefused): Error {
  return refusal(`Running a command in the pod ${pod}`, { status, text: body })
}

function urlOf({ server, namespace, pod, command, streams }: ExecParts): string {
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]))
  query.set('container', CONTAINER)
  query.set('stdin', String(streams.stdin !== undefined))
  query.set('stdout', 'true')
  query.set('stderr', 'true')
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec`
  return `${server.replace(/^http/, 'ws')}${path}?${query.toString()}`
}

/**
 * How many connections are opened at the same time: a thousand handshakes at once take memory here that is never given back, and
 * startle an API server. Not fewer: a thousand streams to a distant cluster, a second each, must be open before anyone calls them silent.
 */
const AT_ONCE = 100

/** Connections wait here until it is their turn to be opened; what is open does not count. */
export class Openings {
  readonly #waiting = new Set<() => void>()
  #opening = 0

  constructor(private readonly limit = AT_ONCE) {}

  /** Returns what to call once it is open, or failed to. Rejects with the reason if the signal aborts first. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#opening >= this.limit) await this.#turn(signal)
    else this.#opening++
    let hasLeft = false
    return () => {
      if (!hasLeft) this.#leave()
      hasLeft = true
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const abort = (): void => {
        this.#waiting.delete(enter)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(enter)
    })
  }

  /** Whoever waits longest takes the place. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#opening--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
