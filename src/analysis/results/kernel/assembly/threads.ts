import { AnyOrder, hostnameColumn, threadNameColumn } from './columns'
import { Field } from './field'
import { reserve } from './heap'

// Threads are known by the bytes of their names and hosts in the row, including quotes: the caller has numbered them once. Open
// addressing by hash. Each slot has the hash, the lengths of name and host, the thread's number + 1, and the address of both, of which
// each is padded with zeros to whole words.

const SLOT_BYTES: u32 = 32
const FIRST_SLOTS: u32 = 256
/** Longer names are never stored, so that a hostile file cannot fill up the memory. */
const MAX_BYTES: u32 = 256
const CHUNK_BYTES: u32 = 0x4000

const NAME_LENGTH = 4
const HOST_LENGTH = 8
const FOUND = 12
const BYTES = 16

let slots: u32 = 0
let mask: u32 = FIRST_SLOTS - 1
let size: u32 = 0
let nextByte: u32 = 0
let bytesEnd: u32 = 0

/** Before the first one is looked for. */
export function prepareThreads(): void {
  slots = reserve(FIRST_SLOTS * SLOT_BYTES)
}

/** From now on the thread of this row has that number. */
export function learnThread(place: u32, number: u32): void {
  const name = Field.start(place, threadNameColumn())
  const nameLength = Field.end<AnyOrder>(place, threadNameColumn()) - name
  const host = hostnameColumn() < 0 ? name : Field.start(place, hostnameColumn())
  const hostLength: u32 = hostnameColumn() < 0 ? 0 : Field.end<AnyOrder>(place, hostnameColumn()) - host
  // One block of rows may report it several times.
  if (nameLength > MAX_BYTES || hostLength > MAX_BYTES || findThread(place) != 0) return
  if ((size + 1) * 2 > mask) grow()
  const hash = Words.hash(host, hostLength, Words.hash(name, nameLength, nameLength))
  const bytes = makeRoom(Words.padded(nameLength) + Words.padded(hostLength))
  memory.copy(bytes, name, nameLength)
  memory.copy(bytes + Words.padded(nameLength), host, hostLength)
  const slot = emptySlot(hash)
  store<u32>(slot, hash)
  store<u32>(slot, nameLength, NAME_LENGTH)
  store<u32>(slot, hostLength, HOST_LENGTH)
  store<u32>(slot, number + 1, FOUND)
  store<u32>(slot, bytes, BYTES)
  size++
}

/** The number + 1 of the row's thread; 0 if it is unknown. */
export function findThread(place: u32): u32 {
  const name = Field.start(place, threadNameColumn())
  const nameLength = Field.end<AnyOrder>(place, threadNameColumn()) - name
  let hash = Words.hash(name, nameLength, nameLength)
  let host = name
  let hostLength: u32 = 0
  if (hostnameColumn() >= 0) {
    host = Field.start(place, hostnameColumn())
    hostLength = Field.end<AnyOrder>(place, hostnameColumn()) - host
    hash = Words.hash(host, hostLength, hash)
  }
  let found: u32 = 0
  for (let at = hash; ; at++) {
    const slot = slots + (at & mask) * SLOT_BYTES
    found = load<u32>(slot, FOUND)
    if (found == 0) break
    if (load<u32>(slot) != hash || load<u32>(slot, NAME_LENGTH) != nameLength) continue
    if (load<u32>(slot, HOST_LENGTH) != hostLength) continue
    const bytes = load<u32>(slot, BYTES)
    if (
      Words.isSame(name, nameLength, bytes) &&
      Words.isSame(host, hostLength, bytes + Words.padded(nameLength))
    )
      break
  }
  return found
}

class Words {
  /** In whole words. */
  @inline
  static padded(length: u32): u32 {
    return (length + 7) & ~7
  }

  /** Up to eight bytes, padded with zeros. */
  @inline
  static read(start: u32, length: u32): u64 {
    const word = load<u64>(start)
    return length >= 8 ? word : word & ((u64(1) << (u64(length) << 3)) - 1)
  }

  @inline
  static hash(start: u32, length: u32, from: u32): u32 {
    let hash: u64 = from
    for (let at: u32 = 0; at < length; at += 8) {
      hash = (hash ^ Words.read(start + at, length - at)) * 0x9e3779b97f4a7c15
      hash ^= hash >> 32
    }
    return u32(hash)
  }

  @inline
  static isSame(start: u32, length: u32, known: u32): bool {
    let at: u32 = 0
    while (at < length && Words.read(start + at, length - at) == load<u64>(known + at)) at += 8
    return at >= length
  }
}

function makeRoom(bytes: u32): u32 {
  if (nextByte + bytes > bytesEnd) {
    nextByte = reserve(CHUNK_BYTES)
    bytesEnd = nextByte + CHUNK_BYTES
  }
  const room = nextByte
  nextByte += bytes
  return room
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
