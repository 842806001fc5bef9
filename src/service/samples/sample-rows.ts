import { open } from 'node:fs/promises'
import { cutHeader, readHeader, type SampleColumns } from '../../analysis/results/csv/header.js'
import { type Row, RowSplitter } from '../../analysis/results/csv/row-splitter.js'
import { readDigits, readTimestamp } from '../../analysis/results/csv/timestamp.js'

/** Reads the complete rows of one samples file, header first. */
export class SampleRows {
  /** Where the columns are; undefined before the header, and below one of another kind of file. */
  at: SampleColumns | undefined
  columns = 1
  #hasHeader = false
  #splitter: RowSplitter | undefined
  #buffer = Buffer.alloc(0)

  /** Takes the next rows and returns where those below the header begin. */
  takeHeader(rows: Buffer): number {
    const header = this.#hasHeader || rows.length === 0 ? undefined : cutHeader(rows, true)
    if (header === undefined) return 0
    this.#hasHeader = true
    const layout = readHeader(header.line)
    if (layout.shape === 'samples') {
      this.at = layout.at
      this.columns = layout.columns
      this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    }
    return header.length
  }

  /** Calls back for every row below the header; one that is not whole has a fault, or another number of columns. */
  split(rows: Buffer, take: (row: Row, isWhole: boolean) => void): void {
    // The splitter needs one byte of space after the rows.
    if (this.#buffer.length <= rows.length) this.#buffer = Buffer.alloc(rows.length + 1)
    rows.copy(this.#buffer)
    const block = { buffer: this.#buffer, length: rows.length, limit: rows.length, isLast: false }
    this.#splitter?.split(block, (row) => take(row, row.fault === undefined && row.columns === this.columns))
  }
}

/** How many threads a node had when the sample of a row ended; undefined if the row does not say. */
export function readThreads(row: Row, at: SampleColumns): { threads: number; endMs: number } | undefined {
  if (at.allThreads < 0 || at.timeStamp < 0) return undefined
  const read = (column: number, parse: typeof readDigits): number =>
    parse(row.buffer, row.starts[column] ?? 0, row.ends[column] ?? 0)
  const threads = read(at.allThreads, readDigits)
  const startMs = read(at.timeStamp, readTimestamp)
  if (threads < 0 || startMs < 0) return undefined
  return { threads, endMs: startMs + (at.elapsed < 0 ? 0 : Math.max(0, read(at.elapsed, readDigits))) }
}

/** A file that grows, and how far it was read. */
export interface GrowingFile {
  readonly file: string
  position: number
}

/** Hands on what was added since the last time, block by block. False if there is no file: not yet, or no longer. */
export async function readOn(
  source: GrowingFile,
  buffer: Buffer,
  onBytes: (bytes: Buffer) => void | Promise<void>
): Promise<boolean> {
  const handle = await open(source.file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, source.position)
      if (bytesRead === 0) return true
      source.position += bytesRead
      await onBytes(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}
