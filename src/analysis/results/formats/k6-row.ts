/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { readDate } from '../csv/timestamp.js'
import { MOST_COLUMNS, type FoundRow } from '../kernel/row-finder.js'
import type { Metric } from './k6-metrics.js'
import { K6_TAGS, type K6Frames, type K6Point, type K6Tag } from './k6-points.js'
import { TagTable, type KnownTags } from './tag-table.js'

const QUOTE = 34
const COMMA = 44
const LONGEST_KNOWN = 4096
const [DIGIT_0, DIGIT_9, DOT, AND, EQUALS, LETTER_U, LETTER_V] = [48, 57, 46, 38, 61, 117, 118]
/** The digits of a time in seconds and in milliseconds; others, and numbers with more decimals, are parsed by JavaScript itself. */
const [SECOND_DIGITS, MS_DIGITS, MOST_DECIMALS] = [10, 13, 6]
const MOST_WHOLE = 1e9
const MOST_VU_DIGITS = 9

/** The row that was read last; reused for every row. */
export class K6Row implements K6Point {
  metric = ''
  timeMs = 0
  value = 0
  isHeaderRead = false
  #found: FoundRow | undefined
  #columns = 0
  #header = ''
  #at: Partial<Record<K6Tag | 'vu' | 'metadata', number>> = {}
  /** Metadata, with the VU, is in the last column, as k6 writes it: the tags of a row are the bytes before it. */
  #hasMetadataLast = false
  readonly #known = new Map<string, TagTable>()
  /** The tags of this row, if they are known; then its columns were not looked for. */
  #tags: KnownTags | undefined

  get frames(): K6Frames | undefined {
    return this.#tags?.frames
  }

  /** Reads a row as k6 writes nearly all of them, whose tags were in another one; false if it is not such a row. */
  readKnown({ name, use }: Metric, found: FoundRow): boolean {
    if (found.columns !== this.#columns) return false
    const from = this.#readNumbers(found.bytes, found.start + name.length + 1, found.end)
    if (from < 0) return false
    this.#found = found
    this.metric = name
    this.#tags = undefined
    if (use === 'numbers') return true
    if (!this.#hasMetadataLast) return false
    const to = found.places[found.first + this.#columns - 2]!
    if (found.bytes[to + 1] === QUOTE) return false
    this.#tags = this.#known.get(name)?.find(found.view, from, to)
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

  /** Undefined if it is a point, '' if it is the header of another file, or else what is wrong with it. */
  read(found: FoundRow): string | undefined {
    this.#found = found
    this.#tags = undefined
    if (found.columns !== this.#columns) return `it has ${found.columns} columns, not ${this.#columns}`
    this.metric = this.#text(0)
    // Concatenated files repeat their header.
    if (this.metric === 'metric_name')
      return this.#line() === this.#header ? '' : 'it is a header with other columns than the first one'
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
    const { bytes, places, first } = this.#row
    const [from, to] = [places[first + 2]! + 1, places[first + this.#columns - 2]!]
    if (to - from > LONGEST_KNOWN) return
    const table = this.#known.get(this.metric) ?? new TagTable()
    this.#known.set(this.metric, table)
    const texts = Object.fromEntries(K6_TAGS.map((name) => [name, this.tag(name)]))
    table.add({ written: new DataView(Uint8Array.from(bytes.subarray(from, to)).buffer), texts, frames: {} })
  }

  /** `vu=1&iter=0`, in any order. */
  #readVu(): number | string {
    const { bytes, places, first, end: to } = this.#row
    let at = places[first + this.#columns - 2]! + 1
    for (;;) {
      const isVu = bytes[at] === LETTER_V && bytes[at + 1] === LETTER_U && bytes[at + 2] === EQUALS
      const from = at + 3
      let number = 0
      for (; at < to && bytes[at] !== AND; at++) if (at >= from) number = number * 10 + bytes[at]! - DIGIT_0
      if (isVu) return isNumber(bytes, from, at) ? number : bytes.toString('utf8', from, at)
      if (at >= to) return ''
      at++
    }
  }

  /** False if it is not the header of k6's CSV. */
  readHeader(found: FoundRow): boolean {
    this.#found = found
    this.#columns = Math.min(MOST_COLUMNS, found.columns)
    const names = Array.from({ length: this.#columns }, (_, i) => this.#text(i))
    for (const name of [...K6_TAGS, 'vu', 'metadata'] as const)
      if (names.includes(name)) this.#at[name] = names.indexOf(name)
    this.#hasMetadataLast =
      this.#columns > 4 &&
      this.#columns < MOST_COLUMNS &&
      this.#at.metadata === this.#columns - 1 &&
      !('vu' in this.#at)
    this.isHeaderRead = true
    this.#header = this.#line()
    return names[0] === 'metric_name' && names[1] === 'timestamp' && names[2] === 'metric_value'
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

  #line(): string {
    const { bytes, start, end } = this.#row
    return bytes.toString('utf8', start, end)
  }

  #text(column: number): string {
    const { bytes, places, first, end: rowEnd } = this.#row
    const start = places[first + column - 1]! + 1
    const end = Math.min(rowEnd, places[first + column]!)
    if (bytes[start] !== QUOTE) return bytes.toString('utf8', start, end)
    return bytes.toString('utf8', start + 1, end - 1).replaceAll('""', '"')
  }

  get #row(): FoundRow {
    if (this.#found === undefined) throw new Error('No row was read')
    return this.#found
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
