import { shorten } from '../../../contract/text.js'
import { LabelTable } from './label-table.js'
import type { PartErrors } from './scan-result.js'

/** The fields of a failed row that say why, without their quotes. Reused for every row. */
export interface ErrorFields {
  bytes: Uint8Array
  codeStart: number
  codeEnd: number
  messageStart: number
  messageEnd: number
  /** 1 for doubled quotes in the code, 2 for those in the message, 3 for both. */
  escapes: number
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

type Reasons = Map<string, number>

/** After the message of a sample of a setUp or tearDown group: no overall figure counts it. */
export const OF_ASIDE = ' (setUp or tearDown)'

/** Counts failed rows by label, response code and message. If there are too many different ones, the rare ones are combined. */
export class ErrorTable {
  /** By label, and by code and message, one below the other. */
  readonly #counts = new Map<number, Reasons>()
  readonly #rest = new Map<number, number>()
  #size = 0
  #texts = new LabelTable()
  /** By the numbers of their texts. */
  #reasons = new Map<number, string>()

  /** `mark` is put after each message. */
  constructor(private readonly mark = '') {}

  /** Returns code and message, one below the other. */
  add(label: number, fields: ErrorFields): string {
    const { bytes, codeStart, codeEnd, messageStart, messageEnd } = fields
    if (this.#texts.size > MAX_TEXTS - 2) {
      this.#texts = new LabelTable()
      this.#reasons = new Map()
    }
    const code = this.#texts.numberOf(bytes, codeStart, Math.min(codeEnd, codeStart + MAX_BYTES))
    const message = this.#texts.numberOf(bytes, messageStart, Math.min(messageEnd, messageStart + MAX_BYTES))
    // The same bytes mean different texts with and without doubled quotes.
    const key = (code * MAX_TEXTS + message) * 4 + fields.escapes
    const reason = this.#reasons.get(key) ?? this.#read(fields)
    this.#reasons.set(key, reason)
    this.#count(label, reason)
    return reason
  }

  #read(fields: ErrorFields): string {
    const [code, message] = readError(fields)
    return `${code}\n${(message + this.mark).trimStart()}`
  }

  addText(label: number, code: string, message: string): void {
    this.#count(label, `${code}\n${message}`)
  }

  toErrors(labels: readonly string[]): PartErrors {
    const nameOf = (label: number): string => labels[label] ?? ''
    // There are few reasons, and as many labels as there may be.
    const known = new Map<string, string[]>()
    const counts: PartErrors['counts'][number][] = []
    for (const [label, reasons] of this.#counts)
      for (const [reason, count] of reasons) {
        const texts = known.get(reason) ?? reason.split('\n')
        known.set(reason, texts)
        const [code = '', message = ''] = texts
        counts.push({ label: nameOf(label), code, message, count })
      }
    return { counts, rest: Array.from(this.#rest, ([label, count]) => ({ label: nameOf(label), count })) }
  }

  #count(label: number, reason: string): void {
    const reasons = this.#counts.get(label) ?? new Map<string, number>()
    this.#counts.set(label, reasons)
    const known = reasons.get(reason) ?? 0
    if (known === 0) {
      if (reasons.size >= MAX_PER_LABEL) this.#keepMostFrequent([[label, reasons]], KEPT_PER_LABEL)
      if (this.#size >= MAX_ENTRIES) this.#keepMostFrequent([...this.#counts], KEPT_ENTRIES)
      this.#size++
    }
    reasons.set(reason, known + 1)
  }

  #keepMostFrequent(entries: readonly (readonly [number, Reasons])[], kept: number): void {
    const all = entries.flatMap(([label, reasons]) =>
      Array.from(reasons, ([reason, count]) => ({ label, reasons, reason, count }))
    )
    for (const { label, reasons, reason, count } of all.sort((a, b) => b.count - a.count).slice(kept)) {
      reasons.delete(reason)
      this.#rest.set(label, (this.#rest.get(label) ?? 0) + count)
      this.#size--
    }
  }
}

const decoder = new TextDecoder()

/** Code and message for display: on one line, and short. */
export function readError(fields: ErrorFields): [code: string, message: string] {
  const { bytes, codeStart, codeEnd, messageStart, messageEnd, escapes } = fields
  const decode = (start: number, end: number, isEscaped: boolean): string => {
    const text = decoder.decode(bytes.subarray(start, Math.min(end, start + MAX_BYTES)))
    return shorten(isEscaped ? text.replaceAll('""', '"') : text, MAX_LENGTH)
  }
  return [
    decode(codeStart, codeEnd, (escapes & 1) !== 0),
    decode(messageStart, messageEnd, (escapes & 2) !== 0)
  ]
}
