import { cutHeader, readHeader, type SampleColumns } from '../../analysis/results/csv/header.js'
import { type Row, RowSplitter } from '../../analysis/results/csv/row-splitter.js'
import { readDigits, readTimestamp } from '../../analysis/results/csv/timestamp.js'
import { openRegular } from '../regular-file.js'

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

/** Passes on what was added since the last time, block by block, until that returns false. False if there is no file yet, or no longer. */
export async function readOn(
  source: GrowingFile,
  buffer: Buffer,
  onBytes: (bytes: Buffer) => boolean | Promise<boolean>
): Promise<boolean> {
  // If a plan has put something else there, the end of the run says so.
  const handle = await openRegular(source.file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, source.position)
      if (bytesRead === 0) return true
      source.position += bytesRead
      if (!(await onBytes(buffer.subarray(0, bytesRead)))) return true
    }
  } finally {
    await handle.close()
  }
}

/** A number has no more digits, and the name of a node no more letters. */
const MOST_ADDED_BYTES = 16

/** How the rows of a node become those of its grid. */
export interface RowChanges {
  /** How far its clock is ahead: its times are corrected by that. */
  readonly offsetMs?: number
  /** The node's index from 0: in one CSV, thread names begin with the node, as with JMeter's remote hosts. An empty name stays empty. */
  readonly node?: number | undefined
  /** How many threads the others had when a sample ended. */
  readonly othersAt?: ((endMs: number) => number) | undefined
}

type Rewrite = (bytes: Buffer, start: number, end: number, row: Row, at: SampleColumns) => string | undefined

/** Rewrites columns of the complete rows of a samples file, header first. All else stays as it is, and so does an unreadable row. */
export class RowRewriter {
  readonly #rewrites: readonly (readonly [keyof SampleColumns, Rewrite])[]
  readonly #rows = new SampleRows()

  constructor({ offsetMs = 0, node, othersAt }: RowChanges) {
    const aheadMs = Math.round(offsetMs)
    const shift: Rewrite = (bytes, start, end) => {
      const atMs = readTimestamp(bytes, start, end)
      return atMs < 0 ? undefined : String(Math.max(0, atMs - aheadMs))
    }
    const name: Rewrite = (bytes, start, end) =>
      start === end ? undefined : `node${(node ?? 0) + 1}-${bytes.toString('latin1', start, end)}`
    const add: Rewrite = (_bytes, _start, _end, row, at) => {
      const found = readThreads(row, at)
      return found && String(found.threads + (othersAt?.(found.endMs - aheadMs) ?? 0))
    }
    this.#rewrites = [
      ...(aheadMs === 0 ? [] : [['timeStamp', shift] as const]),
      ...(node === undefined ? [] : [['threadName', name] as const]),
      ...(othersAt === undefined ? [] : [['allThreads', add] as const])
    ]
  }

  push(rows: Buffer): Buffer {
    const start = this.#rows.takeHeader(rows)
    const { at } = this.#rows
    if (at === undefined || this.#rewrites.length === 0) return rows
    const rewrites = this.#rewrites
      .map(([column, rewrite]) => ({ column: at[column], rewrite }))
      .filter(({ column }) => column >= 0)
      .sort((one, other) => one.column - other.column)
    const body = rows.subarray(start)
    // A row is at least as long as its delimiters and its line break.
    const mostRows = Math.ceil(body.length / this.#rows.columns)
    const output = Buffer.allocUnsafe(rows.length + mostRows * rewrites.length * MOST_ADDED_BYTES)
    let written = rows.copy(output, 0, 0, start)
    let read = 0
    this.#rows.split(body, (row, isWhole) => {
      if (!isWhole) return
      for (const { column, rewrite } of rewrites) {
        const [from, to] = [row.starts[column] ?? 0, row.ends[column] ?? 0]
        const text = rewrite(body, from, to, row, at)
        if (text === undefined) continue
        written += body.copy(output, written, read, from)
        written += output.write(text, written, 'latin1')
        read = to
      }
    })
    written += body.copy(output, written, read)
    return output.subarray(0, written)
  }
}
