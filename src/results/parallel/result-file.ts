/** A complete CSV on disk, and what to read of it. */
export interface ResultFile {
  readonly path: string
  readonly grid: string
  readonly region: string
  /** Rows that start before it are left out. */
  readonly countFromMs?: number
  /** The same for rows that start after it. */
  readonly countToMs?: number
  /** The labels that have figures over time of their own, as the literal pieces between the `*` of patterns. */
  readonly stallLabels?: readonly (readonly string[])[]
}
