/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/** Values and how often each occurred, run after run: run `r` lies from `offsets[r]` to `offsets[r + 1]`, values ascending. */
export interface CountedRuns {
  readonly offsets: Uint32Array
  readonly values: Uint32Array
  readonly counts: Uint32Array
}

const PAGE_BITS = 3
const PAGE_SIZE = 1 << PAGE_BITS
const SLOT_INTS = 4
const COUNT_WRAP = 0x10000
const DENSE_WIDTH = 1024
const MAX_DENSE_CELLS = 640
/** More than any 32-bit value needs at sixteen bits. */
const PAGES_A_CELL = 1 << 17

/**
 * Counts whole numbers for any number of cells. Values below 2^bits are exact, larger ones keep their `bits` leading
 * bits, so that a bucket is never wider than 2^(1 - bits) of its value. Counts live in pages of eight neighbours that exist only
 * where something was counted: a cell with few samples stays small, which is what makes ten thousand labels bearable.
 */
export class Histogram {
  readonly #bits: number
  /** Open addressing, four ints a slot: cell + 1, page number, page's place in the pool, unused. One slot never straddles a cache line. */
  #slots = new Int32Array(SLOT_INTS * 1024)
  #mask = 1023
  #pages = 0
  #pool = new Uint16Array(PAGE_SIZE * 512)
  /** What the 16-bit counts could not hold: pool index to the number of times the count wrapped. */
  readonly #wraps = new Map<number, number>()
  /** The first cells have a plain table for their small values: few labels and short times are what most runs consist of. */
  #dense = new Uint32Array(0)
  #denseCells = 0

  constructor(bits: number) {
    this.#bits = bits
  }

  add(cell: number, value: number): void {
    if (cell < this.#denseCells && value < DENSE_WIDTH) {
      this.#dense[cell * DENSE_WIDTH + value]! += 1
      return
    }
    if (cell < MAX_DENSE_CELLS && cell >= this.#denseCells) this.#growDense(cell)
    let index = value
    if (value >>> this.#bits !== 0) index = this.#bucketOf(value)
    const at = this.#pageOf(cell, index >>> PAGE_BITS) + (index & (PAGE_SIZE - 1))
    const count = this.#pool[at]! + 1
    this.#pool[at] = count
    if (count === COUNT_WRAP) this.#wraps.set(at, (this.#wraps.get(at) ?? 0) + 1)
  }

  /** Takes all counts of `other`, each of its cells under the number that `cellOf` gives. */
  absorb(other: CountedRuns, cellOf: (run: number) => number): void {
    for (let run = 0; run + 1 < other.offsets.length; run++) {
      const cell = cellOf(run)
      for (let i = other.offsets[run]!; i < other.offsets[run + 1]!; i++) {
        this.#addMany(cell, other.values[i]!, other.counts[i]!)
      }
    }
  }

  /** The counts of cells 0 to `cells - 1`, one run each. */
  toRuns(cells: number): CountedRuns {
    this.#emptyDense()
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
        values[next] = this.#valueOf(page * PAGE_SIZE + i)
        counts[next] = count
        next++
      }
      offsets[cell + 1] = next
    }
    for (let cell = 1; cell <= cells; cell++) offsets[cell] = Math.max(offsets[cell]!, offsets[cell - 1]!)
    return { offsets, values: values.slice(0, next), counts: counts.slice(0, next) }
  }

  #addMany(cell: number, value: number, times: number): void {
    const index = value >>> this.#bits !== 0 ? this.#bucketOf(value) : value
    const at = this.#pageOf(cell, index >>> PAGE_BITS) + (index & (PAGE_SIZE - 1))
    const total = this.#pool[at]! + times
    this.#pool[at] = total % COUNT_WRAP
    const wraps = Math.floor(total / COUNT_WRAP)
    if (wraps > 0) this.#wraps.set(at, (this.#wraps.get(at) ?? 0) + wraps)
  }

  #growDense(cell: number): void {
    this.#denseCells = Math.min(MAX_DENSE_CELLS, Math.max(16, (cell + 1) * 2))
    const grown = new Uint32Array(this.#denseCells * DENSE_WIDTH)
    grown.set(this.#dense)
    this.#dense = grown
  }

  /** Moves the counts of the plain table to the pages. */
  #emptyDense(): void {
    this.#dense.forEach((count, at) => {
      if (count > 0) this.#addMany(Math.floor(at / DENSE_WIDTH), at % DENSE_WIDTH, count)
    })
    this.#dense.fill(0)
  }

  #bucketOf(value: number): number {
    const shift = 32 - Math.clz32(value) - this.#bits
    return (shift << (this.#bits - 1)) + (value >>> shift)
  }

  #valueOf(index: number): number {
    if (index >>> this.#bits === 0) return index
    const half = this.#bits - 1
    const shift = (index >>> half) - 1
    return (index - (shift << half)) * 2 ** shift
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
