/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/** Values and their counts, run after run: run `r` is from `offsets[r]` to `offsets[r + 1]`, values ascending. */
export interface CountedRuns {
  readonly offsets: Uint32Array
  readonly values: Uint32Array
  readonly counts: Uint32Array
}

const PAGE_BITS = 3
const PAGE_SIZE = 1 << PAGE_BITS
const SLOT_INTS = 4
const COUNT_WRAP = 0x10000
/** More than any 32-bit value needs at sixteen bits. */
const PAGES_A_CELL = 1 << 17

/**
 * Counts whole numbers for any number of cells. Values below 2^bits are exact, larger ones keep their `bits` leading
 * bits, so that a bucket is never wider than 2^(1 - bits) of its value. Counts are in pages of eight neighbours that only
 * exist if something was counted: a cell with few samples stays small, which makes ten thousand labels affordable.
 */
export class Histogram {
  readonly #bits: number
  /** Open addressing, four ints per slot: cell + 1, page number, page's place in the pool, unused. A slot never straddles a cache line. */
  #slots = new Int32Array(SLOT_INTS * 1024)
  #mask = 1023
  #pages = 0
  #pool = new Uint16Array(PAGE_SIZE * 512)
  /** Overflow of the 16-bit counts: pool index to the number of times the count wrapped. */
  readonly #wraps = new Map<number, number>()

  constructor(bits: number) {
    this.#bits = bits
  }

  add(cell: number, value: number): void {
    const index = bucketOf(value, this.#bits)
    const at = this.#pageOf(cell, index >>> PAGE_BITS) + (index & (PAGE_SIZE - 1))
    const count = this.#pool[at]! + 1
    this.#pool[at] = count
    if (count === COUNT_WRAP) this.#wraps.set(at, (this.#wraps.get(at) ?? 0) + 1)
  }

  /** The counts of cells 0 to `cells - 1`, one run each. */
  toRuns(cells: number): CountedRuns {
    const pages = this.#sortedPages()
    let size = this.#wraps.size
    for (let at = 0; at < this.#pages * PAGE_SIZE; at++) if (this.#pool[at] !== 0) size++
    const offsets = new Uint32Array(cells + 1)
    const values = new Uint32Array(size)
    const counts = new Uint32Array(size)
    let next = 0
    for (const key of pages) {
      const cell = Math.floor(key / PAGES_A_CELL)
      const page = key % PAGES_A_CELL
      const base = this.#pageOf(cell, page)
      for (let i = 0; i < PAGE_SIZE; i++) {
        const count = this.#pool[base + i]! + (this.#wraps.get(base + i) ?? 0) * COUNT_WRAP
        if (count === 0) continue
        values[next] = valueOf(page * PAGE_SIZE + i, this.#bits)
        counts[next] = count
        next++
      }
      offsets[cell + 1] = next
    }
    for (let cell = 1; cell <= cells; cell++) offsets[cell] = Math.max(offsets[cell]!, offsets[cell - 1]!)
    return { offsets, values: values.slice(0, next), counts: counts.slice(0, next) }
  }

  #pageOf(cell: number, page: number): number {
    const slots = this.#slots
    let slot = (Math.imul(cell, 0x9e3779b1) + Math.imul(page, 0x85ebca6b)) >>> 7
    for (;;) {
      const at = (slot & this.#mask) * SLOT_INTS
      const owner = slots[at]!
      if (owner === cell + 1 && slots[at + 1] === page) return slots[at + 2]!
      if (owner === 0) return this.#claim(at, cell, page)
      slot++
    }
  }

  #claim(at: number, cell: number, page: number): number {
    const base = this.#pages * PAGE_SIZE
    this.#slots[at] = cell + 1
    this.#slots[at + 1] = page
    this.#slots[at + 2] = base
    this.#pages++
    if (this.#pages * PAGE_SIZE >= this.#pool.length) {
      const grown = new Uint16Array(this.#pool.length * 2)
      grown.set(this.#pool)
      this.#pool = grown
    }
    if (this.#pages * 2 > this.#mask) this.#growTable()
    return base
  }

  #growTable(): void {
    const old = this.#slots
    this.#mask = this.#mask * 2 + 1
    this.#slots = new Int32Array(SLOT_INTS * (this.#mask + 1))
    for (let from = 0; from < old.length; from += SLOT_INTS) {
      if (old[from] === 0) continue
      const cell = old[from]! - 1
      const page = old[from + 1]!
      let slot = (Math.imul(cell, 0x9e3779b1) + Math.imul(page, 0x85ebca6b)) >>> 7
      while (this.#slots[(slot & this.#mask) * SLOT_INTS] !== 0) slot++
      this.#slots.set(old.subarray(from, from + SLOT_INTS), (slot & this.#mask) * SLOT_INTS)
    }
  }

  /** Cell and page in one number each, ascending. */
  #sortedPages(): Float64Array {
    const keys = new Float64Array(this.#pages)
    let next = 0
    for (let at = 0; at < this.#slots.length; at += SLOT_INTS) {
      if (this.#slots[at] !== 0) keys[next++] = (this.#slots[at]! - 1) * PAGES_A_CELL + this.#slots[at + 1]!
    }
    return keys.sort()
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

/** Adds up both, run by run. */
export function joinRuns(a: CountedRuns, b: CountedRuns): CountedRuns {
  if (a.values.length === 0) return b
  const size = a.values.length + b.values.length - countShared(a, b)
  const [values, counts] = [new Uint32Array(size), new Uint32Array(size)]
  const offsets = new Uint32Array(a.offsets.length)
  let next = 0
  for (let run = 0; run + 1 < offsets.length; run++) {
    let [i, j] = [a.offsets[run]!, b.offsets[run]!]
    const [iEnd, jEnd] = [a.offsets[run + 1]!, b.offsets[run + 1]!]
    while (i < iEnd || j < jEnd) {
      const value = Math.min(i < iEnd ? a.values[i]! : Infinity, j < jEnd ? b.values[j]! : Infinity)
      values[next] = value
      if (i < iEnd && a.values[i] === value) counts[next]! += a.counts[i++]!
      if (j < jEnd && b.values[j] === value) counts[next]! += b.counts[j++]!
      next++
    }
    offsets[run + 1] = next
  }
  return { offsets, values, counts }
}

/** How many distinct values a run has in both together. */
function countShared(a: CountedRuns, b: CountedRuns): number {
  let shared = 0
  for (let run = 0; run + 1 < a.offsets.length; run++) {
    let j = b.offsets[run]!
    const jEnd = b.offsets[run + 1]!
    for (let i = a.offsets[run]!; i < a.offsets[run + 1]!; i++) {
      while (j < jEnd && b.values[j]! < a.values[i]!) j++
      if (j < jEnd && b.values[j] === a.values[i]) shared++
    }
  }
  return shared
}
