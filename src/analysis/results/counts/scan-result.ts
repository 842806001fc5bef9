import type { VerdictDocument } from '../../../contract/verdict.js'
import type { DetailOptions, PartDetails } from '../details/detail-scan.js'
import type { StallScan } from '../stalls/stall-tracker.js'
import type { CountedRuns } from './histogram.js'

/** A row that could not be read; rows are counted from 1, without the header. Row 0 is the file as a whole. */
export interface RowProblem {
  readonly row: number
  readonly text: string
}

/** The time line, in buckets aligned to whole multiples of `bucketMs` since the epoch. */
export interface TimeLineScan {
  readonly bucketMs: number
  /** Numbers of the buckets with samples, ascending: bucket `n` starts at `n * bucketMs`. */
  readonly buckets: Float64Array
  readonly samples: Float64Array
  readonly failures: Float64Array
  /** The maximum number of threads in the bucket; -1 if no row has one. */
  readonly threads: Float64Array
  readonly times: CountedRuns
}

/** Failed rows by label, response code and message; `rest` has those of a label that were too many to keep apart. */
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
  /** Whether the rows count in the overall figures, or only under their labels (transactions whose requests count). */
  readonly counts: boolean
  /** The rows are those of setUp and tearDown groups: no part of the load, nor of the time that it took. */
  readonly isAside?: true
  readonly labels: readonly string[]
  readonly hasLabels: boolean
  readonly hasElapsed: boolean
  readonly hasTimes: boolean
  /** Infinity and -Infinity if no row has a time. */
  readonly startMs: number
  readonly endMs: number
  readonly samples: Float64Array
  readonly sums: Float64Array
  readonly minima: Uint32Array
  readonly maxima: Uint32Array
  readonly times: readonly CountedRuns[]
  readonly line: TimeLineScan
  readonly errors: PartErrors
  readonly stalls: PartStalls
  /** Only of a second reading. */
  readonly details?: PartDetails
}

/** What stalls are found by; empty where rows have no start or no elapsed time. */
export interface PartStalls {
  /** Stalls of all rows, in one or more pieces. */
  readonly overall: readonly StallScan[]
  /** Stalls of the labels that have their own figures over time. */
  readonly labels: ReadonlyMap<string, readonly StallScan[]>
  /** Whether times have fractions of a second. */
  readonly hasFineTimes: boolean
}

/** The counts of one label of a tidy CSV in one bucket; NaN if the CSV has no such row. */
export interface TidyBucket {
  readonly atMs: number
  readonly label: string
  readonly passed: number
  readonly failed: number
  readonly responseMs: number
  readonly users: number
}

export interface ScannerOptions {
  readonly grid: string
  readonly region: string
  /** Rows that start before it are read but not counted, and so are the buckets of a tidy CSV. */
  readonly countFromMs?: number
  /** The same for rows that start after it. */
  readonly countToMs?: number | undefined
  /** Rows that end before it are read but not counted: they only show which transactions the rows after them belong to. */
  readonly countEndsFromMs?: number
  /** Thread groups whose rows count for their labels only, by name. */
  readonly asideGroups?: readonly string[] | undefined
  /** Their rows that start before it are not counted; `countFromMs` if it is absent. No warm-up leaves them out. */
  readonly asideFromMs?: number
  /** The labels that have figures over time of their own, as the literal pieces between the `*` of patterns. */
  readonly stallLabels?: readonly (readonly string[])[]
  /** For a second reading. */
  readonly details?: DetailOptions | undefined
  /** For rows without a header of their own, as from the middle of a CSV. */
  readonly header?: Uint8Array
}

/** Everything read from one CSV; plain data, so that it can come from another thread. */
export interface ScanResult extends Omit<VerdictDocument['sources'][number], 'problems' | 'aside_groups'> {
  /** Digests of the first row, of the first two and so on: the same for CSVs that begin with the same rows. */
  readonly firstRows: readonly string[]
  /** Whether times are dates that do not say in which zone. */
  readonly isZoneless: boolean
  /** By how much its clock is ahead of the run's; absent where it is the same. */
  readonly clockMs?: number
  /** As in the scanner's options. */
  readonly asideGroups?: readonly string[] | undefined
  /** How many of them were left out because they start too early or too late; 0 for a tidy CSV, which leaves out buckets. */
  readonly earlyRows: number
  /** The first few, in row order. */
  readonly problems: readonly RowProblem[]
  readonly problemCount: number
  /** One or more per stretch that was scanned separately. */
  readonly parts: readonly SamplePart[]
  readonly buckets: readonly TidyBucket[]
  /** The duration of a tidy CSV's buckets, including those that were left out. */
  readonly bucketMs?: number
  /** Whether there are rows of transaction controllers, which can only be interpreted with the whole file. */
  readonly hasTransactions: boolean
}

export const CELLS_A_LABEL = 2

/** Without the rows of setUp and tearDown groups. */
export function partsOfLoad({ parts }: Pick<ScanResult, 'parts'>): SamplePart[] {
  return parts.filter(({ isAside }) => isAside !== true)
}
