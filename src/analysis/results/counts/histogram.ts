/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/**
 * Values in ascending order, and how many of the run's are up to each, run after run: run `r` is from `offsets[r]` to `offsets[r + 1]`.
 * Without `upTo`, a run has each value as often as it was seen.
 */
export interface CountedRuns {
  readonly offsets: Uint32Array
  readonly values: Uint16Array | Uint32Array
  readonly upTo?: Uint32Array
}

const FIRST_SLOTS = 1024
/** More than any 32-bit value needs at sixteen bits. */
const BUCKETS_A_CELL = 1 << 20

/** Counts whole numbers per cell. Values below 2^bits are exact, larger ones keep `bits` leading bits: at most 2^(1 - bits) off. */
export class Histogram {
  readonly #bits: number
  /** Open addressing: cell and bucket of each slot, and how often it was counted; 0 in an empty one. */
  #keys = new Int32Array(FIRST_SLOTS * 2)
  #counts = new Uint32Array(FIRST_SLOTS)
  #size = 0

  constructor(bits: number) {
    this.#bits = bits
  }

  add(cell: number, value: number): void {
    this.#put(cell, bucketOf(value, this.#bits), 1)
    if (this.#size * 2 <= this.#counts.length) return
    const [keys, counts] = [this.#keys, this.#counts]
    this.#keys = new Int32Array(keys.length * 2)
    this.#counts = new Uint32Array(counts.length * 2)
    this.#size = 0
    for (let slot = 0; slot < counts.length; slot++)
      if (counts[slot] !== 0) this.#put(keys[slot * 2]!, keys[slot * 2 + 1]!, counts[slot]!)
  }

  /** Those of cells 0 to `cells - 1`, one run each. */
  toRuns(cells: number): CountedRuns {
    const all = new Float64Array(this.#size)
    let size = 0
    for (let slot = 0; slot < this.#counts.length; slot++)
      if (this.#counts[slot] !== 0)
        all[size++] = this.#keys[slot * 2]! * BUCKETS_A_CELL + this.#keys[slot * 2 + 1]!
    const offsets = new Uint32Array(cells + 1)
    const [values, upTo] = [new Uint32Array(size), new Uint32Array(size)]
    let total = 0
    all.sort().forEach((key, i) => {
      const [cell, bucket] = [Math.floor(key / BUCKETS_A_CELL), key % BUCKETS_A_CELL]
      values[i] = valueOf(bucket, this.#bits)
      if (offsets[cell + 1] === 0) total = 0
      upTo[i] = total += this.#counts[this.#slotOf(cell, bucket)]!
      offsets[cell + 1] = i + 1
    })
    for (let cell = 1; cell <= cells; cell++) offsets[cell] = Math.max(offsets[cell]!, offsets[cell - 1]!)
    return { offsets, values, upTo }
  }

  #put(cell: number, bucket: number, count: number): void {
    const slot = this.#slotOf(cell, bucket)
    if (this.#counts[slot] === 0) {
      this.#keys[slot * 2] = cell
      this.#keys[slot * 2 + 1] = bucket
      this.#size++
    }
    this.#counts[slot]! += count
  }

  #slotOf(cell: number, bucket: number): number {
    const [keys, counts, mask] = [this.#keys, this.#counts, this.#counts.length - 1]
    let slot = ((Math.imul(cell, 0x9e3779b1) + Math.imul(bucket, 0x85ebca6b)) >>> 7) & mask
    while (counts[slot] !== 0 && (keys[slot * 2] !== cell || keys[slot * 2 + 1] !== bucket))
      slot = (slot + 1) & mask
    return slot
  }
}

/** Below 2^bits every value has its own bucket; above, one octave has 2^(`bits` - 1) buckets. */
export function bucketOf(value: number, bits: number): number {
  if (value >>> bits === 0) return value
  const shift = 32 - Math.clz32(value) - bits
  return (shift << (bits - 1)) + (value >>> shift)
}

/** The smallest value of a bucket. */
export function valueOf(bucket: number, bits: number): number {
  if (bucket >>> bits === 0) return bucket
  const half = bits - 1
  const shift = (bucket >>> half) - 1
  return (bucket - (shift << half)) * 2 ** shift
}

/** How many values the one at `i` stands for, in a run that begins at `from`. */
export function countAt({ upTo }: CountedRuns, i: number, from: number): number {
  if (upTo === undefined) return 1
  return i === from ? upTo[i]! : upTo[i]! - upTo[i - 1]!
}

/** How many values of a run that begins at `from` there are before the one at `end`. */
export function countBefore({ upTo }: CountedRuns, end: number, from: number): number {
  if (upTo === undefined) return end - from
  return end === from ? 0 : upTo[end - 1]!
}
