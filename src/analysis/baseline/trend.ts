/** The last runs of the branch, and this one. */
export interface Trend {
  readonly branch: string
  /** Oldest first. */
  readonly points: readonly TrendPoint[]
  /** Where the next run is expected, per figure; absent if nothing is comparable. */
  readonly bands: { readonly p95Ms?: Band; readonly throughput?: Band; readonly errorRate?: Band }
}

export interface TrendPoint {
  readonly atMs: number
  readonly commit: string
  readonly runId: string
  /** Why the run is not part of the baseline; undefined if it is. */
  readonly unusable: string | undefined
  /** The run that was just judged. */
  readonly isHead: boolean
  /** The fingerprint differs from that of the point before: there is a gap between them. */
  readonly isAfterChange: boolean
  readonly p95Ms: number | undefined
  readonly throughput: number | undefined
  readonly errorRate: number | undefined
}

/** In base units. */
export interface Band {
  readonly low: number
  readonly centre: number
  readonly high: number
}
