import {
  IN_PAGES,
  LIST_BYTES,
  LIST_HEAD_BYTES,
  MOST_LISTED,
  PAGE_BITS,
  TIME_BITS,
  WAITING_AT,
  WAITING_ROWS
} from './layout'
import { reserve } from './heap'
import { Lists } from './lists'

// Counts of the times of cells that have many: pages of sixteen neighbours that only exist if something was counted. Slots of two ints
// locate them, by open addressing: cell and page in one number, + 1, and the page's address. A count has sixteen bits, which is enough
// for nearly all: if one wraps around to zero, its address is added to a list.

const PAGE_SIZE: u32 = 1 << PAGE_BITS
const PAGE_BYTES: u32 = 2 << PAGE_BITS
const PAGES_PER_CELL_BITS: u32 = TIME_BITS - PAGE_BITS
const SLOT_BYTES: u32 = 8
const FIRST_SLOT_BITS: u32 = 13
const CHUNK_PAGES: u32 = 4096
const HASH: u32 = 0x9e3779b1
const FIRST_WRAPS: u32 = WAITING_ROWS * 4
/** As many as rows may wait, and as many as a list may have. */
const ROOM_PAGES: u32 = WAITING_ROWS + MOST_LISTED

let slots: u32 = 0
let shift: u32 = 32 - FIRST_SLOT_BITS
let pages: u32 = 0
let freePage: u32 = 0
let pagesEnd: u32 = 0
/** How many counts are not zero, plus one for each wraparound. */
let values: u32 = 0
let wraps: u32 = 0
let wrapsEnd: u32 = 0
let wrapsRoom: u32 = 0

export function preparePages(): void {
  slots = reserve(SLOT_BYTES << FIRST_SLOT_BITS)
  wraps = reserve(FIRST_WRAPS)
  wrapsEnd = wraps
  wrapsRoom = wraps + FIRST_WRAPS
}

export function countPages(): u32 {
  return pages
}

/** The maximum number of counts. */
export function countValues(): u32 {
  return values
}

/** The list of wraparounds: the address of the count, once per wraparound. */
export function wrapsStart(): u32 {
  return wraps
}

export function wrapsStop(): u32 {
  return wrapsEnd
}

export class Pages {
  /** Queues a time; counting it can wait. */
  @inline
  static wait(waiting: u32, cell: u32, elapsed: u32): void {
    store<u32>(waiting, cell)
    store<u32>(waiting, elapsed, 4)
  }

  @inline
  static count(cell: u32, elapsed: u32): void {
    const key = ((cell << PAGES_PER_CELL_BITS) | (elapsed >> PAGE_BITS)) + 1
    const last = u32(-1) >> shift
    let at = (key * HASH) >> shift
    let slot = slots + at * SLOT_BYTES
    let owner = load<u32>(slot)
    while (owner != key) {
      if (owner == 0) {
        store<u32>(slot, key)
        store<u32>(slot, freePage, 4)
        freePage += PAGE_BYTES
        pages++
        break
      }
      at = (at + 1) & last
      slot = slots + at * SLOT_BYTES
      owner = load<u32>(slot)
    }
    const counter = load<u32>(slot, 4) + ((elapsed & (PAGE_SIZE - 1)) << 1)
    const before = u32(load<u16>(counter))
    store<u16>(counter, u16(before + 1))
    values += u32(before == 0)
    if (before == u32(u16.MAX_VALUE)) {
      store<u32>(wrapsEnd, counter)
      wrapsEnd += 4
    }
  }
}

/**
 * The third pass: counts the queued rows up to `end`, each in the list of its cell or in its page. With many labels these are spread
 * over more memory than the caches hold. In a loop as short as this one the processor waits for several of them at once.
 */
export function tally(end: u32): void {
  makeRoom()
  for (let waiting: u32 = WAITING_AT; waiting < end; waiting += 8) {
    const cell = load<u32>(waiting)
    const elapsed = load<u32>(waiting, 4)
    let place = Lists.placeOf(cell)
    if (place != IN_PAGES && Lists.isFull(place)) place = continueList(cell, place)
    if (place == IN_PAGES) Pages.count(cell, elapsed)
    else {
      store<u16>(place, u16(elapsed))
      Lists.setPlace(cell, place + 2)
    }
  }
}

/** One time, at once. */
export function countTime(cell: u32, elapsed: u32): void {
  Pages.wait(WAITING_AT, cell, elapsed)
  tally(WAITING_AT + 8)
}

