import type { CountedRuns } from '../counts/histogram.js'
import * as layout from './assembly/layout.js'
import type { KernelExports, KernelMemory } from './kernel-module.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const COUNT_WRAP = 0x10000

/** What the kernel has counted, for `cells` cells from `first` on, one run each. */
export function readCounts(
  exports: KernelExports,
  memory: KernelMemory,
  { first, cells }: { readonly first: number; readonly cells: number }
): CountedRuns {
  const pages = new PagedCounts(exports, memory)
  const lists = new ListedTimes(exports, memory)
  const from = exports.listPlaces() / 4 + first
  const places = memory.ints.subarray(from, from + cells)
  // At most as many as this. What is not written to takes no memory.
  const most = places.reduce((sum, place) => sum + lists.sizeOf(place), exports.countValues())
  const [values, upTo] = [new Uint32Array(most), new Uint32Array(most)]
  const offsets = new Uint32Array(cells + 1)
  let end = 0
  for (let cell = 0; cell < cells; cell++) {
    const place = places[cell]!
    if (place === layout.IN_PAGES) end = pages.write(first + cell, { values, upTo }, end)
    else if (place !== 0) end = lists.write(place, { values, upTo }, end)
    offsets[cell + 1] = end
  }
  return { offsets, values: values.subarray(0, end), upTo: upTo.subarray(0, end) }
}

type Runs = Pick<CountedRuns, 'values' | 'upTo'>

const TIMES_A_LIST = (layout.LIST_BYTES - layout.LIST_HEAD_BYTES) / 2

/** The times in the lists of one cell. */
class ListedTimes {
  readonly #exports: KernelExports
  readonly #memory: KernelMemory

  constructor(exports: KernelExports, memory: KernelMemory) {
    this.#exports = exports
    this.#memory = memory
  }

  /** How many times there are before the place of the next one. */
  sizeOf(place: number): number {
    if (place <= layout.IN_PAGES) return 0
    // Of the list that ends at this place.
    const list = (place - 1) & -layout.LIST_BYTES
    const before = (this.#memory.shorts[list / 2 + 2]! - 1) * TIMES_A_LIST
    return before + (place - list - layout.LIST_HEAD_BYTES) / 2
  }

  /** Writes times from `next` on; returns where they end. */
  write(place: number, { values, upTo }: Runs, next: number): number {
    const end = this.#exports.sortTimes(place) / 4
    const { ints } = this.#memory
    let to = next
    for (let at = this.#exports.sortedTimes() / 4; at < end; at += 2) {
      values[to] = ints[at]!
      upTo[to++] = ints[at + 1]!
    }
    return to
  }
}

const PAGE_SIZE = 1 << layout.PAGE_BITS
const PAGES_PER_CELL_BITS = layout.TIME_BITS - layout.PAGE_BITS

/** Pages in the order of their cells, read once from the first to the last. */
class PagedCounts {
  readonly #memory: KernelMemory
  readonly #wraps: ReadonlyMap<number, number>
  readonly #end: number
  #at: number

  constructor(exports: KernelExports, memory: KernelMemory) {
    this.#memory = memory
    this.#at = exports.sortPages() / 4
    this.#end = this.#at + exports.countPages() * 2
    this.#wraps = readWraps(exports, memory)
  }

  /** Writes the times of a cell from `next` on; returns where they end. */
  write(cell: number, { values, upTo }: Runs, next: number): number {
    const { ints, shorts } = this.#memory
    let [to, total] = [next, 0]
    for (; this.#at < this.#end; this.#at += 2) {
      const key = (ints[this.#at + 1]! >>> 0) - 1
      const owner = key >>> PAGES_PER_CELL_BITS
      if (owner > cell) break
      if (owner < cell) continue
      const page = ints[this.#at]! >>> 1
      const least = (key & ((1 << PAGES_PER_CELL_BITS) - 1)) << layout.PAGE_BITS
      for (let i = 0; i < PAGE_SIZE; i++) {
        const more = this.#wraps.size === 0 ? 0 : (this.#wraps.get(page + i) ?? 0) * COUNT_WRAP
        const count = shorts[page + i]! + more
        if (count === 0) continue
        values[to] = least + i
        upTo[to++] = total += count
      }
    }
    return to
  }
}

/** How often counts have wrapped around, by their index among the shorts. */
function readWraps(exports: KernelExports, memory: KernelMemory): Map<number, number> {
  const wraps = new Map<number, number>()
  for (const address of memory.ints.subarray(exports.wrapsStart() / 4, exports.wrapsStop() / 4))
    wraps.set(address / 2, (wraps.get(address / 2) ?? 0) + 1)
  return wraps
}
