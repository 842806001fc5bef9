/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const LF = 10
const CR = 13
const QUOTE = 34

/** What can be wrong with a row before its fields are read. */
type RowFault = 'unclosed-quote' | 'text-after-quote' | 'nul-byte'

/** The positions of one row's fields in the buffer, without quotes around them. */
export interface RowFields {
  buffer: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** 1 if a field contains doubled quotes; `hasEscapes` if any does. */
  readonly escapes: Uint8Array
  hasEscapes: boolean
}

/** Reused for every row, so do not keep it. */
export interface Row extends RowFields {
  /** From the first byte of the row to the line break. */
  start: number
  end: number
  /** The file ended where a line break should have been. */
  isUnended: boolean
  /** The actual number, which may exceed that of starts and ends. */
  columns: number
  fault: RowFault | undefined
}

export interface Block {
  /** One byte longer than its content, for a line break to stop at. */
  readonly buffer: Uint8Array
  readonly length: number
  /** No row is started at or after this position. */
  readonly limit: number
  /** Nothing follows, so do not wait for a missing final line break. */
  readonly isLast: boolean
}

/** Splits blocks of bytes into rows and fields: first it locates all significant bytes, then it builds rows from their positions. */
export class RowSplitter {
  readonly #marks: Uint8Array
  readonly #delimiter: number
  readonly #row: Row
  readonly #capacity: number
  #places = new Int32Array(0)

  constructor(delimiter: number, columns: number) {
    this.#delimiter = delimiter
    this.#marks = new Uint8Array(256)
    for (const byte of [0, LF, QUOTE, delimiter]) this.#marks[byte] = 1
    this.#capacity = columns
    this.#row = {
      buffer: new Uint8Array(0),
      start: 0,
      end: 0,
      isUnended: false,
      columns: 0,
      starts: new Int32Array(columns),
      ends: new Int32Array(columns),
      escapes: new Uint8Array(columns),
      hasEscapes: false,
      fault: undefined
    }
  }

  /** Passes every complete row to `take` and returns where the first one begins that is incomplete or beyond the limit. */
  split(block: Block, take: (row: Row) => void): number {
    const { buffer, length } = block
    let count = this.#locate(buffer, length)
    const places = this.#places
    if (block.isLast && length > 0 && buffer[length - 1] !== LF) {
      buffer[length] = LF
      places[count++] = length
    }
    const row = this.#row
    row.buffer = buffer
    let start = 0
    let next = 0
    while (next < count && start < block.limit) {
      next = this.#readRow(start, next, count)
      if (next < 0) break
      start = Math.min(row.end + 1, length)
      row.isUnended = row.end === length
      if (row.end - row.start > 1 || !isBlank(row)) take(row)
    }
    if (next < 0 && block.isLast && start < block.limit) return this.#endUnclosed(block, start, take)
    return start
  }

  /** An unclosed quote swallows everything after it; all of that is one bad row. */
  #endUnclosed(block: Block, start: number, take: (row: Row) => void): number {
    const row = this.#row
    row.start = start
    row.end = block.length
    row.isUnended = true
    row.fault = 'unclosed-quote'
    take(row)
    return block.length
  }

  #locate(buffer: Uint8Array, length: number): number {
    if (this.#places.length <= length) this.#places = new Int32Array(length + 1)
    const places = this.#places
    const marks = this.#marks
    let count = 0
    for (let i = 0; i < length; i++) {
      if (marks[buffer[i]!] !== 0) places[count++] = i
    }
    return count
  }

  /** Reads the row at `start`, whose first position has the index `next`; returns the index after it, or -1 if it is incomplete. */
  #readRow(start: number, next: number, count: number): number {
    const row = this.#row
    const { buffer, starts, ends } = row
    const places = this.#places
    const delimiter = this.#delimiter
    row.start = start
    row.fault = undefined
    if (row.hasEscapes) {
      row.escapes.fill(0)
      row.hasEscapes = false
    }
    let column = 0
    let from = start
    while (next < count) {
      const place = places[next++]!
      const byte = buffer[place]
      if (byte === delimiter) {
        if (column < this.#capacity) {
          starts[column] = from
          ends[column] = place
        }
        column++
        from = place + 1
      } else if (byte === LF) {
        row.end = place
        this.#closeRow(from, place, column)
        return next
      } else if (byte === QUOTE) {
        if (place !== from) continue
        next = this.#readQuoted(column, next, count)
        if (next < 0) return -1
        const last = places[next - 1]!
        column++
        from = last + 1
        if (buffer[last] === LF) {
          row.end = last
          row.columns = column
          return next
        }
      } else row.fault = 'nul-byte'
    }
    return -1
  }

  #closeRow(from: number, place: number, column: number): void {
    const row = this.#row
    if (column < this.#capacity) {
      row.starts[column] = from
      row.ends[column] = place > from && row.buffer[place - 1] === CR ? place - 1 : place
    }
    row.columns = column + 1
  }

  /** Reads a quoted field and the delimiter or line break after it; returns the index after that, or -1. */
  #readQuoted(column: number, next: number, count: number): number {
    const row = this.#row
    const { buffer } = row
    const places = this.#places
    const from = places[next - 1]! + 1
    let closed = -1
    while (next < count) {
      const place = places[next++]!
      const byte = buffer[place]
      if (byte === QUOTE && closed < 0) {
        if (places[next] === place + 1 && next < count && buffer[place + 1] === QUOTE) {
          next++
          if (column < this.#capacity) row.escapes[column] = 1
          row.hasEscapes = true
        } else closed = place
      } else if (byte === 0) row.fault = 'nul-byte'
      else if (closed >= 0 && (byte === this.#delimiter || byte === LF)) {
        const isClean =
          place === closed + 1 || (byte === LF && place === closed + 2 && buffer[closed + 1] === CR)
        if (!isClean) row.fault = 'text-after-quote'
        if (column < this.#capacity) {
          row.starts[column] = from
          row.ends[column] = closed
        }
        return next
      }
    }
    return -1
  }
}

function isBlank(row: Row): boolean {
  return row.end === row.start || row.buffer[row.start] === CR
}

/** The position of the line break of the row at `start`; -1 if it is at or after `to`. */
export function findRowEnd(
  bytes: Uint8Array,
  { start, to, delimiter }: { start: number; to: number; delimiter: number }
): number {
  let isFieldStart = true
  for (let at = start; at < to; at++) {
    if (isFieldStart && bytes[at] === QUOTE) {
      for (at++; at < to && (bytes[at] !== QUOTE || bytes[at + 1] === QUOTE); at++)
        if (bytes[at] === QUOTE) at++
      isFieldStart = false
    } else if (bytes[at] === LF) return at
    else isFieldStart = bytes[at] === delimiter
  }
  return -1
}
