/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import {
  END_PAGE_BITS,
  END_PAGE_SLOT_BYTES,
  END_PAGE_WORDS,
  END_SCOPE_BYTES,
  END_SCOPE_FIRST_START,
  END_SCOPE_LAST_END,
  END_SCOPE_LAST_START,
  LONG_BYTES
} from './assembly/layout.js'
import type { LongRowsScan, StallScan } from '../stalls/stall-tracker.js'
import type { KernelExports } from './kernel-module.js'
import type { KernelMemory } from './kernel-memory.js'

/** What the kernel has seen of the rows of a scope. */
export function readStalls(exports: KernelExports, memory: KernelMemory, scope: number): StallScan {
  const { ints } = memory
  const found: { page: number; address: number }[] = []
  for (let at = exports.endPages(); at < exports.endPagesStop(); at += END_PAGE_SLOT_BYTES) {
    const [page, owner, address] = [ints[at / 4]!, ints[at / 4 + 1]!, ints[at / 4 + 2]!]
    if (address !== 0 && owner === scope) found.push({ page, address })
  }
  found.sort((one, other) => one.page - other.page)
  const bits = new Uint32Array(found.length * END_PAGE_WORDS)
  found.forEach(({ address }, index) => {
    bits.set(ints.subarray(address / 4, address / 4 + END_PAGE_WORDS), index * END_PAGE_WORDS)
  })
  const times = exports.endScopes() + scope * END_SCOPE_BYTES
  const first = readTime(ints, times + END_SCOPE_FIRST_START)
  const last = readTime(ints, times + END_SCOPE_LAST_END)
  const isEmpty = first > last
  const lastPage = Math.floor(last / 2 ** END_PAGE_BITS)
  const isCut = !isEmpty && !found.some(({ page }) => page === lastPage)
  return {
    ends: { pages: Float64Array.from(found, ({ page }) => page), bits },
    firstStartMs: isEmpty ? Infinity : first,
    lastStartMs: isEmpty ? -Infinity : readTime(ints, times + END_SCOPE_LAST_START),
    lastEndMs: isEmpty ? -Infinity : last,
    leastMs: isCut ? Infinity : exports.leastStall(),
    long: readLong(exports, ints, scope)
  }
}

function readLong(exports: KernelExports, ints: Int32Array, scope: number): LongRowsScan {
  const step = LONG_BYTES / 4
  const [first, stop] = [exports.longRows() / 4, exports.longRowsStop() / 4]
  let size = 0
  for (let at = first; at < stop; at += step) if (ints[at + 5] === scope) size++
  const long = {
    ...{ startMs: new Float64Array(size), endMs: new Float64Array(size) },
    ...{ thread: new Uint32Array(size), label: new Int32Array(size) }
  }
  let row = 0
  for (let at = first; at < stop; at += step) {
    if (ints[at + 5] !== scope) continue
    long.startMs[row] = readTime(ints, at * 4)
    long.endMs[row] = long.startMs[row]! + ints[at + 2]!
    long.thread[row] = ints[at + 4]!
    long.label[row++] = ints[at + 3]!
  }
  return long
}

function readTime(ints: Int32Array, address: number): number {
  return ints[address / 4 + 1]! * 2 ** 32 + (ints[address / 4]! >>> 0)
}
