/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
/* eslint-disable @typescript-eslint/prefer-for-of -- percentiles are asked for often: iterators and closures would be most of the garbage */
import { firstAbove } from '../typed-arrays.js'
import { countAt, countBefore, type CountedRuns } from './histogram.js'

export interface Run {
  readonly runs: CountedRuns
  readonly index: number
}

/** Few runs are searched as they are: sums of all those of ten thousand labels would fill the memory. */
const MOST_SEARCHED = 8

export class Distribution {
  readonly #runs: readonly Run[]
  #sum: readonly Run[] | undefined

  constructor(runs: readonly Run[]) {
    this.#runs = runs
  }

  get total(): number {
    const runs = this.#searched
    let total = 0
    for (let i = 0; i < runs.length; i++) total += totalOf(runs[i]!)
    return total
  }

  countUpTo(value: number): number {
    return countIn(this.#searched, value)
  }

  /** The smallest value that `percent` of the samples do not exceed (nearest rank). */
  percentile(percent: number): number | undefined {
    const total = this.total
    if (total === 0) return undefined
    const runs = this.#searched
    const rank = rankOf(percent, total)
    // It is between the least and the greatest of the runs' own.
    let least = 0xffffffff
    let greatest = 0
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i]!
      const own = totalOf(run)
      if (own === 0) continue
      const value = valueAt(run, rankOf(percent, own))
      if (value < least) least = value
      if (value > greatest) greatest = value
    }
    while (least < greatest) {
      const middle = least + ((greatest - least) >>> 1)
      if (countIn(runs, middle) < rank) least = middle + 1
      else greatest = middle
    }
    return least
  }

  /** The distinct values in ascending order, and how many samples have each. */
  toCounts(): { values: number[]; counts: number[] } {
    const { runs } = sumUp(this.#runs)
    return { values: [...runs.values], counts: Array.from(runs.values, (_, i) => countAt(runs, i, 0)) }
  }

  get #searched(): readonly Run[] {
    if (this.#runs.length <= MOST_SEARCHED) return this.#runs
    return (this.#sum ??= [sumUp(this.#runs)])
  }
}

/** Which of `total` samples, from 1. Floating point: products such as 99.9 * 1000 / 100 are slightly off, and a rank would be skipped. */
export function rankOf(percent: number, total: number): number {
  const exact = (percent * total) / 100
  const nearest = Math.round(exact)
  return Math.max(1, Math.abs(exact - nearest) <= exact * 1e-13 ? nearest : Math.ceil(exact))
}

function totalOf({ runs, index }: Run): number {
  return countBefore(runs, runs.offsets[index + 1]!, runs.offsets[index]!)
}

/** How many are not above the value. */
function countIn(some: readonly Run[], value: number): number {
  let count = 0
  for (let i = 0; i < some.length; i++) {
    const { runs, index } = some[i]!
    const from = runs.offsets[index]!
    count += countBefore(runs, firstAbove(runs.values, from, runs.offsets[index + 1]!, value), from)
  }
  return count
}

function valueAt({ runs: { offsets, values, upTo }, index }: Run, rank: number): number {
  const from = offsets[index]!
  const end = offsets[index + 1]!
  const found = upTo === undefined ? from + rank - 1 : firstAbove(upTo, from, end, rank - 1)
  return values[Math.min(found, end - 1)]!
}

/** Below this, values are summed in a plain table; there are few above. */
const TABLE_SIZE = 1 << 16
const table = new Float64Array(TABLE_SIZE)
const seen = new Uint32Array(TABLE_SIZE)

function sumUp(some: readonly Run[]): Run {
  const large = new Map<number, number>()
  let size = 0
  for (const { runs, index } of some) {
    const from = runs.offsets[index]!
    for (let i = from; i < runs.offsets[index + 1]!; i++) {
      const [value, count] = [runs.values[i]!, countAt(runs, i, from)]
      if (value < TABLE_SIZE) {
        if (table[value] === 0) seen[size++] = value
        table[value]! += count
      } else large.set(value, (large.get(value) ?? 0) + count)
    }
  }
  const sorted = seen.subarray(0, size).sort()
  const values = new Uint32Array(size + large.size)
  values.set(sorted)
  values.set(
    [...large.keys()].sort((one, other) => one - other),
    size
  )
  let total = 0
  const upTo = values.map((value, i) => (total += i < size ? table[value]! : large.get(value)!))
  for (const value of sorted) table[value] = 0
  return { runs: { offsets: Uint32Array.of(0, values.length), values, upTo }, index: 0 }
}
