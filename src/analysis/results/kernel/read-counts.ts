import type { CountedRuns } from '../counts/histogram.js'
import * as layout from './assembly/layout.js'
import type { KernelExports, KernelMemory } from './kernel-module.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const COUNT_WRAP = 0x10000

/** What the kernel has counted, for `cells` cells from `first` on, one run each: times in pages, and times in lists. */
export function readCounts(
  exports: KernelExports,
  memory: KernelMemory,
  { first, cells }: { readonly first: number; readonly cells: number }
): CountedRuns[] {
  const pages = new PagedCounts(exports, memory)
  const from = exports.listPlaces() / 4 + first
  const places = memory.ints.subarray(from, from + cells)
  // What is not written to takes no memory.
  const most = exports.countValues()
  const [values, upTo] = [new Uint16Array(most), new Uint32Array(most)]
  const offsets = new Uint32Array(cells + 1)
  let end = 0
  places.forEach((place, cell) => {
    if (place === layout.IN_PAGES) end = pages.write(first + cell, { values, upTo }, end)
    offsets[cell + 1] = end
  })
  const paged = { offsets, values: values.subarray(0, end), upTo: upTo.subarray(0, end) }
  return [paged, readLists(exports, memory, places)]
}

const TIMES_A_LIST = (layout.LIST_BYTES - layout.LIST_HEAD_BYTES) / 2

function readLists(exports: KernelExports, memory: KernelMemory, places: Int32Array): CountedRuns {
  const offsets = new Uint32Array(places.length + 1)
  const { shorts } = memory
  places.forEach((place, cell) => (offsets[cell + 1] = offsets[cell]! + sizeOfLists(place, shorts)))
  const values = new Uint16Array(offsets[places.length]!)
  const sorted = exports.sortedTimes() / 2
  places.forEach((place, cell) => {
    const [from, to] = [offsets[cell]!, offsets[cell + 1]!]
    if (from === to) return
    exports.sortTimes(place)
    for (let i = 0; i < to - from; i++) values[from + i] = shorts[sorted + i]!
  })
  return { offsets, values }
}

/** How many times there are before the place of the next one. */
function sizeOfLists(place: number, shorts: Uint16Array): number {
  if (place <= layout.IN_PAGES) return 0
  // Of the list that ends at this place.
  const list = (place - 1) & -layout.LIST_BYTES
  const before = (shorts[list / 2 + 2]! - 1) * TIMES_A_LIST
  return before + (place - list - layout.LIST_HEAD_BYTES) / 2
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
  write(cell: number, { values, upTo }: Omit<Required<CountedRuns>, 'offsets'>, next: number): number {
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
