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
