import { CELLS, LIST_BYTES, LIST_HEAD_BYTES, MOST_LISTS } from './layout'
import { reserve } from './heap'

// Times of cells that have few: lists of 16-bit numbers, each of them one cache line. Ten thousand labels have a few hundred rows each, and
// few of these have the same time: counts would take several times the memory, and more cache misses per row. A list begins with the
// address of the one before it, or 0, and which one of its cell it is, from 1.

const CHUNK_LISTS: u32 = 1024

/** By cell: where its next time goes, 0 before the first one, or IN_PAGES. */
let places: u32 = 0
let freeList: u32 = 0
let listsEnd: u32 = 0
/** Lists that are not used any more; each has the address of the next one. */
let unused: u32 = 0

export function prepareLists(): void {
  places = reserve(CELLS << 2)
}

/** The place of each cell's next time. */
export function listPlaces(): u32 {
  return places
}

export class Lists {
  @inline
  static placeOf(cell: u32): u32 {
    return load<u32>(places + (cell << 2))
  }

  @inline
  static setPlace(cell: u32, place: u32): void {
    store<u32>(places + (cell << 2), place)
  }

  /** Whether there is no room at this place: before a cell's first time, and behind a list. */
  @inline
  static isFull(place: u32): bool {
    return (place & (LIST_BYTES - 1)) == 0
  }

  /** The place in a new list after the one that is full; 0 if the cell has enough of them. */
  static extend(place: u32): u32 {
    const before: u32 = place == 0 ? 0 : place - LIST_BYTES
    const lists = before == 0 ? 0 : u32(load<u16>(before, 4))
    if (lists == MOST_LISTS) return 0
    const list = newList()
    store<u32>(list, before)
    store<u16>(list, u16(lists + 1), 4)
    return list + LIST_HEAD_BYTES
  }

  /** The list can be used again; returns the one before it, or 0. */
  static release(list: u32): u32 {
    const before = load<u32>(list)
    store<u32>(list, unused)
    unused = list
    return before
  }
}

function newList(): u32 {
  if (unused != 0) {
    const list = unused
    unused = load<u32>(list)
    return list
  }
  if (freeList == listsEnd) {
    freeList = reserve(CHUNK_LISTS * LIST_BYTES)
    listsEnd = freeList + CHUNK_LISTS * LIST_BYTES
  }
  const list = freeList
  freeList += LIST_BYTES
  return list
}
