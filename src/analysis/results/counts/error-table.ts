import { shorten } from '../../../contract/text.js'
import { LabelTable } from './label-table.js'
import type { PartErrors } from './scan-result.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every reason that is counted has a number */

/** The fields of a failed row that say why, without their quotes. Reused for every row. */
export interface ErrorFields {
  bytes: Uint8Array
  codeStart: number
  codeEnd: number
  messageStart: number
  messageEnd: number
  /** Whether quotes in the message are doubled. */
  hasEscapes: boolean
}

interface Reason {
  readonly code: string
  readonly message: string
}

const MAX_LENGTH = 200
/** Enough for this many characters, whatever they are. */
const MAX_BYTES = MAX_LENGTH * 4
const MAX_PER_LABEL = 200
const KEPT_PER_LABEL = 100
const MAX_ENTRIES = 20_000
const KEPT_ENTRIES = 10_000
/** Texts known by their bytes. Codes and messages have numbers below it, so that both fit into one number. */
const MAX_TEXTS = 8192
/** Twice as many as there can be entries: then half of them are unused. */
const MAX_REASONS = 2 * MAX_ENTRIES

/** Counts failed rows by label, response code and message. If there are too many different ones, the rare ones are combined. */
export class ErrorTable {
  #entries = new CountTable()
  readonly #rest = new Map<number, number>()
  #reasons: Reason[] = []
  /** Numbers of reasons by displayed text, and by the numbers of their texts. */
  #byReason = new Map<string, number>()
  #byTexts = new Map<number, number>()
  #texts = new LabelTable()

  add(label: number, fields: ErrorFields): void {
    const { bytes, codeStart, codeEnd, messageStart, messageEnd } = fields
    if (this.#texts.size > MAX_TEXTS - 2) this.#forgetTexts()
    const code = this.#texts.numberOf(bytes, codeStart, Math.min(codeEnd, codeStart + MAX_BYTES))
    const message = this.#texts.numberOf(bytes, messageStart, Math.min(messageEnd, messageStart + MAX_BYTES))
    // The same bytes mean different texts with and without doubled quotes.
    const key = (code * MAX_TEXTS + message) * 2 + Number(fields.hasEscapes)
    this.#count(label, this.#byTexts.get(key) ?? this.#learn(key, fields))
  }

  addText(label: number, code: string, message: string): void {
    this.#count(label, this.#numberOf(code, message))
  }

  toErrors(labels: readonly string[]): PartErrors {
    const nameOf = (label: number): string => labels[label] ?? ''
    const counts = this.#entries.list().map(({ label, reason, count }) => {
      const { code, message } = this.#reasons[reason]!
      return { label: nameOf(label), code, message, count }
    })
    return { counts, rest: [...this.#rest].map(([label, count]) => ({ label: nameOf(label), count })) }
  }

  #learn(key: number, fields: ErrorFields): number {
    const texts = this.#texts
    const reason = this.#numberOf(...readError(fields))
    // Making space for it may have reset the numbers.
    if (texts === this.#texts) this.#byTexts.set(key, reason)
    return reason
  }

  #numberOf(code: string, message: string): number {
    const key = `${code}\n${message}`
    const known = this.#byReason.get(key)
    if (known !== undefined) return known
    if (this.#reasons.length >= MAX_REASONS) this.#renumber()
    this.#byReason.set(key, this.#reasons.length)
    return this.#reasons.push({ code, message }) - 1
  }

  #count(label: number, reason: number): void {
    const entry = this.#entries.find(label, reason)
    if (entry >= 0) {
      this.#entries.add(entry, 1)
      return
    }
    if (this.#entries.sizeOf(label) >= MAX_PER_LABEL)
      this.#keepMostFrequent(this.#entries.list(label), KEPT_PER_LABEL)
    if (this.#entries.size >= MAX_ENTRIES) this.#keepMostFrequent(this.#entries.list(), KEPT_ENTRIES)
    this.#entries.insert(label, reason, 1)
  }

  #keepMostFrequent(entries: CountEntry[], kept: number): void {
    for (const { entry, label, count } of entries.sort((a, b) => b.count - a.count).slice(kept)) {
      this.#entries.drop(entry)
      this.#rest.set(label, (this.#rest.get(label) ?? 0) + count)
    }
  }

  /** Drops unused reasons: all get new numbers. */
  #renumber(): void {
    const [entries, reasons] = [this.#entries.list(), this.#reasons]
    this.#entries = new CountTable()
    this.#reasons = []
    this.#byReason = new Map()
    this.#forgetTexts()
    for (const { label, reason, count } of entries) {
      const { code, message } = reasons[reason]!
      this.#entries.insert(label, this.#numberOf(code, message), count)
    }
  }

  #forgetTexts(): void {
    this.#texts = new LabelTable()
    this.#byTexts = new Map()
  }
}

const decoder = new TextDecoder()

/** Code and message for display: on one line, and short. */
export function readError(fields: ErrorFields): [code: string, message: string] {
  const { bytes, codeStart, codeEnd, messageStart, messageEnd, hasEscapes } = fields
  const message = decode(bytes, messageStart, messageEnd)
  return [
    shorten(decode(bytes, codeStart, codeEnd), MAX_LENGTH),
    shorten(hasEscapes ? message.replaceAll('""', '"') : message, MAX_LENGTH)
  ]
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, Math.min(end, start + MAX_BYTES)))
}

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
class CountTable {
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
