import { HEAP_AT } from './layout'

const ALIGNMENT: u32 = 64
/** Reads are in blocks of 64 bytes, the last of which may go beyond the end. */
const SLACK: u32 = 128
const WASM_PAGE: u32 = 0x10000
/** The caller reads addresses as signed ints. */
const MAX_ADDRESS: u64 = 0x7fff0000

let next: u32 = HEAP_AT

/**
 * The address of that many zeroed bytes. Nothing is freed: whatever outgrows its space gets twice as much. The memory itself
 * grows in large steps, because V8 counts each as an allocation of the whole and collects garbage; untouched memory costs nothing.
 */
export function reserve(bytes: u32): u32 {
  const address = next
  if (u64(address) + u64(bytes) > MAX_ADDRESS) unreachable()
  next = (address + bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1)
  const pages: u32 = memory.size()
  const needed = (next + SLACK + WASM_PAGE - 1) / WASM_PAGE
  if (needed > pages) {
    const generous = max(needed, pages + (pages >> 1)) - pages
    if (memory.grow(generous) < 0 && memory.grow(needed - pages) < 0) unreachable()
  }
  return address
}
