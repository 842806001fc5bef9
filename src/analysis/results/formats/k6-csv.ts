/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { STEPS_HEADER } from '../../../contract/sample-row.js'
import { readDate } from '../csv/timestamp.js'
import { findRowEnd } from '../csv/row-splitter.js'
import { findMetric, type Metric } from './k6-metrics.js'
import { K6_TAGS, K6Points } from './k6-points.js'
import type { K6Frames, K6Options, K6Point, K6Tag } from './k6-points.js'
import { TagTable, type KnownTags } from './tag-table.js'
import { BadRows, type Translation, type TranslationFacts } from './translation.js'

export const K6_CSV_HEADER = 'metric_name,timestamp,metric_value,'

const LF = 10
const CR = 13
const QUOTE = 34
const COMMA = 44
/** A longer row is not k6's. */
const MAX_ROW_BYTES = 1 << 20
/** Reads what `k6 run --out csv` writes. */
export class K6Csv implements Translation {
  readonly header = STEPS_HEADER
  readonly #points: K6Points
  readonly #bad = new BadRows()
  readonly #row = new K6Row()
  #rest = Buffer.alloc(0)
  #number = 0
  /** The file is not what it seemed to be: nothing more is read. */
  #isBroken = false

  constructor(options: K6Options = {}) {
    this.#points = new K6Points(options)
  }

