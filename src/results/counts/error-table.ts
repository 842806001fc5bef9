import { LabelTable } from './label-table.js'
import type { PartErrors } from './scan-result.js'

/** The fields of a failed row that say why, the quotes around them aside. Reused for every row. */
export interface ErrorFields {
  bytes: Uint8Array
  codeStart: number
  codeEnd: number
  messageStart: number
  messageEnd: number
  /** Whether quotes in the message are doubled. */
  hasEscapes: boolean
}

interface Entry {
  readonly label: number
  readonly code: string
  readonly message: string
  count: number
}

const MAX_LENGTH = 200
/** Enough for as many characters, whatever they are. */
const MAX_BYTES = MAX_LENGTH * 4
const MAX_PER_LABEL = 200
const KEPT_PER_LABEL = 100
const MAX_ENTRIES = 20_000
const KEPT_ENTRIES = 10_000
/** Texts that are known by their bytes. Codes and messages are numbered below it, so that both fit into one number with a label. */
const MAX_TEXTS = 8192

/** Counts failed rows by label, response code and message. Where there are too many different ones, the rare ones are put together. */
export class ErrorTable {
  readonly #byLabel = new Map<number, Map<string, Entry>>()
  readonly #rest = new Map<number, number>()
  #size = 0
  #texts = new LabelTable()
  #known = new Map<number, Entry>()

  add(label: number, fields: ErrorFields): void {
    const { bytes, codeStart, codeEnd, messageStart, messageEnd } = fields
    if (this.#texts.size > MAX_TEXTS - 2) this.#forget()
    const code = this.#texts.numberOf(bytes, codeStart, Math.min(codeEnd, codeStart + MAX_BYTES))
    const message = this.#texts.numberOf(bytes, messageStart, Math.min(messageEnd, messageStart + MAX_BYTES))
    // With doubled quotes or without, the same bytes mean different texts.
    const key = ((label * MAX_TEXTS + code) * MAX_TEXTS + message) * 2 + Number(fields.hasEscapes)
    const entry = this.#known.get(key) ?? this.#learn(key, label, fields)
    entry.count++
  }

  addText(label: number, code: string, message: string): void {
    this.#entryOf(label, code, message).count++
  }

  toErrors(labels: readonly string[]): PartErrors {
    const nameOf = (label: number): string => labels[label] ?? ''
    const entries = [...this.#byLabel.values()].flatMap((known) => [...known.values()])
    return {
      counts: entries.map(({ label, code, message, count }) => ({
        label: nameOf(label),
        code,
        message,
        count
      })),
      rest: [...this.#rest].map(([label, count]) => ({ label: nameOf(label), count }))
    }
  }

  #learn(key: number, label: number, fields: ErrorFields): Entry {
    const texts = this.#texts
    const entry = this.#entryOf(label, ...readError(fields))
    // To make room for it, the numbers may have been forgotten.
    if (texts === this.#texts) this.#known.set(key, entry)
    return entry
  }

  #entryOf(label: number, code: string, message: string): Entry {
    const key = `${code}\n${message}`
    const found = this.#byLabel.get(label)?.get(key)
    if (found !== undefined) return found
    this.#makeRoom(label)
    const known = this.#byLabel.get(label) ?? new Map<string, Entry>()
    const entry = { label, code, message, count: 0 }
    this.#byLabel.set(label, known.set(key, entry))
    this.#size++
    return entry
  }

  #makeRoom(label: number): void {
    const known = this.#byLabel.get(label)
    if (known !== undefined && known.size >= MAX_PER_LABEL) this.#keepMostFrequent([known], KEPT_PER_LABEL)
    if (this.#size >= MAX_ENTRIES) this.#keepMostFrequent([...this.#byLabel.values()], KEPT_ENTRIES)
  }

  #keepMostFrequent(tables: readonly Map<string, Entry>[], kept: number): void {
    const all = tables.flatMap((table) => Array.from(table, ([key, entry]) => ({ table, key, entry })))
    all.sort((a, b) => b.entry.count - a.entry.count)
    for (const { table, key, entry } of all.slice(kept)) {
      table.delete(key)
      this.#size--
      this.#rest.set(entry.label, (this.#rest.get(entry.label) ?? 0) + entry.count)
    }
    this.#forget()
  }

  #forget(): void {
    this.#texts = new LabelTable()
    this.#known = new Map()
  }
}

const decoder = new TextDecoder()

/** Code and message as they are shown: on one line, and short. */
export function readError(fields: ErrorFields): [code: string, message: string] {
  const { bytes, codeStart, codeEnd, messageStart, messageEnd, hasEscapes } = fields
  const message = decode(bytes, messageStart, messageEnd)
  return [
    shorten(decode(bytes, codeStart, codeEnd)),
    shorten(hasEscapes ? message.replaceAll('""', '"') : message)
  ]
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, Math.min(end, start + MAX_BYTES)))
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= MAX_LENGTH) return line
  // Not between the halves of a character.
  return `${line.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
