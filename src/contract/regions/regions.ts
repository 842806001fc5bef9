/** Where the nodes of grids run, by the name of their region. */
export type Regions = ReadonlyMap<string, Place>

export type Place = { readonly kind: 'processes' } | KubernetesPlace

/** A namespace of a Kubernetes cluster, and how pods are placed in it. */
export interface KubernetesPlace {
  readonly kind: 'kubernetes'
  /** Of the kubeconfig; undefined for its current one. */
  readonly context: string | undefined
  /** Undefined for the context's. */
  readonly namespace: string | undefined
  /** Undefined for the project's own image of this version. */
  readonly image: string | undefined
  readonly serviceAccount: string | undefined
  readonly nodeSelector: Readonly<Record<string, string>>
  /** As in a pod's specification. */
  readonly tolerations: readonly Readonly<Record<string, string | number>>[]
  /** The names of secrets. */
  readonly imagePullSecrets: readonly string[]
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never' | undefined
  readonly hostNetwork: boolean
  /** What a node of an instance type gets, in Kubernetes' own quantities: requests and limits. */
  readonly instanceTypes: ReadonlyMap<string, { readonly cpu: string; readonly memory: string }>
  /** How long it may take until all pods of a grid run. */
  readonly startTimeoutMs: number
}

/** Where it is typed: within a cluster there is no kubeconfig. */
interface Address {
  readonly kubeconfig: string | undefined
  readonly context: string
  readonly namespace: string
}

/** What a person types to delete the Jobs with these labels, who has access to the cluster when this process has none. */
export function kubectlDelete({ kubeconfig, context, namespace }: Address, selector: string): string {
  const where = kubeconfig === undefined ? [] : ['--context', word(context)]
  return ['kubectl delete job', '-n', word(namespace), ...where, '-l', word(selector)].join(' ')
}

/** Names of contexts may contain anything; what needs no quotes is easier to read without. */
function word(text: string): string {
  return /^[\w.:/@=,-]+$/.test(text) ? text : quote(text)
}

/** One word of POSIX sh, whatever its characters. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
/** A region as part of a file name: regions come from services and settings, and may contain anything. */

export function regionName(region: string): string {
  return region.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'unknown'
}
