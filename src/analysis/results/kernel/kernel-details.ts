import type { SampleColumns } from '../csv/header.js'
import type { DetailOptions } from '../details/detail-scan.js'
import * as layout from './assembly/layout.js'
import type { KernelExports, KernelMemory } from './kernel-module.js'

/** One bucket as the kernel has counted it; views that are only valid until it counts on. */
export interface KernelBucket {
  /** By the numbers of layout.ts. */
  readonly sums: Float64Array
  readonly codes: Int32Array
  readonly times: Int32Array
}

/** Takes the counts of a bucket: `label` is the index of the label, or undefined for all rows. */
type TakeBucket = (label: number | undefined, at: number, bucket: KernelBucket) => void

/** Whether the kernel can count what a second reading looks for: what it cannot is read row by row. */
export function canCountDetails(at: SampleColumns, { hasTransactions, axis }: DetailOptions): boolean {
  const needed = [at.timeStamp, at.elapsed, at.label, at.responseCode]
  return !hasTransactions && !needed.some((column) => column < 0) && Number.isSafeInteger(axis.originMs)
}

/** What the kernel counts of the rows of a second reading. */
export class KernelDetails {
  readonly #exports: KernelExports
  readonly #memory: KernelMemory
  readonly #options: DetailOptions
  readonly #labelBuckets: number
  readonly #slots: number
  readonly #times: number

  constructor(exports: KernelExports, memory: KernelMemory, at: SampleColumns, options: DetailOptions) {
    this.#exports = exports
    this.#memory = memory
    this.#options = options
    const { originMs, bucketMs, buckets, bucketsALabelBucket } = options.axis
    this.#labelBuckets = Math.ceil(buckets / bucketsALabelBucket)
    exports.setDetailColumns(at.responseCode, at.bytes, at.sentBytes, at.latency, at.connect)
    const { length } = options.labels
    this.#slots = exports.startDetails(BigInt(originMs), bucketMs, buckets, bucketsALabelBucket, length)
    this.#times = exports.detailTimes()
  }

  learnCode(start: number, end: number, code: number): void {
    this.#exports.learnCode(start, end, code)
  }

  /** Hands over what was counted since the last time. */
  moveTo(take: TakeBucket): void {
    const { buckets } = this.#options.axis
    for (let at = 0; at < buckets; at++) this.#move(at, (bucket) => take(undefined, at, bucket))
    for (const label of this.#options.labels.keys())
      for (let at = 0; at < this.#labelBuckets; at++)
        this.#move(buckets + label * this.#labelBuckets + at, (bucket) => take(label, at, bucket))
  }

  #move(slot: number, take: (bucket: KernelBucket) => void): void {
    const { ints } = this.#memory
    const at = this.#slots + slot * layout.DETAIL_SLOT_BYTES
    const sums = new Float64Array(ints.buffer, at, layout.DETAIL_SUMS)
    if (sums[layout.SUM_SAMPLES] === 0) return
    const codesAt = (at + layout.DETAIL_CODES_AT) / 4
    const codes = ints.subarray(codesAt, codesAt + layout.DETAIL_CODES)
    const timesAt = (this.#times + slot * layout.LINE_TIMES_BYTES) / 4
    const times = ints.subarray(timesAt, timesAt + layout.LINE_TIMES_BYTES / 4)
    take({ sums, codes, times })
    for (const counts of [sums, codes, times]) counts.fill(0)
  }
}
