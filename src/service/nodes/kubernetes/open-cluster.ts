import http from 'node:http'
import https from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import { capitalize } from '../../../contract/text.js'
import {
  type Cluster,
  type ClusterAddress,
  type ClusterChoice,
  ClusterError,
  refusal,
  SILENCE_MS,
  unreachable
} from './cluster.js'
import { type Access, Credentials } from './credentials.js'
import { execInPod, Openings } from './exec.js'
import { findKubeconfig, loadKubeconfig } from './kubeconfig.js'

/** Finds the cluster in the kubeconfig, and sends nothing to it. Problems with the file reject the promise. */
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

function choose(config: KubeConfig, choice: ClusterChoice, source: string) {
  const names = config.contexts.map(({ name }) => name)
  const there = names.length === 0 ? 'It has none' : `It has: ${names.join(', ')}`
  const name = choice.context ?? config.currentContext
  if (!name)
    throw new ClusterError(
      `${capitalize(source)} has no current context. Set \`context\` in \`regions\`. ${there}.`
    )
  const context = config.getContextObject(name)
  if (context === null) throw new ClusterError(`There is no context ${name} in ${source}. ${there}.`)
  config.setCurrentContext(name)
  const cluster = config.getCurrentCluster()
  const missing = (what: string): ClusterError =>
    new ClusterError(`The context ${name} names the ${what}, which is not in ${source}.`)
  if (cluster === null) throw missing(`cluster ${context.cluster}`)
  if (context.user && config.getCurrentUser() === null) throw missing(`user ${context.user}`)
  if (!URL.canParse(cluster.server))
    throw new ClusterError(`The server of the context ${name} in ${source} is not a URL.`)
  const namespace = context.namespace?.trim()
  return {
    context: name,
    server: cluster.server,
    namespace: choice.namespace ?? (namespace === undefined || namespace === '' ? 'default' : namespace)
  }
}

/** A list of several thousand pods has less. */
const MOST_REPLY_BYTES = 128 * 1024 ** 2

interface RequestParts {
  readonly server: string
  readonly credentials: Credentials
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Sends the request once, and a second time only if the credentials were not accepted. */
async function requestJson(parts: RequestParts): Promise<unknown> {
  const { credentials, method, path, server, signal } = parts
  signal?.throwIfAborted()
  const access = await credentials.access(signal)
  let reply = await send(parts, access)
  if (reply.status === 401) reply = await send(parts, await credentials.renew(access, signal))
  if (reply.status < 200 || reply.status > 299) throw refusal(`${method} ${path}`, reply)
  try {
    return JSON.parse(reply.text) as unknown
  } catch {
    throw new ClusterError(
      `${method} ${path} was answered by ${server} with something that is not JSON: is this the address of a Kubernetes API?`,
      reply.status
    )
  }
}

function send({ server, method, path, body, signal }: RequestParts, { agent, headers }: Access) {
  return new Promise<Parameters<typeof refusal>[1]>((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const request = (server.startsWith('http:') ? http : https).request(server + path, {
      method,
      agent,
      ...(signal && { signal }),
      headers: {
        ...headers,
        Accept: 'application/json',
        ...(bytes && { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
      }
    })
    const silence = setTimeout(
      () => request.destroy(new Error(`no reply within ${SILENCE_MS / 1000} s`)),
      SILENCE_MS
    )
    const fail = (error: Error): void => {
      clearTimeout(silence)
      reject(signal?.aborted ? (signal.reason as Error) : unreachable(server, error))
    }
    request.on('error', fail)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let room = MOST_REPLY_BYTES
      response.on('data', (chunk: Buffer) => {
        silence.refresh()
        room -= chunk.length
        if (room >= 0) chunks.push(chunk)
        else response.destroy(new Error(`a reply of more than ${MOST_REPLY_BYTES / 1024 ** 2} MB`))
      })
      response.on('error', fail)
      response.on('end', () => {
        clearTimeout(silence)
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString('utf8'),
          retryAfterMs: readSeconds(response.headers['retry-after'])
        })
      })
    })
    request.end(bytes)
  })
}

/** Kubernetes sends seconds; a date, which a proxy may send, is ignored. */
function readSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}
