/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

export interface CountEntry {
  readonly entry: number
  readonly label: number
  readonly reason: number
  readonly count: number
}

const FIRST_ENTRIES = 256
const LABEL = 0
const REASON = 1
const COUNT = 2
const FIELDS = 3
/** Replaces the label of a dropped entry. */
const DROPPED = 0xffffffff

/**
 * Counts by label and reason, as plain numbers: ten thousand labels have twenty thousand entries, and as objects every
 * garbage collection would have to visit them.
 */
export class CountTable {
  /** The number of entries, and with those that were dropped. */
  #size = 0
  #used = 0
  #entries = new Uint32Array(FIRST_ENTRIES * FIELDS)
  /** Entry + 1, by open addressing. */
  #slots = new Int32Array(FIRST_ENTRIES * 2)
  /** The number of entries per label. */
  #sizes = new Uint32Array(FIRST_ENTRIES)

  get size(): number {
    return this.#size
  }

  sizeOf(label: number): number {
    return this.#sizes[label] ?? 0
  }

  /** The number of the entry, or -1. */
  find(label: number, reason: number): number {
    return this.#slots[this.#slotOf(label, reason)]! - 1
  }

  add(entry: number, count: number): void {
    this.#entries[entry * FIELDS + COUNT]! += count
  }

  /** Only if there is no such entry. */
  insert(label: number, reason: number, count: number): void {
    if (this.#used * FIELDS === this.#entries.length) this.#makeRoom()
    if (label >= this.#sizes.length) this.#sizes = grown(this.#sizes, label + 1)
    const slot = this.#slotOf(label, reason)
    this.#entries.set([label, reason, count], this.#used * FIELDS)
    this.#slots[slot] = ++this.#used
    this.#size++
    this.#sizes[label]! += 1
  }

  drop(entry: number): void {
    this.#sizes[this.#entries[entry * FIELDS + LABEL]!]! -= 1
    this.#size--
    this.#entries[entry * FIELDS + LABEL] = DROPPED
  }

  /** Label by label, in insertion order; or those of one label. */
  list(wanted?: number): CountEntry[] {
    const byLabel = new Map<number, CountEntry[]>()
    for (let entry = 0; entry < this.#used; entry++) {
      const label = this.#entries[entry * FIELDS + LABEL]!
      if (label === DROPPED || (wanted !== undefined && label !== wanted)) continue
      const [, reason = 0, count = 0] = this.#entries.subarray(entry * FIELDS, (entry + 1) * FIELDS)
      const known = byLabel.get(label)
      if (known === undefined) byLabel.set(label, [{ entry, label, reason, count }])
      else known.push({ entry, label, reason, count })
    }
    return [...byLabel.values()].flat()
  }

  /** The entry's slot, or the empty one for it. */
  #slotOf(label: number, reason: number): number {
    const mask = this.#slots.length - 1
    const hash = Math.imul(label, 0x9e3779b1) + Math.imul(reason, 0x85ebca6b)
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const at = (this.#slots[slot]! - 1) * FIELDS
      if (at < 0) return slot
      if (this.#entries[at + LABEL] === label && this.#entries[at + REASON] === reason) return slot
    }
  }

  /** Compacts the table if many entries were dropped, and otherwise enlarges it. */
  #makeRoom(): void {
    if (this.#size * 2 > this.#used) {
      this.#entries = grown(this.#entries, 0)
      this.#slots = new Int32Array(this.#slots.length * 2)
    }
    const used = this.#used
    this.#used = 0
    this.#slots.fill(0)
    for (let at = 0; at < used * FIELDS; at += FIELDS) {
      const [label, reason] = [this.#entries[at + LABEL]!, this.#entries[at + REASON]!]
      if (label === DROPPED) continue
      // Nothing before `at` is needed any more, and writes stay below it.
      const slot = this.#slotOf(label, reason)
      this.#entries.copyWithin(this.#used * FIELDS, at, at + FIELDS)
      this.#slots[slot] = ++this.#used
    }
  }
}

function grown(list: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(least, list.length * 2))
  larger.set(list)
  return larger
}
