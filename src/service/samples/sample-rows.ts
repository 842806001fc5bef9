import { open } from 'node:fs/promises'
import { cutHeader, readHeader } from '../../analysis/results/csv/header.js'
import { type Row, RowSplitter } from '../../analysis/results/csv/row-splitter.js'
import { readDigits } from '../../analysis/results/csv/timestamp.js'
import { ColumnRewriter } from './column-rewriter.js'

const NOTHING = Buffer.alloc(0)
const ZERO = 48
/** A whole number in plain digits has no more. */
const MAX_DIGITS = 16

/** The thread count of a row. Reused for every row, so do not keep it. */
interface ThreadField {
  /** When the sample ended, which is when its node had this many threads. */
  endMs: number
  threads: number
  /** The position of the number in the rows. */
  start: number
  end: number
}

/** Reads and rewrites the number of active threads in the complete rows of one samples file, header first. */
export class SampleRows {
  readonly #field: ThreadField = { endMs: 0, threads: 0, start: 0, end: 0 }
  #at: { timeStamp: number; elapsed: number; allThreads: number } | undefined
  #splitter: RowSplitter | undefined
  #columns = 1
  #input = NOTHING
  #output = NOTHING

  /** Takes the first rows and returns where those after the header begin. */
  takeHeader(rows: Buffer): number {
    const header = cutHeader(rows, true)
    if (header === undefined) return 0
    const layout = readHeader(header.line)
    if (layout.shape === 'samples' && layout.at.allThreads >= 0 && layout.at.timeStamp >= 0) {
      this.#at = layout.at
      this.#columns = layout.columns
      this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    }
    return header.length
  }

  /** Calls back for every row with a thread count. */
  read(rows: Buffer, take: (field: Readonly<ThreadField>) => void): void {
    if (this.#splitter === undefined) return
    // The splitter needs one byte of space after the rows.
    if (this.#input.length <= rows.length) this.#input = Buffer.alloc(rows.length + 1)
    rows.copy(this.#input)
    const block = { buffer: this.#input, length: rows.length, limit: rows.length, isLast: false }
    this.#splitter.split(block, (row) => {
      if (this.#readField(row)) take(this.#field)
    })
  }

  /** The rows with new thread counts; valid until the next call. */
  rewrite(rows: Buffer, threadsOf: (endMs: number, threads: number) => number): Buffer {
    // A row is at least as long as its delimiters and its line break.
    const neededBytes = rows.length + Math.ceil(rows.length / this.#columns) * MAX_DIGITS
    if (this.#output.length < neededBytes) this.#output = Buffer.alloc(neededBytes)
    const output = this.#output
    let read = 0
    let written = 0
    this.read(rows, ({ endMs, threads, start, end }) => {
      written += rows.copy(output, written, read, start)
      written = writeDigits(output, written, threadsOf(endMs, threads))
      read = end
    })
    written += rows.copy(output, written, read)
    return output.subarray(0, written)
  }

  #readField(row: Row): boolean {
    const at = this.#at
    if (at === undefined || row.columns !== this.#columns || row.fault !== undefined) return false
    const field = this.#field
    field.start = row.starts[at.allThreads] ?? 0
    field.end = row.ends[at.allThreads] ?? 0
    field.threads = readDigits(row.buffer, field.start, field.end)
    const startMs = readColumn(row, at.timeStamp)
    field.endMs = startMs + (at.elapsed < 0 ? 0 : Math.max(0, readColumn(row, at.elapsed)))
    return field.threads >= 0 && startMs >= 0
  }
}

function readColumn(row: Row, column: number): number {
  return readDigits(row.buffer, row.starts[column] ?? 0, row.ends[column] ?? 0)
}

/** Returns the position after the digits. */
function writeDigits(output: Buffer, at: number, value: number): number {
  let end = at + 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++
  let place = end
  for (let rest = value; place > at; rest = Math.floor(rest / 10)) output[--place] = ZERO + (rest % 10)
  return end
}

/**
 * Rewrites the thread names in the complete rows of a node, header first. The nodes of a grid name their threads alike; in one CSV the
 * names begin with the node, as those of JMeter's remote hosts do. A row without a name stays without.
 *
 * @param index The node's in its grid, from 0.
 */
export function createNodeThreads(index: number): ColumnRewriter {
  const prefix = `node${index + 1}-`
  return new ColumnRewriter({
    column: 'threadName',
    mostAddedBytes: prefix.length,
    rewrite: (bytes, start, end) =>
      start === end ? undefined : prefix + bytes.toString('latin1', start, end)
  })
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
