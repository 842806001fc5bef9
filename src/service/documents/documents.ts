/** The service's resources as the rest of the project sees them; the names are ours, the meanings those of the API document. */
export interface GridNode {
  readonly address: string | undefined
  readonly state: string | undefined
}

export interface Grid {
  readonly id: string
  readonly name: string | undefined
  readonly region: string
  readonly origin: string | undefined
  readonly nodeCount: number | undefined
  readonly instanceType: string | undefined
  readonly infrastructure: string | undefined
  readonly stopAfterMinutes: number | undefined
  readonly status: string
  readonly nodes: readonly GridNode[]
}

export interface ResultLink {
  readonly name: string | undefined
  readonly region: string | undefined
  /** Empty if the service gave none. */
  readonly href: string
}

/** A node of a run's grid, as the embedded service describes it; null is unknown. */
export interface RunNode {
  readonly grid: string
  readonly region: string
  /** Among the nodes of its grid, from 1. */
  readonly number: number
  /** `this machine`, or a pod and where it was scheduled. */
  readonly place: string
  readonly startedMs: number | null
  readonly rows: number | null
  /** When its first sample started and its last one ended; absent if the service does not say. */
  readonly firstSampleMs?: number
  readonly lastSampleMs?: number
  readonly threads: number | null
  /** In cores. */
  readonly cpuLimit: number | null
  readonly restarts: number | null
  /** The part of the run, from 0 to 1, in which its CPU was throttled. */
  readonly throttled: number | null
  /** Its clock minus the service's. */
  readonly clockOffsetMs: number
  /** What of its load was lost, in a sentence. */
  readonly lost: string | null
}

export interface Run {
  readonly id: string
  readonly status: string
  /** As sent; null if there is none. It is parsed where it is judged. */
  readonly apdex: string | null
  readonly tool: string | undefined
  readonly name: string | undefined
  readonly notes: string | undefined
  readonly threads: number | undefined
  readonly rampupSeconds: number | undefined
  readonly durationSeconds: number | undefined
  readonly tags: readonly string[]
  readonly permalink: string | undefined
  /** As text, whatever its type; undefined when there are none. */
  readonly remoteErrors: string | undefined
  readonly startedMs: number | undefined
  readonly stoppedMs: number | undefined
  readonly grids: readonly Grid[]
  /** What is wrong with grid entries that have no id, so that their results cannot be found. */
  readonly oddGrids?: readonly string[]
  readonly files: readonly string[]
  readonly results: readonly ResultLink[]
  /** From 1, while it waits for other runs; absent where the service does not say so. */
  readonly queuePosition?: number
  /** Where its load came from; only the embedded service says so. */
  readonly nodes?: readonly RunNode[]
}

export interface RunPage {
  readonly runs: readonly Run[]
  /** How many entries had no id. */
  readonly leftOut: number
  readonly total: number | undefined
  /** The link to the next page, if there is one. */
  readonly next: string | undefined
}

export interface Report {
  /** Undefined if the service has no text there, or not yet. */
  readonly summary: string | undefined
  /** Figures that real services send with the summary; shown, never judged. */
  readonly means: Readonly<Record<string, number>>
  /** True if the embedded service generated synthetic samples instead of load. */
  readonly rehearsal: boolean
  /** What to know when reading the figures; only the embedded service says so. */
  readonly warnings: readonly string[]
}

export interface User {
  readonly id: number | undefined
  readonly email: string | undefined
  /** A secret: masked and redacted wherever an account is shown. */
  readonly authenticationToken: string | undefined
  readonly signInCount: number | undefined
  readonly lastSignIn: string | undefined
}

export interface Credential {
  readonly id: number | undefined
  readonly provider: string | undefined
  readonly description: string | undefined
  readonly arn: string | undefined
  readonly accessKeyId: string | undefined
}

export interface Account {
  readonly email: string | undefined
  readonly users: readonly User[]
  readonly credentials: readonly Credential[]
}
