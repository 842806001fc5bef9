/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import {
  END_PAGE_SLOT_BYTES,
  END_PAGE_WORDS,
  END_SCOPE_BYTES,
  END_SCOPE_FIRST_START,
  END_SCOPE_LAST_END,
  END_SCOPE_LAST_START
} from './assembly/layout.js'
import type { AbsorbedEnds } from '../stalls/stall-tracker.js'
import type { KernelExports } from './kernel-module.js'
import type { KernelMemory } from './kernel-memory.js'

/** When the rows of a scope ended and started, as the kernel has seen them. */
export function readEnds(exports: KernelExports, memory: KernelMemory, scope: number): AbsorbedEnds {
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
  const first = readLong(ints, times + END_SCOPE_FIRST_START)
  const last = readLong(ints, times + END_SCOPE_LAST_END)
  const isEmpty = first > last
  return {
    ends: { pages: Float64Array.from(found, ({ page }) => page), bits },
    firstStartMs: isEmpty ? Infinity : first,
    lastStartMs: isEmpty ? -Infinity : readLong(ints, times + END_SCOPE_LAST_START),
    lastEndMs: isEmpty ? -Infinity : last
  }
}

function readLong(ints: Int32Array, address: number): number {
  return ints[address / 4 + 1]! * 2 ** 32 + (ints[address / 4]! >>> 0)
}
