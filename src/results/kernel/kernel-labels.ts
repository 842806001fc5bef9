/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { CONTROL, LABEL_SLOT_BYTES } from './kernel-layout.js'
import type { KernelMemory } from './kernel-memory.js'

const SLOT_INTS = LABEL_SLOT_BYTES / 4
const FIRST_SLOTS = 1024
const FIRST_BYTES = 16 * 1024
/** What is longer is never remembered, lest a hostile file fill the memory. */
const MAX_LABEL_BYTES = 1024

/** A field of the kernel's memory, by its addresses, with the hash that the kernel gave it. */
export interface KernelField {
  readonly start: number
  readonly end: number
  readonly hash: number
}

/** What the kernel knows of labels: the number of each, by the bytes that stand in the rows. */
export class KernelLabels {
  readonly #memory: KernelMemory
  #slots: number
  #mask = FIRST_SLOTS - 1
  #size = 0
  #nextByte: number
  #bytesEnd: number

  constructor(memory: KernelMemory) {
    this.#memory = memory
    this.#slots = memory.reserve(FIRST_SLOTS * LABEL_SLOT_BYTES)
    this.#nextByte = memory.reserve(FIRST_BYTES)
    this.#bytesEnd = this.#nextByte + FIRST_BYTES
    this.#announce()
  }

  /** From now on the kernel takes the field for the label of that number. */
  learn(field: KernelField, label: number): void {
    const length = field.end - field.start
    if (length > MAX_LABEL_BYTES) return
    const slot = this.#findSlot(field)
    // One block of rows may have told of it several times.
    if (this.#memory.ints[slot + 3] !== 0) return
    if (this.#nextByte + length > this.#bytesEnd) this.#makeBytes()
    this.#memory.bytes.copyWithin(this.#nextByte, field.start, field.end)
    this.#memory.ints.set([field.hash, length, this.#nextByte, label + 1], slot)
    this.#nextByte += length
    this.#size++
    if (this.#size * 2 > this.#mask) this.#grow()
  }

  /** Index of the field's slot, or of the empty one where it belongs. */
  #findSlot(field: KernelField): number {
    const { ints } = this.#memory
    for (let place = field.hash; ; place++) {
      const slot = this.#slots / 4 + (place & this.#mask) * SLOT_INTS
      if (ints[slot + 3] === 0 || this.#isSame(slot, field)) return slot
    }
  }

  #isSame(slot: number, { start, end, hash }: KernelField): boolean {
    const { ints, bytes } = this.#memory
    if (ints[slot] !== hash || ints[slot + 1] !== end - start) return false
    const known = ints[slot + 2]! - start
    for (let at = start; at < end; at++) if (bytes[at] !== bytes[known + at]) return false
    return true
  }

  #makeBytes(): void {
    const length = Math.max(FIRST_BYTES, this.#size * 16)
    this.#nextByte = this.#memory.reserve(length)
    this.#bytesEnd = this.#nextByte + length
  }

  #grow(): void {
    const from = this.#slots / 4
    const to = from + (this.#mask + 1) * SLOT_INTS
    this.#mask = this.#mask * 2 + 1
    this.#slots = this.#memory.reserve((this.#mask + 1) * LABEL_SLOT_BYTES)
    const { ints } = this.#memory
    for (let old = from; old < to; old += SLOT_INTS) {
      if (ints[old + 3] === 0) continue
      let place = ints[old]!
      while (ints[this.#slots / 4 + (place & this.#mask) * SLOT_INTS + 3] !== 0) place++
      ints.copyWithin(this.#slots / 4 + (place & this.#mask) * SLOT_INTS, old, old + SLOT_INTS)
    }
    this.#announce()
  }

  #announce(): void {
    this.#memory.ints[CONTROL.labelSlots / 4] = this.#slots
    this.#memory.ints[CONTROL.labelMask / 4] = this.#mask
  }
}
