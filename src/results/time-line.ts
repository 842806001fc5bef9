/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { Histogram } from './histogram.js'
import type { TimeLineScan } from './scan-result.js'

const FIRST_BUCKET_MS = 1000
/** Ten minutes by the second; a run that starts within a second touches one bucket more. */
export const MAX_BUCKETS = 601
/** A chart needs no more than half a percent. */
const CHART_BITS = 9

/** Keeps a bounded number of buckets for a run of unknown length: when they do not suffice, they become twice as wide. */
export class TimeLine {
  #bucketMs = FIRST_BUCKET_MS
  /** Number of the bucket that slot 0 stands for. */
  #base = 0
  #span = 0
  /** Slot to record + 1: records are numbered as they come, so that slots can be moved. */
  #slots = new Int32Array(MAX_BUCKETS)
  #records = 0
  readonly #samples = new Float64Array(MAX_BUCKETS)
  readonly #failures = new Float64Array(MAX_BUCKETS)
  readonly #threads = new Float64Array(MAX_BUCKETS).fill(-1)
  #times = new Histogram(CHART_BITS)
  // Rows come roughly in order of time: nearly always the last bucket is the next one.
  #currentFromMs = 0
  #currentToMs = 0
  #current = 0

  /** Counts a sample where it ended; `threads` is -1 and `elapsedMs` is -1 when the row does not say. */
  add(endMs: number, elapsedMs: number, isFailure: number, threads: number): void {
    if (endMs < this.#currentFromMs || endMs >= this.#currentToMs) this.#moveTo(endMs)
    const record = this.#current
    this.#samples[record]! += 1
    this.#failures[record]! += isFailure
    if (threads > this.#threads[record]!) this.#threads[record] = threads
    if (elapsedMs >= 0) this.#times.add(record, elapsedMs)
  }

  toScan(): TimeLineScan {
    const order: number[] = []
    const buckets: number[] = []
    for (let slot = 0; slot < this.#span; slot++) {
      if (this.#slots[slot] === 0) continue
      order.push(this.#slots[slot]! - 1)
      buckets.push(this.#base + slot)
    }
    const sorted = new Histogram(CHART_BITS)
    const rank = new Map(order.map((record, index) => [record, index]))
    sorted.absorb(this.#times.toRuns(this.#records), (record) => rank.get(record)!)
    const inOrder = (list: Float64Array) => Float64Array.from(order, (record) => list[record]!)
    return {
      bucketMs: this.#bucketMs,
      buckets: Float64Array.from(buckets),
      samples: inOrder(this.#samples),
      failures: inOrder(this.#failures),
      threads: inOrder(this.#threads),
      times: sorted.toRuns(order.length)
    }
  }

  #moveTo(endMs: number): void {
    let bucket = Math.floor(endMs / this.#bucketMs)
    if (this.#span === 0) this.#base = bucket
    const first = Math.min(bucket, this.#base)
    const last = Math.max(bucket, this.#base + this.#span - 1)
    if (last - first >= MAX_BUCKETS) {
      this.#widen(first, last)
      bucket = Math.floor(endMs / this.#bucketMs)
    }
    if (bucket < this.#base) {
      const shift = this.#base - bucket
      this.#slots.copyWithin(shift, 0, this.#span)
      this.#slots.fill(0, 0, Math.min(shift, MAX_BUCKETS))
      this.#base = bucket
      this.#span += shift
    }
    const slot = bucket - this.#base
    this.#span = Math.max(this.#span, slot + 1)
    if (this.#slots[slot] === 0) this.#slots[slot] = ++this.#records
    this.#current = this.#slots[slot]! - 1
    this.#currentFromMs = bucket * this.#bucketMs
    this.#currentToMs = this.#currentFromMs + this.#bucketMs
  }

  /** Makes the buckets so wide that `first` to `last`, counted in today's width, fit. */
  #widen(first: number, last: number): void {
    let factor = 2
    while (Math.floor(last / factor) - Math.floor(first / factor) >= MAX_BUCKETS) factor *= 2
    const old = this.toScan()
    this.#bucketMs *= factor
    this.#slots = new Int32Array(MAX_BUCKETS)
    this.#samples.fill(0)
    this.#failures.fill(0)
    this.#threads.fill(-1)
    this.#times = new Histogram(CHART_BITS)
    this.#records = 0
    this.#base = Math.floor(old.buckets[0]! / factor)
    const records = Array.from(old.buckets, (bucket) => {
      const slot = Math.floor(bucket / factor) - this.#base
      if (this.#slots[slot] === 0) this.#slots[slot] = ++this.#records
      this.#span = slot + 1
      return this.#slots[slot]! - 1
    })
    records.forEach((record, index) => {
      this.#samples[record]! += old.samples[index]!
      this.#failures[record]! += old.failures[index]!
      this.#threads[record] = Math.max(this.#threads[record]!, old.threads[index]!)
    })
    this.#times.absorb(old.times, (run) => records[run]!)
  }
}
