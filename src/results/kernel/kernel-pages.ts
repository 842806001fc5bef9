/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { PAGE_BITS, TIME_BITS } from './assembly/layout.js'
import type { CountedRuns } from '../counts/histogram.js'
import type { KernelExports } from './kernel-module.js'
import type { KernelMemory } from './kernel-memory.js'

const PAGE_SIZE = 1 << PAGE_BITS
const PAGES_PER_CELL_BITS = TIME_BITS - PAGE_BITS
const COUNT_WRAP = 0x10000

/** What the kernel has counted in pages, for cells 0 to `cells - 1`, one run each. */
export function readPages(exports: KernelExports, memory: KernelMemory, cells: number): CountedRuns {
  const from = exports.sortPages() / 4
  const to = from + exports.countPages() * 2
  const wraps = readWraps(exports, memory)
  const size = exports.countValues()
  const [values, counts] = [new Uint32Array(size), new Uint32Array(size)]
  const offsets = new Uint32Array(cells + 1)
  const { ints, shorts } = memory
  let next = 0
  let cell = 0
  for (let at = from; at < to; at += 2) {
    const page = ints[at]! >>> 1
    const key = (ints[at + 1]! >>> 0) - 1
    const owner = key >>> PAGES_PER_CELL_BITS
    while (cell < owner) offsets[++cell] = next
    const first = (key & ((1 << PAGES_PER_CELL_BITS) - 1)) << PAGE_BITS
    for (let i = 0; i < PAGE_SIZE; i++) {
      const more = wraps.size === 0 ? 0 : (wraps.get(page + i) ?? 0) * COUNT_WRAP
      const count = shorts[page + i]! + more
      if (count === 0) continue
      values[next] = first + i
      counts[next++] = count
    }
  }
  offsets.fill(next, cell + 1)
  if (next === size) return { offsets, values, counts }
  return { offsets, values: values.slice(0, next), counts: counts.slice(0, next) }
}

/** How often counts have wrapped around, by their index among the shorts. */
function readWraps(exports: KernelExports, memory: KernelMemory): Map<number, number> {
  const wraps = new Map<number, number>()
  for (const address of memory.ints.subarray(exports.wrapsStart() / 4, exports.wrapsStop() / 4)) {
    wraps.set(address / 2, (wraps.get(address / 2) ?? 0) + 1)
  }
  return wraps
}
