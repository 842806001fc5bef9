import { LIST_BYTES, LIST_HEAD_BYTES, MOST_LISTED, TIME_BITS } from './layout'
import { reserve } from './heap'

// The times in the lists of a cell, sorted by a bit for each time, and a bit for each word of these bits.

const WORDS: u32 = 1 << (TIME_BITS - 5)
const GROUPS: u32 = WORDS >> 5

let counts: u32 = 0
let bits: u32 = 0
let words: u32 = 0
let sorted: u32 = 0

export function prepareSorting(): void {
  counts = reserve(2 << TIME_BITS)
  bits = reserve(WORDS << 2)
  words = reserve(GROUPS << 2)
  sorted = reserve(u32(MOST_LISTED) << 1)
}

/** Sixteen bits each. */
export function sortedTimes(): u32 {
  return sorted
}

/** Sorts the times of the cell whose next one goes to this place. */
export function sortTimes(place: u32): void {
  let end = place
  for (let list = (place - 1) & -LIST_BYTES; list != 0; list = load<u32>(list)) {
    for (let at = list + LIST_HEAD_BYTES; at < end; at += 2) mark(u32(load<u16>(at)))
    end = load<u32>(list) + LIST_BYTES
  }
  let to = sorted
  for (let group: u32 = 0; group < GROUPS; group++) {
    let some = load<u32>(words + (group << 2))
    if (some == 0) continue
    store<u32>(words + (group << 2), 0)
    for (; some != 0; some &= some - 1) {
      const word = (group << 5) + ctz(some)
      let times = load<u32>(bits + (word << 2))
      store<u32>(bits + (word << 2), 0)
      for (; times != 0; times &= times - 1) {
        const time = (word << 5) + ctz(times)
        for (let count = u32(load<u16>(counts + (time << 1))); count > 0; count--) {
          store<u16>(to, u16(time))
          to += 2
        }
        store<u16>(counts + (time << 1), 0)
      }
    }
  }
}

function mark(time: u32): void {
  const count = counts + (time << 1)
  store<u16>(count, u16(load<u16>(count) + 1))
  const word = bits + ((time >> 5) << 2)
  store<u32>(word, load<u32>(word) | (1 << (time & 31)))
  const group = words + ((time >> 10) << 2)
  store<u32>(group, load<u32>(group) | (1 << ((time >> 5) & 31)))
}
