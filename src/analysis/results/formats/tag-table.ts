/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import type { K6Frames, K6Tag } from './k6-points.js'

/** The tags, without the VU, of a row that was read before. */
export interface KnownTags {
  /** As they were written, between the value and the metadata. */
  readonly written: Uint8Array
  readonly texts: Readonly<Partial<Record<K6Tag, string>>>
  readonly frames: K6Frames
}

const MOST_KNOWN = 10_000
const SLOTS = 1 << 14

/** The different tags of the rows of one metric; there are few. A table of bytes, since a string for every row would be garbage. */
export class TagTable {
  readonly #slots = Array<KnownTags | undefined>(SLOTS).fill(undefined)
  #size = 0

  find(bytes: Uint8Array, from: number, to: number): KnownTags | undefined {
    for (let slot = hash(bytes, from, to); ; slot = (slot + 1) & (SLOTS - 1)) {
      const known = this.#slots[slot]
      if (known === undefined || isSame(known.written, bytes, from, to)) return known
    }
  }

  /** Of a file with more than there is room for, the first ones are forgotten. */
  add(known: KnownTags): void {
    const { written } = known
    if (this.find(written, 0, written.length) !== undefined) return
    if (this.#size >= MOST_KNOWN) {
      this.#slots.fill(undefined)
      this.#size = 0
    }
    let slot = hash(written, 0, written.length)
    while (this.#slots[slot] !== undefined) slot = (slot + 1) & (SLOTS - 1)
    this.#slots[slot] = known
    this.#size++
  }
}

/** Of every other byte: names and addresses differ in more than one. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = to - from
  for (let at = from; at < to; at += 2) value = Math.imul(value ^ bytes[at]!, 0x01000193)
  return (value ^ (value >>> 15)) & (SLOTS - 1)
}

function isSame(written: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (written.length !== to - from) return false
  for (let i = 0; i < written.length; i++) if (written[i] !== bytes[from + i]) return false
  return true
}
