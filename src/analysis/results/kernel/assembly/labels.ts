import { reserve } from './heap'
import { LABEL_SCOPE_BIT } from './layout'

// Labels are known by their bytes in the row, including quotes: the caller has interpreted them once. Open addressing by hash. Each slot
// is one cache line: the hash, the length, the label's number + 1 with its scope, the address of the bytes behind the head, and the
// head, padded with zeros.

const SLOT_BYTES: u32 = 64
const FIRST_SLOTS: u32 = 1024
const FIRST_BYTES: u32 = 0x4000
/** Longer labels are never stored, so that a hostile file cannot fill up the memory. */
const MAX_LABEL_BYTES: u32 = 1024
/** How much of a label is compared at once. */
const HEAD_BYTES: u32 = 32

const LENGTH = 4
const FOUND = 8
const REST = 12
const HEAD = 16

let slots: u32 = 0
let mask: u32 = FIRST_SLOTS - 1
let size: u32 = 0
let nextByte: u32 = 0
let bytesEnd: u32 = 0

export function prepareLabels(): void {
  slots = reserve(FIRST_SLOTS * SLOT_BYTES)
}

/** From now on the field is known as the label with that number, whose ends have a scope of their own unless it is 0. */
export function learnLabel(start: u32, end: u32, hash: u32, label: u32, scope: u32): void {
  const length = end - start
  // One block of rows may report it several times.
  if (length > MAX_LABEL_BYTES || Labels.find(start, length, hash) != 0) return
  const slot = emptySlot(hash)
  store<u32>(slot, hash)
  store<u32>(slot, length, LENGTH)
  store<u32>(slot, (label + 1) | (scope << LABEL_SCOPE_BIT), FOUND)
  memory.copy(slot + HEAD, start, min(length, HEAD_BYTES))
  if (length > HEAD_BYTES) store<u32>(slot, keepRest(start, length), REST)
  size++
  if (size * 2 > mask) grow()
}

/** Copies the bytes behind the head, and the last eight of it; returns where the label would begin. */
function keepRest(start: u32, length: u32): u32 {
  const from: u32 = HEAD_BYTES - 8
  const room = length - from
  if (nextByte + room > bytesEnd) {
    const bytes = max(FIRST_BYTES, size * HEAD_BYTES)
    nextByte = reserve(bytes)
    bytesEnd = nextByte + bytes
  }
  memory.copy(nextByte, start + from, room)
  const known = nextByte - from
  nextByte += room
  return known
}

function emptySlot(hash: u32): u32 {
  let at = hash
  while (load<u32>(slots + (at & mask) * SLOT_BYTES, FOUND) != 0) at++
  return slots + (at & mask) * SLOT_BYTES
}

function grow(): void {
  const from = slots
  const to = from + (mask + 1) * SLOT_BYTES
  mask = mask * 2 + 1
  slots = reserve((mask + 1) * SLOT_BYTES)
  for (let old = from; old < to; old += SLOT_BYTES) {
    if (load<u32>(old, FOUND) != 0) memory.copy(emptySlot(load<u32>(old)), old, SLOT_BYTES)
  }
}

export class Labels {
  /** The first bytes of a field as two vectors, padded with zeros, and the rest eight by eight. */
  @inline
  static hash(start: u32, length: u32): u32 {
    const low = Labels.low(start, length)
    const high = Labels.high(start, length)
    let hash: u64 =
      (u64(i64x2.extract_lane(low, 0)) ^ length) * 0x9e3779b97f4a7c15 +
      u64(i64x2.extract_lane(low, 1)) * 0xc2b2ae3d27d4eb4f +
      u64(i64x2.extract_lane(high, 0)) * 0x165667b19e3779f9 +
      u64(i64x2.extract_lane(high, 1)) * 0xd6e8feb86659fd93
    if (length > HEAD_BYTES) hash = hashRest(start, length, hash)
    hash ^= hash >> 32
    hash *= 0x9e3779b97f4a7c15
    return u32(hash >> 32)
  }

  /** The number of the label + 1, and the scope of its ends from LABEL_SCOPE_BIT on; 0 if it is unknown. */
  @inline
  static find(start: u32, length: u32, hash: u32): u32 {
    const low = Labels.low(start, length)
    const high = Labels.high(start, length)
    let found: u32 = 0
    for (let at = hash; ; at++) {
      const slot = slots + (at & mask) * SLOT_BYTES
      found = load<u32>(slot, FOUND)
      if (found == 0) break
      if (load<u32>(slot) != hash || load<u32>(slot, LENGTH) != length) continue
      const differs = v128.or(
        v128.xor(low, v128.load(slot, HEAD)),
        v128.xor(high, v128.load(slot, HEAD + 16))
      )
      if (v128.any_true(differs)) continue
      if (length <= HEAD_BYTES || isSameRest(start, length, load<u32>(slot, REST))) break
    }
    return found
  }

  @inline
  static low(start: u32, length: u32): v128 {
    const behind = i8x16.splat(i8(min(length, HEAD_BYTES)))
    return v128.and(v128.load(start), i8x16.lt_u(Labels.counting(), behind))
  }

  @inline
  static high(start: u32, length: u32): v128 {
    const behind = i8x16.sub_sat_u(i8x16.splat(i8(min(length, HEAD_BYTES))), i8x16.splat(16))
    return v128.and(v128.load(start, 16), i8x16.lt_u(Labels.counting(), behind))
  }

  @inline
  static counting(): v128 {
    return i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  }
}

// The last eight bytes overlap those before.
function hashRest(start: u32, length: u32, hash: u64): u64 {
  const last = start + length - 8
  for (let at = start + HEAD_BYTES; at < last; at += 8) {
    hash = (hash ^ load<u64>(at)) * 0x9e3779b97f4a7c15
    hash ^= hash >> 32
  }
  return (hash ^ load<u64>(last)) * 0x9e3779b97f4a7c15
}

function isSameRest(start: u32, length: u32, known: u32): bool {
  for (let at: u32 = HEAD_BYTES; at < length - 8; at += 8) {
    if (load<u64>(start + at) != load<u64>(known + at)) return false
  }
  return load<u64>(start + length - 8) == load<u64>(known + length - 8)
}
