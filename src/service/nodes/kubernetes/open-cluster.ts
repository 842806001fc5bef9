import type { KubeConfig } from '@kubernetes/client-node'
import { capitalize } from '../../../contract/text.js'
import { type Cluster, type ClusterAddress, type ClusterChoice, ClusterError } from './cluster.js'
import { Credentials } from './credentials.js'
import { execInPod, Openings } from './exec.js'
import { findKubeconfig, loadKubeconfig } from './kubeconfig.js'
import { requestJson } from './request.js'

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
