import { reserve } from './heap'
import {
  END_PAGE_BITS,
  END_PAGE_SLOT_BYTES,
  END_PAGE_WORDS,
  END_SCOPE_BUSY_FROM,
  END_SCOPE_BUSY_TO,
  END_SCOPE_BYTES,
  END_SCOPE_FIRST_START,
  END_SCOPE_LAST_END,
  END_SCOPE_LAST_START,
  END_SCOPES
} from './layout'

// In which milliseconds samples ended, one bit each: of all rows, and of the rows of each label that is followed. Pages are found by
// scope and number in a table with open addressing; rows are nearly in the order of their ends, so that a scope's last page is nearly
// always the one for the next row.

const PAGE_BYTES: u32 = END_PAGE_WORDS * 4
const FIRST_SLOTS: u32 = 256
/** For all rows, and as many again for the labels together. */
const MOST_PAGES: u32 = 8192
const WORDS_PER_PAGE: i64 = END_PAGE_WORDS / 2
const NO_PAGE: u32 = u32.MAX_VALUE

let scopes: u32 = 0
let slots: u32 = 0
let mask: u32 = FIRST_SLOTS - 1
let size: u32 = 0
let sizeOfAll: u32 = 0
/** For ends that there is no space for. */
let spare: u32 = 0

export function prepareEnds(): void {
  scopes = reserve(END_SCOPES * END_SCOPE_BYTES)
  for (let scope: u32 = 0; scope < u32(END_SCOPES); scope++) {
    const at = Ends.at(scope)
    store<u32>(at, NO_PAGE)
    store<i64>(at, i64.MAX_VALUE, END_SCOPE_FIRST_START)
    store<i64>(at, i64.MIN_VALUE, END_SCOPE_LAST_START)
    store<i64>(at, i64.MIN_VALUE, END_SCOPE_LAST_END)
  }
  slots = reserve(FIRST_SLOTS * END_PAGE_SLOT_BYTES)
}

export function endScopes(): u32 {
  return scopes
}

/** The table of pages: number, scope, address or 0, unused. */
export function endPages(): u32 {
  return slots
}

export function endPagesStop(): u32 {
  return slots + (mask + 1) * END_PAGE_SLOT_BYTES
}

export class Ends {
  @inline
  static at(scope: u32): u32 {
    return scopes + scope * END_SCOPE_BYTES
  }

  /** Where the page is that the end belongs to. */
  @inline
  static pageOf(scope: u32, endMs: i64): u32 {
    const at = Ends.at(scope)
    const page = u32(endMs >> END_PAGE_BITS)
    if (load<u32>(at) != page) openPage(scope, page)
    return load<u32>(at, 4)
  }

  /** Marks the end of a row; when it started and ended is noted with `widen`. */
  @inline
  static mark(page: u32, endMs: i64): void {
    // In bytes rather than words: two ends after each other seldom wait for the same one.
    const at = page + (u32(endMs >> 3) & (PAGE_BYTES - 1))
    store<u8>(at, load<u8>(at) | u8(u32(1) << u32(endMs & 7)))
  }

  @inline
  static widen(scope: u32, firstStartMs: i64, lastStartMs: i64, lastEndMs: i64): void {
    const at = Ends.at(scope)
    store<i64>(at, min<i64>(firstStartMs, load<i64>(at, END_SCOPE_FIRST_START)), END_SCOPE_FIRST_START)
    store<i64>(at, max<i64>(lastStartMs, load<i64>(at, END_SCOPE_LAST_START)), END_SCOPE_LAST_START)
    store<i64>(at, max<i64>(lastEndMs, load<i64>(at, END_SCOPE_LAST_END)), END_SCOPE_LAST_END)
  }
}

/** Whether a marked row of at least `leastMs` may have waited in a stall: a stretch of 64 ms is without an end so far. */
export function mayHaveWaited(scope: u32, startMs: i64, endMs: i64): bool {
  const at = Ends.at(scope)
  const from = (startMs + 63) >> 6
  const to = endMs >> 6
  const busyFrom = load<i64>(at, END_SCOPE_BUSY_FROM)
  const busyTo = load<i64>(at, END_SCOPE_BUSY_TO)
  const isKnown = from >= busyFrom && from <= busyTo
  if (isKnown && to <= busyTo) return false
  Ends.pageOf(scope, endMs)
  if (hasQuiet(scope, isKnown ? busyTo : from, to)) return true
  if (!isKnown) store<i64>(at, from, END_SCOPE_BUSY_FROM)
  store<i64>(at, to, END_SCOPE_BUSY_TO)
  return false
}

function hasQuiet(scope: u32, start: i64, to: i64): bool {
  const at = Ends.at(scope)
  let from = start
  const first = i64(load<u32>(at)) * WORDS_PER_PAGE
  if (from < first) {
    if (hasQuietBefore(scope, from, first)) return true
    from = first
  }
  const page = load<u32>(at, 4)
  const stop = page + (u32(to - first) << 3)
  for (let word = page + (u32(from - first) << 3); word < stop; word += 8) {
    if (load<u64>(word) == 0) return true
  }
  return false
}

/** The same in the pages before the current one, which a row may have begun in. */
function hasQuietBefore(scope: u32, from: i64, to: i64): bool {
  let next = from
  while (next < to) {
    const number = u32(next / WORDS_PER_PAGE)
    const slot = slotOf(scope, number)
    const page = load<u32>(slot, 8)
    if (page == 0) return true
    const stop = min(to, (i64(number) + 1) * WORDS_PER_PAGE)
    for (; next < stop; next++) {
      if (load<u64>(page + ((u32(next) & (u32(WORDS_PER_PAGE) - 1)) << 3)) == 0) return true
    }
  }
  return false
}

/** Where the page is, or would be. */
function slotOf(scope: u32, number: u32): u32 {
  let at = (number + scope * 0x9e3779b1) * 0x85ebca6b
  at ^= at >> 15
  let slot = slots + (at & mask) * END_PAGE_SLOT_BYTES
  while (load<u32>(slot, 8) != 0 && (load<u32>(slot) != number || load<u32>(slot, 4) != scope)) {
    at++
    slot = slots + (at & mask) * END_PAGE_SLOT_BYTES
  }
  return slot
}

function openPage(scope: u32, number: u32): void {
  let slot = slotOf(scope, number)
  let page = load<u32>(slot, 8)
  const used = scope == 0 ? sizeOfAll : size - sizeOfAll
  if (page == 0 && used >= MOST_PAGES) {
    if (spare == 0) spare = reserve(PAGE_BYTES)
    page = spare
  } else if (page == 0) {
    if ((size + 1) * 2 > mask) {
      growSlots()
      slot = slotOf(scope, number)
    }
    page = reserve(PAGE_BYTES)
    store<u32>(slot, number)
    store<u32>(slot, scope, 4)
    store<u32>(slot, page, 8)
    size++
    if (scope == 0) sizeOfAll++
  }
  const at = Ends.at(scope)
  store<u32>(at, number)
  store<u32>(at, page, 4)
}

function growSlots(): void {
  const from = slots
  const to = endPagesStop()
  mask = mask * 2 + 1
  slots = reserve((mask + 1) * END_PAGE_SLOT_BYTES)
  for (let old = from; old < to; old += END_PAGE_SLOT_BYTES) {
    if (load<u32>(old, 8) == 0) continue
    const slot = slotOf(load<u32>(old, 4), load<u32>(old))
    memory.copy(slot, old, END_PAGE_SLOT_BYTES)
  }
}
