/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import type { CountedRuns } from './histogram.js'

/** One run of counted values. */
export interface Run {
  readonly runs: CountedRuns
  readonly index: number
}

/** Below this, values are summed in a plain table; those above are few. */
const TABLE_SIZE = 1 << 16
const table = new Float64Array(TABLE_SIZE)
const seen = new Uint32Array(TABLE_SIZE)

/** Distinct values in ascending order with the number of samples up to each. */
export class Distribution {
  readonly #values: Float64Array
  readonly #upTo: Float64Array

  private constructor(values: Float64Array, upTo: Float64Array) {
    this.#values = values
    this.#upTo = upTo
  }

  static of(runs: readonly Run[]): Distribution {
    const { values, counts } = sumRuns(runs)
    let total = 0
    for (let i = 0; i < counts.length; i++) counts[i] = total += counts[i]!
    return new Distribution(values, counts)
  }

  get total(): number {
    return this.#upTo.at(-1) ?? 0
  }

  /** How many samples are at most `value`. */
  countUpTo(value: number): number {
    const after = firstIndex(this.#values.length, (index) => this.#values[index]! > value)
    return after === 0 ? 0 : this.#upTo[after - 1]!
  }

  /** The smallest value that `percent` of the samples do not exceed (nearest rank). */
  percentile(percent: number): number | undefined {
    if (this.total === 0) return undefined
    // Products such as 99.9 * 1000 / 100 miss the whole number by a hair, and a rank would be skipped.
    const rank = Math.max(1, Math.ceil(Number(((percent * this.total) / 100).toPrecision(13))))
    return this.#values[firstIndex(this.#upTo.length - 1, (index) => this.#upTo[index]! >= rank)]
  }
}

function sumRuns(runs: readonly Run[]): { values: Float64Array; counts: Float64Array } {
  const large = new Map<number, number>()
  let size = 0
  for (const { runs: all, index } of runs) {
    for (let i = all.offsets[index]!; i < all.offsets[index + 1]!; i++) {
      const value = all.values[i]!
      if (value < TABLE_SIZE) {
        if (table[value] === 0) seen[size++] = value
        table[value]! += all.counts[i]!
      } else large.set(value, (large.get(value) ?? 0) + all.counts[i]!)
    }
  }
  const values = new Float64Array(size + large.size)
  const counts = new Float64Array(size + large.size)
  values.set(seen.subarray(0, size).sort())
  for (let i = 0; i < size; i++) {
    counts[i] = table[values[i]!]!
    table[values[i]!] = 0
  }
  for (const [value, count] of [...large].sort((a, b) => a[0] - b[0])) {
    values[size] = value
    counts[size++] = count
  }
  return { values, counts }
}

/** The first index below `length` that `holds`, or `length`; what holds for one holds for all after it. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
