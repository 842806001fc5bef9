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
