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
  const lists = new ListedTimes(memory)
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

/** The times in the lists of one cell, sorted by a bit for each time, and a bit for each word of these bits. */
class ListedTimes {
  readonly #memory: KernelMemory
  readonly #counts = new Uint16Array(1 << layout.TIME_BITS)
  readonly #times = new Int32Array(1 << (layout.TIME_BITS - 5))
  readonly #words = new Int32Array(1 << (layout.TIME_BITS - 10))

  constructor(memory: KernelMemory) {
    this.#memory = memory
  }

  /** How many times there are before the place of the next one. */
  sizeOf(place: number): number {
    if (place <= layout.IN_PAGES) return 0
    const list = firstByteOf(place)
    const before = (this.#memory.shorts[list / 2 + 2]! - 1) * TIMES_A_LIST
    return before + (place - list - layout.LIST_HEAD_BYTES) / 2
  }

  /** Writes times from `next` on; returns where they end. */
  write(place: number, { values, upTo }: Runs, next: number): number {
    this.#read(place)
    const [known, bits, words] = [this.#counts, this.#times, this.#words]
    let [to, total] = [next, 0]
    for (let group = 0; group < words.length; group++) {
      for (let some = words[group]!; some !== 0; some &= some - 1) {
        const word = (group << 5) + lowestBit(some)
        for (let times = bits[word]!; times !== 0; times &= times - 1) {
          const time = (word << 5) + lowestBit(times)
          values[to] = time
          upTo[to++] = total += known[time]!
          known[time] = 0
        }
        bits[word] = 0
      }
      words[group] = 0
    }
    return to
  }

  #read(place: number): void {
    const { ints, shorts } = this.#memory
    const [known, bits, words] = [this.#counts, this.#times, this.#words]
    let end = place
    for (let list = firstByteOf(place); list !== 0; list = ints[list / 4]!) {
      for (let at = (list + layout.LIST_HEAD_BYTES) / 2; at < end / 2; at++) {
        const time = shorts[at]!
        known[time]!++
        bits[time >>> 5]! |= 1 << (time & 31)
        words[time >>> 10]! |= 1 << ((time >>> 5) & 31)
      }
      end = ints[list / 4]! + layout.LIST_BYTES
    }
  }
}

/** Of the list that ends at this place. */
function firstByteOf(place: number): number {
  return (place - 1) & -layout.LIST_BYTES
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
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
