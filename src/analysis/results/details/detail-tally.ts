/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { MOST_SAMPLES_AN_ERROR } from '../../../contract/verdict/limits.js'
import { bucketOf } from '../counts/histogram.js'
import { toRuns } from '../counts/time-line.js'
import * as layout from '../kernel/assembly/layout.js'
import type { KernelBucket, KernelDetails } from '../kernel/kernel-details.js'
import { grow } from '../typed-arrays.js'
import type { DetailLineScan, DetailOptions, FailedSample, PartDetails } from './detail-scan.js'

/** What one row says besides its label, time and outcome. */
export interface RowDetails {
  /** Its response code, by number. */
  code: number
  /** -1 if the row does not say; otherwise neither is larger than the response time, nor the first than the second. */
  connectMs: number
  latencyMs: number
  received: number
  sent: number
}

/** Of a row that is counted later. */
export interface KeptDetails {
  readonly row: RowDetails
  readonly failed: FailedSample | undefined
}

/** How the rows of a CSV name what is asked for: each part of the CSV has a tally of its own, and all share this. */
export interface DetailNames {
  /** The index of a label among those asked for; -1 if it is not one of them. */
  labelIndex(label: number): number
  /** The index of an error among those asked for; -1 as well. */
  errorIndex(label: number, reason: string): number
  /** Undefined for those that are not told apart. */
  readonly codeOf: (code: number) => string | undefined
}

const FIRST_TIMES = 128
const NO_TIMES = new Uint32Array(0)

class DetailLine {
  readonly #buckets: number
  /** Counts of the times in each bucket, up to the largest. */
  readonly #times: Uint32Array[]
  readonly #codes: (Float64Array | undefined)[] = []
  readonly #sums: Omit<DetailLineScan, 'times' | 'codes'>

  constructor(buckets: number) {
    this.#buckets = buckets
    this.#times = Array.from({ length: buckets }, () => NO_TIMES)
    const zeros = () => new Float64Array(buckets)
    this.#sums = {
      ...{ samples: zeros(), failures: zeros(), timed: zeros(), received: zeros(), sent: zeros() },
      ...{ connectMs: zeros(), ttfbMs: zeros(), downloadMs: zeros() }
    }
  }

  add(at: number, elapsedMs: number, outcome: number, row: RowDetails): void {
    const sums = this.#sums
    sums.samples[at]!++
    sums.failures[at]! += outcome
    if (elapsedMs >= 0) this.#countTime(at, bucketOf(elapsedMs, layout.CHART_BITS))
    const counts = (this.#codes[row.code] ??= new Float64Array(this.#buckets))
    counts[at]!++
    sums.received[at]! += row.received
    sums.sent[at]! += row.sent
    if (row.connectMs < 0) return
    sums.timed[at]!++
    sums.connectMs[at]! += row.connectMs
    sums.ttfbMs[at]! += row.latencyMs - row.connectMs
    sums.downloadMs[at]! += elapsedMs - row.latencyMs
  }

  absorb(at: number, { sums, codes, times }: KernelBucket): void {
    const own = this.#sums
    own.samples[at]! += sums[layout.SUM_SAMPLES]!
    own.failures[at]! += sums[layout.SUM_FAILURES]!
    own.timed[at]! += sums[layout.SUM_TIMED]!
    own.connectMs[at]! += sums[layout.SUM_CONNECT]!
    own.ttfbMs[at]! += sums[layout.SUM_TTFB]!
    own.downloadMs[at]! += sums[layout.SUM_DOWNLOAD]!
    own.received[at]! += sums[layout.SUM_RECEIVED]!
    own.sent[at]! += sums[layout.SUM_SENT]!
    for (const [code, count] of codes.entries()) {
      if (count === 0) continue
      const counts = (this.#codes[code] ??= new Float64Array(this.#buckets))
      counts[at]! += count
    }
    for (let time = 0; time < times.length; time++)
      if (times[time] !== 0) this.#countTime(at, time, times[time])
  }

  #countTime(at: number, time: number, count = 1): void {
    const times = this.#times[at]!
    if (time >= times.length)
      this.#times[at] = grow(times, new Uint32Array(Math.max(FIRST_TIMES, time + 1, times.length * 2)))
    this.#times[at]![time]! += count
  }

  toScan(codeOf: DetailNames['codeOf']): DetailLineScan {
    return {
      ...this.#sums,
      times: toRuns(this.#times),
      codes: this.#codes.flatMap((counts, code) =>
        counts === undefined ? [] : [{ code: codeOf(code), counts }]
      )
    }
  }
}

/** Counts the details of some rows of a CSV, in buckets that are known beforehand. */
export class DetailTally {
  readonly #options: DetailOptions
  readonly #names: DetailNames
  readonly #overall: DetailLine
  readonly #labels: (DetailLine | undefined)[]
  readonly #failures: FailedSample[][]

  constructor(options: DetailOptions, names: DetailNames) {
    this.#options = options
    this.#names = names
    this.#overall = new DetailLine(options.axis.buckets)
    this.#labels = options.labels.map(() => undefined)
    this.#failures = options.errors.map(() => [])
  }

  /** Counts a row where it ended, like the series. One elsewhere was not in the first reading: its samples will not add up. */
  add(label: number, endMs: number, elapsedMs: number, outcome: number, row: RowDetails): void {
    const { originMs, bucketMs, buckets, bucketsALabelBucket } = this.#options.axis
    const at = Math.floor((endMs - originMs) / bucketMs)
    if (!(at >= 0 && at < buckets)) return
    this.#overall.add(at, elapsedMs, outcome, row)
    const index = this.#names.labelIndex(label)
    if (index < 0) return
    this.#lineOf(index).add(Math.floor(at / bucketsALabelBucket), elapsedMs, outcome, row)
  }

  /** Adds what the kernel has counted. */
  absorb(kernel: KernelDetails): void {
    kernel.moveTo((label, at, bucket) => {
      const line = label === undefined ? this.#overall : this.#lineOf(label)
      line.absorb(at, bucket)
    })
  }

  #lineOf(label: number): DetailLine {
    const { buckets, bucketsALabelBucket } = this.#options.axis
    return (this.#labels[label] ??= new DetailLine(Math.ceil(buckets / bucketsALabelBucket)))
  }

  /** Keeps a failed row if it is among the first of its error. */
  addFailure(label: number, reason: string, startMs: number, read: () => FailedSample): void {
    const kept = this.#failures[this.#names.errorIndex(label, reason)]
    if (kept === undefined) return
    if (kept.length === MOST_SAMPLES_AN_ERROR && kept.at(-1)!.atMs <= startMs) return
    const after = kept.findIndex(({ atMs }) => atMs > startMs)
    kept.splice(after < 0 ? kept.length : after, 0, read())
    kept.length = Math.min(kept.length, MOST_SAMPLES_AN_ERROR)
  }

  toScan(): PartDetails {
    const { codeOf } = this.#names
    return {
      overall: this.#overall.toScan(codeOf),
      labels: this.#labels.map((line) => line?.toScan(codeOf)),
      failures: this.#failures
    }
  }
}
