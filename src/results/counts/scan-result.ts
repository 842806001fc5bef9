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

/** Failed rows by label, response code and message; `rest` holds those of a label that were too various to be kept apart. */
export interface PartErrors {
  readonly counts: readonly {
    readonly label: string
    readonly code: string
    readonly message: string
    readonly count: number
  }[]
  readonly rest: readonly { readonly label: string; readonly count: number }[]
}

/** Rows of a stretch of a CSV. Cells are numbered `label * 2 + outcome`: outcome 0 is a success, 1 a failure. */
export interface SamplePart {
  /** Whether the rows count in the overall figures, or only under their labels: those of transactions whose requests count. */
  readonly counts: boolean
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
  readonly line: TimeLineScan
  readonly errors: PartErrors
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
  /** How many of them were left out because they start too early. */
  readonly earlyRows: number
  /** The first few, in the order of the rows. */
  readonly problems: readonly RowProblem[]
  readonly problemCount: number
  /** One or more for each stretch that was scanned on its own. */
  readonly parts: readonly SamplePart[]
  readonly buckets: readonly TidyBucket[]
  /** Whether there are rows of transaction controllers, of which no stretch can be understood without the others. */
  readonly hasTransactions: boolean
}

export const CELLS_A_LABEL = 2
