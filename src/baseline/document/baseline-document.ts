import type { Fingerprint } from './fingerprint.js'

/** Raised when a reader of the old format would misread the new one. */
export const BASELINE_SCHEMA = 1

/** What can be asked of any recorded run; other percentiles come from histograms. */
export const RECORDED_PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const

export const MOST_RUNS = 50
export const MOST_RUNS_WITH_HISTOGRAMS = 10

/** A document that cannot be used. The message says why, and what to do. */
export class BaselineDocumentError extends Error {
  override name = 'BaselineDocumentError'

  /** The problem alone is for files that may be anything: nobody should be told to remove those. */
  constructor(
    readonly problem: string,
    { advice, cause }: { readonly advice?: string; readonly cause?: unknown } = {}
  ) {
    super(advice === undefined ? problem : `${problem} ${advice}`, { cause })
  }
}

/** The recorded runs of a branch, described by `schema/baseline.schema.json`. */
export interface BaselineDocument {
  readonly schema: typeof BASELINE_SCHEMA
  readonly branch: string
  /** Oldest first. */
  readonly runs: readonly RecordedRun[]
}

export interface RecordedRun {
  readonly commit: string
  readonly runId: string
  /** When the run started, by the service or this machine. */
  readonly atMs: number
  /** Why the run cannot be part of a baseline; null if it can. */
  readonly unusable: string | null
  readonly fingerprint: Fingerprint
  readonly apdex: { readonly score: number; readonly targetMs: number } | null
  readonly scopes: readonly RecordedScope[]
}

/** The figures of a scope: overall without `label` and `region`. */
export interface RecordedScope {
  readonly label?: string
  readonly region?: string
  /** A threshold names the label: such scopes are the last to be dropped when the document is too large. */
  readonly named?: true
  readonly samples: number
  readonly failures: number
  readonly meanMs: number | null
  /** Computed with the target of the run's own apdex. */
  readonly apdex: number | null
  readonly throughput: number | null
  /** By percent: 50, 75, 90, 95, 99 and 99.9. */
  readonly percentilesMs: Readonly<Record<string, number>>
  /** For figures over time; absent where they are not known. */
  readonly overTime?: RecordedOverTime
  /** Only in the newest runs: distinct times (rounded) in ascending order, and how many samples had each. */
  readonly histogram?: RecordedHistogram
}

export interface RecordedOverTime {
  /** From the first start to the last end. */
  readonly spanMs: number
  /** How long the longest stalls were, descending. */
  readonly stallsMs: readonly number[]
}

export interface RecordedHistogram {
  readonly valuesMs: readonly number[]
  readonly counts: readonly number[]
  /** How many of them failed; absent if none did. */
  readonly failed?: readonly number[]
}

export function withoutHistogram(scope: RecordedScope): RecordedScope {
  const bare: { -readonly [Key in keyof RecordedScope]: RecordedScope[Key] } = { ...scope }
  delete bare.histogram
  return bare
}

/** The two keys of a recorded scope as one; JSON keeps any two labels apart. */
export function scopeKey({
  label,
  region
}: {
  label?: string | undefined
  region?: string | undefined
}): string {
  return JSON.stringify([label ?? null, region ?? null])
}
