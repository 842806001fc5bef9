/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import {
  CONTROL,
  PAGE_BITS,
  PAGE_BYTES,
  PAGE_HASH,
  PAGE_SLOT_BYTES,
  PAGES_A_CELL_BITS,
  WAITING_ROWS
} from './kernel-layout.js'
import type { CountedRuns } from '../counts/histogram.js'
import type { KernelMemory } from './kernel-memory.js'

const SLOT_INTS = PAGE_SLOT_BYTES / 4
const PAGE_SIZE = 1 << PAGE_BITS
const FIRST_SLOT_BITS = 14
const CHUNK_PAGES = 4096

/** The kernel's counts of times: pages of sixteen neighbours that exist only where something was counted. */
export class KernelPages {
  readonly #memory: KernelMemory
  #slots: number
  #slotBits = FIRST_SLOT_BITS
  #capacity = 0
  #pagesEnd = 0

  constructor(memory: KernelMemory) {
    this.#memory = memory
    this.#slots = memory.reserve(PAGE_SLOT_BYTES << FIRST_SLOT_BITS)
    this.#announce()
    this.makeRoom()
  }

  /** To be called between blocks of rows: while the kernel runs, nothing grows. */
  makeRoom(): void {
    // Every row that waits may need a page of its own.
    if (this.#pagesEnd - this.#memory.ints[CONTROL.freePage / 4]! >= WAITING_ROWS * PAGE_BYTES) return
    const chunk = this.#memory.reserve(CHUNK_PAGES * PAGE_BYTES)
    this.#memory.ints[CONTROL.freePage / 4] = chunk
    this.#pagesEnd = chunk + CHUNK_PAGES * PAGE_BYTES
    this.#capacity += CHUNK_PAGES
    if (this.#capacity * 2 > 1 << this.#slotBits) this.#grow()
  }

  /** The counts of cells 0 to `cells - 1`, one run each. */
  toRuns(cells: number): CountedRuns {
    const keys = this.#sortKeys()
    const { ints } = this.#memory
    const pages = keys.map((key) => ints[this.#findSlot(key) + 1]! / 4)
    let size = 0
    for (const page of pages) for (let i = 0; i < PAGE_SIZE; i++) if (ints[page + i] !== 0) size++
    const runs = {
      offsets: new Uint32Array(cells + 1),
      values: new Uint32Array(size),
      counts: new Uint32Array(size)
    }
    let next = 0
    let cell = 0
    keys.forEach((key, index) => {
      const owner = (key - 1) >>> PAGES_A_CELL_BITS
      while (cell < owner) runs.offsets[++cell] = next
      const from = (((key - 1) & ((1 << PAGES_A_CELL_BITS) - 1)) << PAGE_BITS) >>> 0
      const page = pages[index]!
      for (let i = 0; i < PAGE_SIZE; i++) {
        const count = ints[page + i]!
        if (count === 0) continue
        runs.values[next] = from + i
        runs.counts[next++] = count
      }
    })
    runs.offsets.fill(next, cell + 1)
    return runs
  }

  #sortKeys(): Uint32Array {
    const from = this.#slots / 4
    const all = this.#memory.ints.subarray(from, from + (SLOT_INTS << this.#slotBits))
    const keys = new Uint32Array(all.length / SLOT_INTS)
    let size = 0
    for (let slot = 0; slot < all.length; slot += SLOT_INTS) if (all[slot] !== 0) keys[size++] = all[slot]!
    return keys.subarray(0, size).sort()
  }

  /** Index of the key's slot, or of the empty one where it belongs. */
  #findSlot(key: number): number {
    const { ints } = this.#memory
    const mask = (1 << this.#slotBits) - 1
    for (let place = Math.imul(key, PAGE_HASH) >>> (32 - this.#slotBits); ; place++) {
      const slot = this.#slots / 4 + (place & mask) * SLOT_INTS
      if (ints[slot] === 0 || ints[slot] === key) return slot
    }
  }

  #grow(): void {
    const from = this.#slots / 4
    const to = from + (SLOT_INTS << this.#slotBits)
    this.#slotBits++
    this.#slots = this.#memory.reserve(PAGE_SLOT_BYTES << this.#slotBits)
    const { ints } = this.#memory
    for (let old = from; old < to; old += SLOT_INTS) {
      if (ints[old] !== 0) ints.copyWithin(this.#findSlot(ints[old]!), old, old + SLOT_INTS)
    }
    this.#announce()
  }

  #announce(): void {
    this.#memory.ints[CONTROL.pageSlots / 4] = this.#slots
    this.#memory.ints[CONTROL.pageShift / 4] = 32 - this.#slotBits
  }
}
