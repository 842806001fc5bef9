/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { firstAbove } from '../typed-arrays.js'
import type { CountedRuns } from './histogram.js'

export interface Run {
  readonly runs: CountedRuns
  readonly index: number
}

/** Distinct values in ascending order with the cumulative number of samples. */
interface Sums {
  size: number
  values: Float64Array
  upTo: Float64Array
}

/** Sums of few runs are cheap to compute again: they share one cache slot, as those of ten thousand labels would fill the memory. */
const FEW_RUNS = 8
const shared = makeSums(1024)
/** Where runs are joined. */
const spare = makeSums(1024)
/** Which distribution the sums belong to. */
let sharedBy: readonly Run[] | undefined

/** Below this, values are summed in a plain table; there are few above. */
const TABLE_SIZE = 1 << 16
const table = new Float64Array(TABLE_SIZE)
const seen = new Uint32Array(TABLE_SIZE)

export class Distribution {
  readonly #runs: readonly Run[]
  #own: Sums | undefined

  constructor(runs: readonly Run[]) {
    this.#runs = runs
  }

  get total(): number {
    return totalOf(this.#sums)
  }

  countUpTo(value: number): number {
    const { size, values, upTo } = this.#sums
    const after = firstAbove(values, size, value)
    return after === 0 ? 0 : upTo[after - 1]!
  }

  /** The smallest value that `percent` of the samples do not exceed (nearest rank). */
  percentile(percent: number): number | undefined {
    const sums = this.#sums
    const { size, values, upTo } = sums
    if (size === 0) return undefined
    return values[Math.min(firstAbove(upTo, size, rankOf(percent, totalOf(sums)) - 1), size - 1)]
  }

  /** The distinct values in ascending order, and how many samples have each. */
  toCounts(): { values: number[]; counts: number[] } {
    const { size, values, upTo } = this.#sums
    return {
      values: Array.from(values.subarray(0, size)),
      counts: Array.from({ length: size }, (_, i) => upTo[i]! - (upTo[i - 1] ?? 0))
    }
  }

  get #sums(): Sums {
    if (this.#runs.length > FEW_RUNS) return (this.#own ??= sumUp(this.#runs, makeSums(0)))
    if (sharedBy !== this.#runs) sumUp(this.#runs, shared)
    sharedBy = this.#runs
    return shared
  }
}

function makeSums(room: number): Sums {
  return { size: 0, values: new Float64Array(room), upTo: new Float64Array(room) }
}

function totalOf({ size, upTo }: Sums): number {
  return size === 0 ? 0 : upTo[size - 1]!
}

/** Which of `total` samples, from 1. Floating point: products such as 99.9 * 1000 / 100 are slightly off, and a rank would be skipped. */
export function rankOf(percent: number, total: number): number {
  const exact = (percent * total) / 100
  const nearest = Math.round(exact)
  return Math.max(1, Math.abs(exact - nearest) <= exact * 1e-13 ? nearest : Math.ceil(exact))
}

function sumUp(runs: readonly Run[], sums: Sums): Sums {
  if (runs.length > FEW_RUNS) sumMany(runs, sums)
  else {
    sums.size = 0
    for (const run of runs) join(sums, run)
  }
  let total = 0
  for (let i = 0; i < sums.size; i++) sums.upTo[i] = total += sums.upTo[i]!
  return sums
}

function makeRoom(sums: Sums, room: number): void {
  if (sums.values.length < room) Object.assign(sums, makeSums(room))
}

/** Adds a run to counts that are not summed up yet. */
function join(sums: Sums, { runs: run, index }: Run): void {
  let [i, j, size] = [0, run.offsets[index]!, 0]
  const [iEnd, jEnd] = [sums.size, run.offsets[index + 1]!]
  makeRoom(spare, iEnd + jEnd - j)
  const { values: before, upTo: countsBefore } = sums
  const { values, upTo: counts } = spare
  while (i < iEnd && j < jEnd) {
    const [left, right] = [before[i]!, run.values[j]!]
    values[size] = Math.min(left, right)
    counts[size++] = (left <= right ? countsBefore[i++]! : 0) + (right <= left ? run.counts[j++]! : 0)
  }
  for (; i < iEnd; i++) {
    values[size] = before[i]!
    counts[size++] = countsBefore[i]!
  }
  for (; j < jEnd; j++) {
    values[size] = run.values[j]!
    counts[size++] = run.counts[j]!
  }
  sums.size = size
  sums.values = values
  sums.upTo = counts
  spare.values = before
  spare.upTo = countsBefore
}

function sumMany(runs: readonly Run[], sums: Sums): void {
  const large = new Map<number, number>()
  let size = 0
  for (const { runs: all, index } of runs)
    for (let i = all.offsets[index]!; i < all.offsets[index + 1]!; i++) {
      const value = all.values[i]!
      if (value < TABLE_SIZE) {
        if (table[value] === 0) seen[size++] = value
        table[value]! += all.counts[i]!
      } else large.set(value, (large.get(value) ?? 0) + all.counts[i]!)
    }
  makeRoom(sums, size + large.size)
  const { values, upTo } = sums
  values.set(seen.subarray(0, size).sort())
  for (let i = 0; i < size; i++) {
    upTo[i] = table[values[i]!]!
    table[values[i]!] = 0
  }
  for (const [value, count] of [...large].sort((a, b) => a[0] - b[0])) {
    values[size] = value
    upTo[size++] = count
  }
  sums.size = size
}