  push(chunk: Uint8Array): string {
    const bytes = this.#joinRest(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    // The caller may use the chunk again.
    this.#rest = Buffer.from(bytes.subarray(this.#takeRows(bytes)))
    if (this.#rest.length > MAX_ROW_BYTES) this.#break('it has no end within 1 MiB')
    return this.#points.flush()
  }

  /** What is left to read: the row that the chunk completes is taken by itself, so that the rest of the chunk need not be copied. */
  #joinRest(chunk: Buffer): Buffer {
    if (this.#rest.length === 0) return chunk
    const next = chunk.indexOf(LF) + 1
    const row = Buffer.concat([this.#rest, chunk.subarray(0, next)])
    // A line break within quotes does not complete it.
    if (next === 0 || this.#takeRows(row) === 0) return Buffer.concat([this.#rest, chunk])
    return chunk.subarray(next)
  }

  end(): string {
    if (this.#rest.length > 0) this.#break('the file ends in the middle of it')
    return this.#points.end()
  }

  get requests(): number {
    return this.#points.requests
  }

  get facts(): TranslationFacts {
    return { ...this.#points.facts, problems: this.#bad.problems }
  }

  /** Returns where the first incomplete row begins. */
  #takeRows(bytes: Buffer): number {
    // Quotes are rare: without one in a row its end is the next line break.
    let quote = bytes.indexOf(QUOTE)
    let start = 0
    while (!this.#isBroken) {
      let end = bytes.indexOf(LF, start)
      if (quote >= 0 && quote < start) quote = bytes.indexOf(QUOTE, start)
      if (quote >= 0 && quote < end) end = findRowEnd(bytes, { start, to: bytes.length, delimiter: COMMA })
      if (end < 0) return start
      this.#take(bytes, start, end)
      start = end + 1
    }
    return bytes.length
  }

  #take(bytes: Buffer, start: number, end: number): void {
    const row = this.#row
    const to = bytes[end - 1] === CR ? end - 1 : end
    const known = row.isHeaderRead ? findMetric(bytes, start) : undefined
    if (row.isHeaderRead) {
      this.#number++
      if (known?.use === 'skipped') return
      if (known !== undefined && row.readKnown(known, bytes, { start, end: to })) {
        this.#points.take(row)
        return
      }
    }
    const isRead = row.read(bytes, start, to)
    if (isRead === undefined) {
      this.#points.take(row)
      if (known?.use === 'tags') row.remember()
    } else if (isRead !== '') this.#bad.add(this.#number, isRead)
  }

  #break(words: string): void {
    this.#isBroken = true
    this.#bad.add(this.#number + 1, words)
    this.#rest = Buffer.alloc(0)
  }
}

const LONGEST_KNOWN = 4096
const [DIGIT_0, DIGIT_9, DOT, AND, EQUALS, LETTER_U, LETTER_V] = [48, 57, 46, 38, 61, 117, 118]
/** Of a time in seconds and in milliseconds; others, and numbers with more decimals, are read by the language itself. */
const [SECOND_DIGITS, MS_DIGITS, MOST_DECIMALS] = [10, 13, 6]
const MOST_WHOLE = 1e9
const MOST_VU_DIGITS = 9

/** The row that was read last; reused for every row. */
class K6Row implements K6Point {
  metric = ''
  timeMs = 0
  value = 0
  isHeaderRead = false
  #bytes: Buffer = Buffer.alloc(0)
  #columns = 0
  #starts = new Int32Array(0)
  #ends = new Int32Array(0)
  #at: Partial<Record<K6Tag | 'vu' | 'metadata', number>> = {}
  /** Metadata, with the VU, is in the last column, as k6 writes it: the tags of a row are the bytes before it. */
  #hasMetadataLast = false
  readonly #known = new Map<string, TagTable>()
  /** Of this row, if it is one of known tags; then its columns were not looked for. */
  #tags: KnownTags | undefined
  #metadataFrom = 0
  #to = 0

  get frames(): K6Frames | undefined {
    return this.#tags?.frames
  }

  /** Reads a row as k6 writes nearly all of them, whose tags were in another one; false if it is not such a row. */
  readKnown({ name, use }: Metric, bytes: Buffer, { start, end }: { start: number; end: number }): boolean {
    const from = this.#readNumbers(bytes, start + name.length + 1, end)
    if (from < 0) return false
    this.#bytes = bytes
    this.metric = name
    this.#tags = undefined
    if (use === 'numbers') return true
    if (!this.#hasMetadataLast) return false
    let comma = end - 1
    while (comma > from && bytes[comma] !== COMMA) {
      if (bytes[comma] === QUOTE) return false
      comma--
    }
    if (comma - from > LONGEST_KNOWN) return false
    this.#tags = this.#known.get(name)?.find(bytes, from, comma)
    this.#metadataFrom = comma + 1
    this.#to = end
    return this.#tags !== undefined
  }

  /** A time and a decimal fraction, followed by commas; returns where the tags begin, or -1. */
  #readNumbers(bytes: Buffer, from: number, end: number): number {
    let at = from
    let time = 0
    for (; at < end && bytes[at]! >= DIGIT_0 && bytes[at]! <= DIGIT_9; at++)
      time = time * 10 + bytes[at]! - DIGIT_0
    const timeDigits = at - from
    if ((timeDigits !== MS_DIGITS && timeDigits !== SECOND_DIGITS) || bytes[at] !== COMMA) return -1
    const wholeFrom = ++at
    let digits = 0
    for (; at < end && bytes[at]! >= DIGIT_0 && bytes[at]! <= DIGIT_9; at++)
      digits = digits * 10 + bytes[at]! - DIGIT_0
    if (at === wholeFrom || digits > MOST_WHOLE) return -1
    let scale = 1
    if (bytes[at] === DOT) {
      const fractionFrom = ++at
      for (; at < end && bytes[at]! >= DIGIT_0 && bytes[at]! <= DIGIT_9; at++) {
        digits = digits * 10 + bytes[at]! - DIGIT_0
        scale *= 10
      }
      if (at === fractionFrom || at - fractionFrom > MOST_DECIMALS) return -1
    }
    if (bytes[at] !== COMMA) return -1
    this.timeMs = timeDigits === MS_DIGITS ? time : time * 1000
    this.value = digits / scale
    return at + 1
  }

  /** Undefined if it is a point, '' if it is the header, or else what is wrong with it. */
  read(bytes: Buffer, start: number, end: number): string | undefined {
    this.#bytes = bytes
    this.#tags = undefined
    if (!this.isHeaderRead) return this.#readHeader(start, end)
    const columns = this.#split(start, end)
    if (columns !== this.#columns) return `it has ${columns} columns, not ${this.#columns}`
    this.metric = this.#text(0)
    // Concatenated files repeat their header.
    if (this.metric === 'metric_name') return ''
    this.timeMs = readTime(this.#text(1))
    this.value = Number(this.#text(2))
    if (Number.isNaN(this.timeMs))
      return `timestamp is ${JSON.stringify(this.#text(1).slice(0, 40))}, not a time`
    if (!Number.isFinite(this.value) || this.#text(2) === '')
      return `metric_value is ${JSON.stringify(this.#text(2).slice(0, 40))}, not a number`
    return undefined
  }

  tag(name: K6Tag): string {
    if (this.#tags !== undefined) return this.#tags.texts[name] ?? ''
    const column = this.#at[name]
    return column === undefined ? '' : this.#text(column)
  }

  get vu(): number | string {
    if (this.#tags !== undefined) return this.#readVu()
    const column = this.#at.vu
    return column === undefined ? this.#inMetadata('vu') : this.#text(column)
  }

  /** For the rows that have the same tags. */
  remember(): void {
    if (!this.#hasMetadataLast) return
    const [from, to] = [this.#starts[3]!, this.#starts[this.#columns - 1]! - 1]
    if (to - from > LONGEST_KNOWN) return
    const table = this.#known.get(this.metric) ?? new TagTable()
    this.#known.set(this.metric, table)
    const texts = Object.fromEntries(K6_TAGS.map((name) => [name, this.tag(name)]))
    const written = Uint8Array.from(this.#bytes.subarray(from, to))
    table.add({ written, texts, frames: {} })
  }

  /** `vu=1&iter=0`, in any order. */
  #readVu(): number | string {
    const bytes = this.#bytes
    let at = this.#metadataFrom
    for (;;) {
      const isVu = bytes[at] === LETTER_V && bytes[at + 1] === LETTER_U && bytes[at + 2] === EQUALS
      const from = at + 3
      let number = 0
      for (; at < this.#to && bytes[at] !== AND; at++)
        if (at >= from) number = number * 10 + bytes[at]! - DIGIT_0
      if (isVu) return isNumber(bytes, from, at) ? number : bytes.toString('utf8', from, at)
      if (at >= this.#to) return ''
      at++
    }
  }

  #readHeader(start: number, end: number): '' {
    this.#starts = new Int32Array(1024)
    this.#ends = new Int32Array(1024)
    this.#columns = Math.min(1024, this.#split(start, end))
    const names = Array.from({ length: this.#columns }, (_, i) => this.#text(i))
    for (const name of [...K6_TAGS, 'vu', 'metadata'] as const)
      if (names.includes(name)) this.#at[name] = names.indexOf(name)
    this.#hasMetadataLast =
      this.#columns > 4 &&
      this.#columns < 1024 &&
      this.#at.metadata === this.#columns - 1 &&
      !('vu' in this.#at)
    this.isHeaderRead = true
    return ''
  }

  /** `vu=1&iter=0`, in any order. */
  #inMetadata(name: string): string {
    const column = this.#at.metadata
    if (column === undefined) return ''
    const text = this.#text(column)
    const from = text.startsWith(`${name}=`) ? 0 : text.indexOf(`&${name}=`) + 1
    if (from === 0 && !text.startsWith(`${name}=`)) return ''
    const end = text.indexOf('&', from)
    return text.slice(from + name.length + 1, end < 0 ? undefined : end)
  }

  #split(start: number, end: number): number {
    const bytes = this.#bytes
    let column = 0
    let from = start
    for (let at = start; at <= end; at++) {
      if (at === end || bytes[at] === COMMA) {
        if (column < this.#starts.length) {
          this.#starts[column] = from
          this.#ends[column] = at
        }
        column++
        from = at + 1
      } else if (bytes[at] === QUOTE && at === from) {
        for (at++; at < end && (bytes[at] !== QUOTE || bytes[at + 1] === QUOTE); at++)
          if (bytes[at] === QUOTE) at++
      }
    }
    return column
  }

  #text(column: number): string {
    const [start, end] = [this.#starts[column]!, this.#ends[column]!]
    if (this.#bytes[start] !== QUOTE) return this.#bytes.toString('utf8', start, end)
    return this.#bytes.toString('utf8', start + 1, end - 1).replaceAll('""', '"')
  }
}

/** As numbers are written: `007` is a name. */
function isNumber(bytes: Buffer, from: number, to: number): boolean {
  if (to === from || to - from > MOST_VU_DIGITS || (bytes[from] === DIGIT_0 && to - from > 1)) return false
  for (let at = from; at < to; at++) if (bytes[at]! < DIGIT_0 || bytes[at]! > DIGIT_9) return false
  return true
}

const DIGITS = /^\d{1,19}$/
const [MOST_SECONDS, MOST_MS, MOST_US] = [11, 14, 17]

/** Epoch ms; k6 writes seconds unless it is told otherwise, then ms, µs, ns or a date. NaN for anything else. */
function readTime(text: string): number {
  if (!DIGITS.test(text)) return readDate(text) ?? NaN
  if (text.length <= MOST_SECONDS) return Number(text) * 1000
  if (text.length <= MOST_MS) return Number(text)
  const fractions = text.length <= MOST_US ? 3 : 6
  return Number(text.slice(0, -fractions))
}
