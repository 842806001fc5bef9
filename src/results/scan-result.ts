import type { CountedRuns } from './histogram.js'

/** A row that could not be read; rows are counted from 1, the header aside. Row 0 stands for the file as a whole. */
export interface RowProblem {
  readonly row: number
  readonly text: string
}

/** What happened over time, in buckets aligned to whole multiples of `bucketMs` since the epoch. */
export interface TimeLineScan {
  readonly bucketMs: number
  /** Numbers of the buckets that hold a sample, ascending: bucket `n` starts at `n * bucketMs`. */
  readonly buckets: Float64Array
  readonly samples: Float64Array
  readonly failures: Float64Array
  /** The most threads seen in the bucket; -1 when no row said. */
  readonly threads: Float64Array
  readonly times: CountedRuns
}

/**
 * Samples of a stretch of a CSV. Cells are numbered `label * 4 + kind * 2 + outcome`: kind 0 is a request, 1 the row of a
 * transaction controller; outcome 0 is a success, 1 a failure.
 */
export interface SamplePart {
  readonly labels: readonly string[]
  readonly hasLabels: boolean
  readonly hasElapsed: boolean
  readonly hasTimes: boolean
  /** Infinity and -Infinity when no row has a time. */
  readonly startMs: number
  readonly endMs: number
  readonly sums: Float64Array
  readonly minima: Uint32Array
  readonly maxima: Uint32Array
  readonly times: CountedRuns
  readonly requests: TimeLineScan
  readonly transactions: TimeLineScan
}

/** The counts of one label of a tidy CSV in one bucket; NaN where the CSV has no such row. */
export interface TidyBucket {
  readonly atMs: number
  readonly label: string
  readonly passed: number
  readonly failed: number
  readonly responseMs: number
  readonly users: number
}

/** All that was learnt from one CSV; plain data, so that it can come from another thread. */
export interface ScanResult {
  readonly grid: string
  readonly region: string
  readonly shape: 'samples' | 'tidy' | 'unknown'
  readonly header: string
  readonly rows: number
  /** The first few, in the order of the rows. */
  readonly problems: readonly RowProblem[]
  readonly problemCount: number
  /** One for each stretch that was scanned on its own. */
  readonly parts: readonly SamplePart[]
  readonly buckets: readonly TidyBucket[]
}

export const REQUEST = 0
export const TRANSACTION = 1
export const CELLS_A_LABEL = 4
