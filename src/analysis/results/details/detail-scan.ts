import type { CountedRuns } from '../counts/histogram.js'

/** The axis of a series in the time of one run; everything of it is known from the first reading. */
interface DetailAxis {
  /** Where the first bucket begins, in epoch ms of the run's own rows. */
  readonly originMs: number
  readonly bucketMs: number
  readonly buckets: number
  /** How many buckets are one in the series of a label. */
  readonly bucketsALabelBucket: number
}

/** What a second reading of a CSV looks for. */
export interface DetailOptions {
  readonly axis: DetailAxis
  /** Whether the first reading found any; without them, nothing depends on the rows before one. */
  readonly hasTransactions: boolean
  /** Those with a series of their own. */
  readonly labels: readonly string[]
  /** Those whose first failed samples are kept. */
  readonly errors: readonly WantedError[]
}

export interface WantedError {
  readonly label: string
  readonly code: string
  readonly message: string
}

/** Of one bucket each, but for the codes and the times. */
export interface DetailLineScan {
  readonly samples: Float64Array
  readonly failures: Float64Array
  /** One run per bucket. */
  readonly times: CountedRuns
  readonly codes: readonly { readonly code: string | undefined; readonly counts: Float64Array }[]
  /** How many samples have the parts of their time, and the sums of these. */
  readonly timed: Float64Array
  readonly connectMs: Float64Array
  readonly ttfbMs: Float64Array
  readonly downloadMs: Float64Array
  readonly received: Float64Array
  readonly sent: Float64Array
}

export interface FailedSample {
  readonly atMs: number
  readonly elapsedMs: number
  readonly thread: string
  readonly url?: string
}

export interface PartDetails {
  readonly overall: DetailLineScan
  /** In the order of the labels asked for; undefined for one without samples. */
  readonly labels: readonly (DetailLineScan | undefined)[]
  /** In the order of the errors asked for: the samples that started first. */
  readonly failures: readonly (readonly FailedSample[])[]
}