/** Where the cell's next time goes. If it has too many for a list, they are moved to pages. */
function continueList(cell: u32, place: u32): u32 {
  const next = Lists.extend(place)
  if (next != 0) return next
  for (let list = place - LIST_BYTES; list != 0; list = Lists.release(list)) {
    for (let at = list + LIST_HEAD_BYTES; at < list + LIST_BYTES; at += 2)
      Pages.count(cell, u32(load<u16>(at)))
  }
  Lists.setPlace(cell, IN_PAGES)
  makeRoom()
  return IN_PAGES
}

/** Every queued row, and every time of a list, may need its own page; and a row may make its count wrap around. */
function makeRoom(): void {
  if (wrapsRoom - wrapsEnd < u32(WAITING_ROWS) * 4) growWraps()
  if (pagesEnd - freePage >= ROOM_PAGES * PAGE_BYTES) return
  // The rest of the chunk is lost, which is less than half of it.
  const isCrowded = (pages + CHUNK_PAGES) * 3 > (u32(1) << (32 - shift)) * 2
  if (isCrowded) growSlots()
  else useChunk(reserve(CHUNK_PAGES * PAGE_BYTES), CHUNK_PAGES * PAGE_BYTES)
}

function useChunk(chunk: u32, bytes: u32): void {
  freePage = chunk
  pagesEnd = chunk + bytes
}

/** The old slots become a chunk of pages. */
function growSlots(): void {
  const from = slots
  const bytes = SLOT_BYTES << (32 - shift)
  shift--
  slots = reserve(SLOT_BYTES << (32 - shift))
  for (let old = from; old < from + bytes; old += SLOT_BYTES) {
    const key = load<u32>(old)
    if (key != 0) store<u64>(emptySlot(key), load<u64>(old))
  }
  memory.fill(from, 0, bytes)
  useChunk(from, bytes)
}

function emptySlot(key: u32): u32 {
  const last = u32(-1) >> shift
  let at = (key * HASH) >> shift
  while (load<u32>(slots + at * SLOT_BYTES) != 0) at = (at + 1) & last
  return slots + at * SLOT_BYTES
}

function growWraps(): void {
  const bytes = wrapsEnd - wraps
  const room = (wrapsRoom - wraps) * 2
  const list = reserve(room)
  memory.copy(list, wraps, bytes)
  wraps = list
  wrapsEnd = list + bytes
  wrapsRoom = list + room
}

let sorted: u32 = 0
let sortedRoom: u32 = 0

/** Writes all pages in the order of their keys, two ints each, address and key; returns where the list begins. */
export function sortPages(): u32 {
  const bytes = pages * SLOT_BYTES
  if (bytes * 2 > sortedRoom) {
    sorted = reserve(bytes * 2)
    sortedRoom = bytes * 2
  }
  let to = sorted
  const slotsEnd = slots + (SLOT_BYTES << (32 - shift))
  for (let slot = slots; slot < slotsEnd; slot += SLOT_BYTES) {
    // The key ends up in the upper half of eight bytes.
    if (load<u32>(slot) != 0) {
      store<u64>(to, rotl<u64>(load<u64>(slot), 32))
      to += SLOT_BYTES
    }
  }
  sortBy(32, sorted, sorted + bytes, bytes)
  sortBy(43, sorted + bytes, sorted, bytes)
  sortBy(54, sorted, sorted + bytes, bytes)
  return sorted + bytes
}

const DIGIT_BITS = 11
/** The queue is empty while pages are sorted, so its space is free. */
const STARTS_AT = WAITING_AT

/** Moves the list to `to`, sorted by eleven bits of each entry; a stable sort. */
function sortBy(bit: u64, from: u32, to: u32, bytes: u32): void {
  const digit: u64 = (1 << DIGIT_BITS) - 1
  memory.fill(STARTS_AT, 0, 4 << DIGIT_BITS)
  for (let at = from; at < from + bytes; at += 8) {
    const start = STARTS_AT + (u32((load<u64>(at) >> bit) & digit) << 2)
    store<u32>(start, load<u32>(start) + 8)
  }
  let next = to
  for (let start = STARTS_AT; start < STARTS_AT + (4 << DIGIT_BITS); start += 4) {
    const length = load<u32>(start)
    store<u32>(start, next)
    next += length
  }
  for (let at = from; at < from + bytes; at += 8) {
    const entry = load<u64>(at)
    const start = STARTS_AT + (u32((entry >> bit) & digit) << 2)
    const place = load<u32>(start)
    store<u64>(place, entry)
    store<u32>(start, place + 8)
  }
}
