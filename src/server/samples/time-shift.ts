import { cutHeader, readHeader } from '../../results/csv/header.js'
import { type Row, RowSplitter } from '../../results/csv/row-splitter.js'
import { readTimestamp } from '../../results/csv/timestamp.js'

/** Digits of the largest time that can be written. */
const MAX_DIGITS = 16

/**
 * Subtracts what a node's clock is ahead from the time stamps of its complete rows, header first. Everything else stays as it is; so
 * does a row that cannot be read.
 */
export class TimeShift {
  readonly #offsetMs: number
  #splitter: RowSplitter | undefined
  #columns = 0
  #column = -1
  #hasHeader = false

  constructor(offsetMs: number) {
    this.#offsetMs = Math.round(offsetMs)
  }

  /** The same rows with this machine's times. */
  push(rows: Buffer): Buffer {
    if (this.#offsetMs === 0 || rows.length === 0) return rows
    const headerBytes = this.#hasHeader ? 0 : this.#takeHeader(rows)
    return this.#splitter === undefined ? rows : this.#rewrite(rows, headerBytes, this.#splitter)
  }

  #takeHeader(rows: Buffer): number {
    this.#hasHeader = true
    const header = cutHeader(rows, true)
    if (header === undefined) return 0
    const layout = readHeader(header.line)
    if (layout.shape === 'samples' && layout.at.timeStamp >= 0) {
      this.#columns = layout.columns
      this.#column = layout.at.timeStamp
      this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    }
    return header.length
  }

  #rewrite(rows: Buffer, start: number, splitter: RowSplitter): Buffer {
    // The splitter needs one byte of space after the rows.
    const buffer = Buffer.alloc(rows.length - start + 1)
    rows.copy(buffer, 0, start)
    // A row is at least as long as its delimiters and its line break.
    const output = Buffer.alloc(rows.length + Math.ceil(rows.length / this.#columns) * MAX_DIGITS)
    let written = rows.copy(output, 0, 0, start)
    let read = 0
    const block = { buffer, length: buffer.length - 1, limit: buffer.length - 1, isLast: false }
    splitter.split(block, (row) => {
      const atMs = this.#timeOf(row)
      if (atMs < 0) return
      written += buffer.copy(output, written, read, row.starts[this.#column])
      written += output.write(String(Math.max(0, atMs - this.#offsetMs)), written, 'latin1')
      read = row.ends[this.#column] ?? 0
    })
    written += buffer.copy(output, written, read, buffer.length - 1)
    return output.subarray(0, written)
  }

  /** -1 if it has none. */
  #timeOf(row: Row): number {
    if (row.columns !== this.#columns || row.fault !== undefined) return -1
    return readTimestamp(row.buffer, row.starts[this.#column] ?? 0, row.ends[this.#column] ?? 0)
  }
}
