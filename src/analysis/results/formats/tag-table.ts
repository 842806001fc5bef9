import type { K6Frames, K6Tag } from './k6-points.js'

/** The tags, without the VU, of a row that was read before. */
export interface KnownTags {
  /** As they were written, between the value and the metadata. */
  readonly written: DataView
  readonly texts: Readonly<Partial<Record<K6Tag, string>>>
  readonly frames: K6Frames
}

const MOST_KNOWN = 10_000
/** Of all of them, as they were written: a name may be as long as a row. */
const MOST_BYTES = 16 * 1024 * 1024
const SLOTS = 1 << 14

/** The different tags of the rows of one metric; there are few. A table of bytes, since a string for every row would be garbage. */
export class TagTable {
  readonly #slots = Array<KnownTags | undefined>(SLOTS).fill(undefined)
  #size = 0
  #bytes = 0

  find(bytes: DataView, from: number, to: number): KnownTags | undefined {
    for (let slot = hash(bytes, from, to); ; slot = (slot + 1) & (SLOTS - 1)) {
      const known = this.#slots[slot]
      if (known === undefined || isSame(known.written, bytes, from, to)) return known
    }
  }

  /** If there are more than fit, the first ones are forgotten. */
  add(known: KnownTags): void {
    const { written } = known
    if (this.find(written, 0, written.byteLength) !== undefined) return
    this.#bytes += written.byteLength
    if (this.#size >= MOST_KNOWN || this.#bytes > MOST_BYTES) {
      this.#slots.fill(undefined)
      this.#size = 0
      this.#bytes = written.byteLength
    }
    let slot = hash(written, 0, written.byteLength)
    while (this.#slots[slot] !== undefined) slot = (slot + 1) & (SLOTS - 1)
    this.#slots[slot] = known
    this.#size++
  }
}

/** Every byte counts, four at a time (up to the first three): names may differ in a number only, wherever it is. */
function hash(bytes: DataView, from: number, to: number): number {
  let value = to - from
  for (let at = to - 4; at >= from; at -= 4) value = Math.imul(value ^ bytes.getInt32(at), 0x01000193)
  return (value ^ (value >>> 15)) & (SLOTS - 1)
}

function isSame(written: DataView, bytes: DataView, from: number, to: number): boolean {
  const length = to - from
  if (written.byteLength !== length) return false
  let i = 0
  for (; i + 4 <= length; i += 4) if (written.getInt32(i) !== bytes.getInt32(from + i)) return false
  for (; i < length; i++) if (written.getUint8(i) !== bytes.getUint8(from + i)) return false
  return true
}
