import { CHART_BITS, LINE_UNIT_MS } from '../kernel/assembly/layout.js'
import { bucketOf, countAt, valueOf, type CountedRuns } from './histogram.js'
import { grow } from '../typed-arrays.js'
import type { TimeLineScan } from './scan-result.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/** Ten minutes in seconds; a run that starts within a second touches one more bucket. */
export const MAX_BUCKETS = 601
const FIRST_TIMES = 256
const NO_TIMES = new Uint32Array(0)

/** Keeps a bounded number of buckets for a run of unknown length: if there are too few, they become twice as wide. */
export class TimeLine {
  bucketMs: number = LINE_UNIT_MS
  /** Number of the bucket in slot 0. */
  #base = 0
  #span = 0
  /** Slot to record + 1: records are numbered as they are added, so that slots can move. */
  #slots = new Int32Array(MAX_BUCKETS)
  readonly #samples = new Float64Array(MAX_BUCKETS)
  readonly #failures = new Float64Array(MAX_BUCKETS)
  readonly #threads = new Float64Array(MAX_BUCKETS).fill(-1)
  /** By record: counts of the times in each bucket, up to the largest. */
  readonly #times: Uint32Array[] = []
  // Rows are roughly ordered by time: nearly always the next bucket is the same as the last one.
  #currentFromMs = 0
  #currentToMs = 0
  #current = 0

  /** Counts a sample where it ended; `threads` and `elapsedMs` are -1 if the row does not have them. */
  add(endMs: number, elapsedMs: number, isFailure: number, threads: number): void {
    this.#count(endMs, 1, isFailure, threads)
    if (elapsedMs < 0) return
    const bucket = bucketOf(elapsedMs, CHART_BITS)
    this.#timesOf(this.#current, bucket + 1)[bucket]! += 1
  }

  /** Where the first bucket begins; undefined if there is none. */
  get startMs(): number | undefined {
    return this.#span === 0 ? undefined : this.#base * this.bucketMs
  }

  /** Adds a bucket that was counted elsewhere and is no wider than those here; `times` are counts in the chart's buckets. */
  absorb(atMs: number, samples: number, failures: number, threads: number, times: Int32Array): void {
    this.#count(atMs, samples, failures, threads)
    let size = times.length
    while (size > 0 && times[size - 1] === 0) size--
    const own = this.#timesOf(this.#current, size)
    for (let bucket = 0; bucket < size; bucket++) own[bucket]! += times[bucket]!
  }

  #count(atMs: number, samples: number, failures: number, threads: number): void {
    if (atMs < this.#currentFromMs || atMs >= this.#currentToMs) this.#moveTo(atMs)
    const record = this.#current
    this.#samples[record]! += samples
    this.#failures[record]! += failures
    if (threads > this.#threads[record]!) this.#threads[record] = threads
  }

  toScan(): TimeLineScan {
    const order: number[] = []
    const buckets: number[] = []
    for (let slot = 0; slot < this.#span; slot++) {
      if (this.#slots[slot] === 0) continue
      order.push(this.#slots[slot]! - 1)
      buckets.push(this.#base + slot)
    }
    const inOrder = (list: Float64Array) => Float64Array.from(order, (record) => list[record]!)
    return {
      bucketMs: this.bucketMs,
      buckets: Float64Array.from(buckets),
      samples: inOrder(this.#samples),
      failures: inOrder(this.#failures),
      threads: inOrder(this.#threads),
      times: toRuns(order.map((record) => this.#times[record]!))
    }
  }

  #timesOf(record: number, size: number): Uint32Array {
    const times = this.#times[record]!
    if (times.length >= size) return times
    return (this.#times[record] = grow(times, new Uint32Array(Math.max(FIRST_TIMES, size, times.length * 2))))
  }

  #moveTo(endMs: number): void {
    let bucket = Math.floor(endMs / this.bucketMs)
    if (this.#span === 0) this.#base = bucket
    const first = Math.min(bucket, this.#base)
    const last = Math.max(bucket, this.#base + this.#span - 1)
    if (last - first >= MAX_BUCKETS) {
      this.#widen(first, last)
      bucket = Math.floor(endMs / this.bucketMs)
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
    this.#claim(slot)
    this.#current = this.#slots[slot]! - 1
    this.#currentFromMs = bucket * this.bucketMs
    this.#currentToMs = this.#currentFromMs + this.bucketMs
  }

  /** Widens the buckets until `first` to `last`, counted in the current width, fit. */
  #widen(first: number, last: number): void {
    let factor = 2
    while (Math.floor(last / factor) - Math.floor(first / factor) >= MAX_BUCKETS) factor *= 2
    const old = this.toScan()
    this.bucketMs *= factor
    this.#slots = new Int32Array(MAX_BUCKETS)
    this.#samples.fill(0)
    this.#failures.fill(0)
    this.#threads.fill(-1)
    this.#times.length = 0
    this.#base = Math.floor(old.buckets[0]! / factor)
    const records = Array.from(old.buckets, (bucket) => {
      const slot = Math.floor(bucket / factor) - this.#base
      this.#claim(slot)
      this.#span = slot + 1
      return this.#slots[slot]! - 1
    })
    records.forEach((record, index) => {
      this.#samples[record]! += old.samples[index]!
      this.#failures[record]! += old.failures[index]!
      this.#threads[record] = Math.max(this.#threads[record]!, old.threads[index]!)
    })
    const { offsets, values } = old.times
    records.forEach((record, run) => {
      for (let i = offsets[run]!; i < offsets[run + 1]!; i++) {
        const bucket = bucketOf(values[i]!, CHART_BITS)
        this.#timesOf(record, bucket + 1)[bucket]! += countAt(old.times, i, offsets[run]!)
      }
    })
  }

  #claim(slot: number): void {
    if (this.#slots[slot] === 0) this.#slots[slot] = this.#times.push(NO_TIMES)
  }
}

/** One run per table: how often each time of the chart's buckets was counted. */
export function toRuns(tables: readonly Uint32Array[]): CountedRuns {
  let size = 0
  for (const table of tables) for (const count of table) if (count > 0) size++
  const [values, upTo] = [new Uint32Array(size), new Uint32Array(size)]
  const offsets = new Uint32Array(tables.length + 1)
  let next = 0
  tables.forEach((table, run) => {
    let total = 0
    for (let bucket = 0; bucket < table.length; bucket++) {
      if (table[bucket] === 0) continue
      values[next] = valueOf(bucket, CHART_BITS)
      upTo[next++] = total += table[bucket]!
    }
    offsets[run + 1] = next
  })
  return { offsets, values, upTo }
}

/** How long a bucket of a tidy CSV lasts, unless it has shorter ones. */
const LONGEST_BUCKET_MS = 15_000

export function bucketWidthMs(timesMs: Iterable<number>): number {
  const times = [...new Set(timesMs)].sort((one, other) => one - other)
  return times.reduce(
    (width, atMs, i) => Math.min(width, atMs - (times[i - 1] ?? -Infinity)),
    LONGEST_BUCKET_MS
  )
}
