import { cutHeader, readHeader, type SampleColumns } from '../../analysis/results/csv/header.js'
import { RowSplitter } from '../../analysis/results/csv/row-splitter.js'
import { readTimestamp } from '../../analysis/results/csv/timestamp.js'

interface Rewriting {
  readonly column: keyof SampleColumns
  /** How much longer a field can become. */
  readonly mostAddedBytes: number
  /** The new content of the field, a character per byte; undefined if it stays as it is. */
  readonly rewrite: (bytes: Buffer, start: number, end: number) => string | undefined
}

/**
 * Rewrites one column in the complete rows of a samples file, header first. Everything else stays as it is; so does a row that cannot
 * be read.
 */
export class ColumnRewriter {
  readonly #rewriting: Rewriting
  #splitter: RowSplitter | undefined
  #columns = 0
  #column = -1
  #hasHeader = false

  constructor(rewriting: Rewriting) {
    this.#rewriting = rewriting
  }

  push(rows: Buffer): Buffer {
    if (rows.length === 0) return rows
    const headerBytes = this.#hasHeader ? 0 : this.#takeHeader(rows)
    return this.#splitter === undefined ? rows : this.#rewrite(rows, headerBytes, this.#splitter)
  }

  #takeHeader(rows: Buffer): number {
    this.#hasHeader = true
    const header = cutHeader(rows, true)
    if (header === undefined) return 0
    const layout = readHeader(header.line)
    if (layout.shape === 'samples' && layout.at[this.#rewriting.column] >= 0) {
      this.#columns = layout.columns
      this.#column = layout.at[this.#rewriting.column]
      this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    }
    return header.length
  }

  #rewrite(rows: Buffer, start: number, splitter: RowSplitter): Buffer {
    const { mostAddedBytes, rewrite } = this.#rewriting
    // The splitter needs one byte of space after the rows.
    const buffer = Buffer.alloc(rows.length - start + 1)
    rows.copy(buffer, 0, start)
    // A row is at least as long as its delimiters and its line break.
    const output = Buffer.alloc(rows.length + Math.ceil(rows.length / this.#columns) * mostAddedBytes)
    let written = rows.copy(output, 0, 0, start)
    let read = 0
    const block = { buffer, length: buffer.length - 1, limit: buffer.length - 1, isLast: false }
    splitter.split(block, (row) => {
      if (row.columns !== this.#columns || row.fault !== undefined) return
      const [from, to] = [row.starts[this.#column] ?? 0, row.ends[this.#column] ?? 0]
      const text = rewrite(buffer, from, to)
      if (text === undefined) return
      written += buffer.copy(output, written, read, from)
      written += output.write(text, written, 'latin1')
      read = to
    })
    written += buffer.copy(output, written, read, buffer.length - 1)
    return output.subarray(0, written)
  }
}

/** Digits of the largest time that can be written. */
const MAX_DIGITS = 16

/** Subtracts what a node's clock is ahead from the time stamps of its complete rows, header first. */
export class TimeShift {
  readonly #rewriter: ColumnRewriter | undefined

  constructor(offsetMs: number) {
    const wholeMs = Math.round(offsetMs)
    if (wholeMs === 0) return
    this.#rewriter = new ColumnRewriter({
      column: 'timeStamp',
      mostAddedBytes: MAX_DIGITS,
      rewrite: (bytes, start, end) => {
        const atMs = readTimestamp(bytes, start, end)
        return atMs < 0 ? undefined : String(Math.max(0, atMs - wholeMs))
      }
    })
  }

  /** The same rows with this machine's times. */
  push(rows: Buffer): Buffer {
    return this.#rewriter?.push(rows) ?? rows
  }
}
