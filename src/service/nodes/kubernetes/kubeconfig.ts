// Only this part of the package: all of it takes half a second to load.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { parse, YAMLParseError } from 'yaml'
import { messageOf } from '../../../contract/text.js'
import { ClusterError } from './cluster.js'

/** As kubectl does: the paths of `KUBECONFIG`, else the file in the home folder, else, with no file at all, what a pod has. */
export function findKubeconfig(env: NodeJS.ProcessEnv): string | undefined {
  const named = (env.KUBECONFIG ?? '').split(path.delimiter).filter((file) => file !== '')
  if (named.length > 0) return named.map((file) => path.resolve(file)).join(path.delimiter)
  const usual = path.join(env.HOME ?? homedir(), '.kube', 'config')
  if (existsSync(usual) || env.KUBERNETES_SERVICE_HOST === undefined) return usual
  return undefined
}

/** Reads the kubeconfig (undefined: within a cluster). Its contents are never part of a message. */
export function loadKubeconfig(paths: string | undefined, env: NodeJS.ProcessEnv): KubeConfig {
  const config = new KubeConfig()
  if (paths === undefined) {
    config.loadFromCluster()
    return config
  }
  const files = paths.split(path.delimiter)
  const documents = files.filter((file) => files.length === 1 || existsSync(file)).map(readDocument)
  if (documents.length === 0) throw new ClusterError(`None of the kubeconfigs ${paths} exists.`)
  for (const { file, document } of documents) {
    const part = new KubeConfig()
    try {
      // JSON is YAML. Reading the text here keeps its lines out of error messages.
      complete(document.users, path.dirname(file), env)
      part.loadFromString(JSON.stringify(document))
    } catch (error) {
      throw new ClusterError(`The kubeconfig ${file} is not complete: ${messageOf(error)}.`)
    }
    part.makePathsAbsolute(path.dirname(file))
    merge(config, part)
  }
  return config
}

/** As kubectl does: what several files have is taken from the first one. */
function merge(config: KubeConfig, part: KubeConfig): void {
  const isNew = (all: readonly { name: string }[]) => (one: { name: string }) =>
    !all.some(({ name }) => name === one.name)
  config.clusters.push(...part.clusters.filter(isNew(config.clusters)))
  config.users.push(...part.users.filter(isNew(config.users)))
  config.contexts.push(...part.contexts.filter(isNew(config.contexts)))
  // The types say otherwise, but a kubeconfig need not have one.
  if (!(config.currentContext as string | undefined)) config.currentContext = part.currentContext
}

interface RawUser {
  readonly tokenFile?: string
  'auth-provider'?: unknown
  exec?: { apiVersion?: string; command?: string; env?: readonly { name: string; value: string }[] | null }
}

function readDocument(file: string): { file: string; document: Record<string, unknown> } {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ClusterError(
      `The kubeconfig ${file} cannot be read: ${messageOf(error)}. Set KUBECONFIG to the file that kubectl uses.`
    )
  }
  try {
    const document: unknown = parse(text)
    if (typeof document === 'object' && document !== null && !Array.isArray(document))
      return { file, document: document as Record<string, unknown> }
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined
    throw new ClusterError(
      `The kubeconfig ${file} is not valid YAML${line === undefined ? '' : ` (line ${line})`}.`
    )
  }
  throw new ClusterError(`The kubeconfig ${file} is empty or not a map.`)
}

/** What kubectl understands and the package does not: `tokenFile`, paths relative to the file, and what a plugin is told about its caller. */
function complete(users: unknown, folder: string, env: NodeJS.ProcessEnv): void {
  for (const { user } of Array.isArray(users) ? (users as { user?: RawUser }[]) : []) {
    // It is read again every minute.
    const tokenFile = user?.tokenFile && path.resolve(folder, user.tokenFile)
    if (user && tokenFile) user['auth-provider'] = { name: 'tokenFile', config: { tokenFile } }
    if (user?.exec === undefined) continue
    const { apiVersion, command } = user.exec
    const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } }
    user.exec = {
      ...user.exec,
      ...(command && /[\\/]/.test(command) && { command: path.resolve(folder, command) }),
      env: [
        ...Object.entries(env).map(([name, value = '']) => ({ name, value })),
        ...(user.exec.env ?? []),
        { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }
      ]
    }
  }
}
