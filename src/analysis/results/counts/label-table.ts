/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

import { grow } from '../typed-arrays.js'

const MAX_LABELS = 1 << 17
/** Of all labels together: a row may be 16 MiB long, and each of them may have a label of its own. */
const MAX_BYTES = 16 * 1024 * 1024
const LONGEST_LABEL = 1000
/** At most, in UTF-8. */
const BYTES_A_CHARACTER = 4
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Numbers labels by their bytes; strings are only created at the end. */
export class LabelTable {
  #slots = new Int32Array(1024)
  #mask = 1023
  #hashes = new Int32Array(512)
  /** Label `n` is in `bytes` from `starts[n]` to `starts[n + 1]`. */
  #starts = new Uint32Array(513)
  #bytes = new Uint8Array(16 * 1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The label's number, assigned on first sight; -1 if there are more labels than memory should be spent on. */
  numberOf(buffer: Uint8Array, start: number, end: number): number {
    return this.numberOfHashed(buffer, start, end, hashOf(buffer, start, end))
  }

  /** The same with a hash that the caller has computed. */
  numberOfHashed(buffer: Uint8Array, start: number, end: number, hash: number): number {
    let slot = hash & this.#mask
    for (;;) {
      const found = this.#slots[slot]!
      if (found === 0) return this.#append({ buffer, start, end, hash, slot })
      if (this.#hashes[found - 1] === hash && this.#equals(found - 1, buffer, start, end)) return found - 1
      slot = (slot + 1) & this.#mask
    }
  }

  /** For display: labels may be whole documents, and nobody reads more. */
  toStrings(): string[] {
    return Array.from({ length: this.#size }, (_, label) => {
      const start = this.#starts[label]!
      // What is cut off a string stays in memory with it.
      const end = Math.min(this.#starts[label + 1]!, start + LONGEST_LABEL * BYTES_A_CHARACTER)
      return shortenLabel(decoder.decode(this.#bytes.subarray(start, end)))
    })
  }

  textOf(label: number): string {
    return decoder.decode(this.#bytes.subarray(this.#starts[label], this.#starts[label + 1]))
  }

  // Hashes collide; only the bytes show that two labels are the same.
  #equals(label: number, buffer: Uint8Array, start: number, end: number): boolean {
    let at = this.#starts[label]!
    if (this.#starts[label + 1]! - at !== end - start) return false
    for (let i = start; i < end; i++) if (buffer[i] !== this.#bytes[at++]) return false
    return true
  }

  #append(label: { buffer: Uint8Array; start: number; end: number; hash: number; slot: number }): number {
    const from = this.#starts[this.#size]!
    const to = from + label.end - label.start
    if (this.#size === MAX_LABELS || to > MAX_BYTES) return -1
    const number = this.#size++
    if (to > this.#bytes.length)
      this.#bytes = grow(this.#bytes, new Uint8Array(Math.max(to, this.#bytes.length * 2)))
    this.#bytes.set(label.buffer.subarray(label.start, label.end), from)
    this.#hashes[number] = label.hash
    this.#starts[number + 1] = to
    this.#slots[label.slot] = number + 1
    if (this.#size === this.#hashes.length) this.#grow()
    return number
  }

  #grow(): void {
    this.#hashes = grow(this.#hashes, new Int32Array(this.#hashes.length * 2))
    this.#starts = grow(this.#starts, new Uint32Array(this.#hashes.length + 1))
    this.#mask = this.#mask * 2 + 1
    this.#slots = new Int32Array(this.#mask + 1)
    for (let label = 0; label < this.#size; label++) {
      let slot = this.#hashes[label]! & this.#mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask
      this.#slots[slot] = label + 1
    }
  }
}

export function shortenLabel(text: string): string {
  return text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text
}

/** Four bytes per multiplication, which is the most that a row's label costs. */
function hashOf(buffer: Uint8Array, start: number, end: number): number {
  let hash = end - start
  let i = start
  for (; i + 4 <= end; i += 4) {
    const word = buffer[i]! | (buffer[i + 1]! << 8) | (buffer[i + 2]! << 16) | (buffer[i + 3]! << 24)
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  for (; i < end; i++) hash = Math.imul(hash ^ buffer[i]!, 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
