import { readHeader } from './header.js'
import { RowProblems } from './row-problems.js'
import { RowSplitter, type Row } from './row-splitter.js'
import { SampleReader } from './sample-reader.js'
import { TidyReader } from './tidy-reader.js'
import type { ScanResult } from './scan-result.js'

const LF = 10
const CR = 13
const FIRST_CAPACITY = 16 * 1024
/** Large enough for reads and calls to cost nothing, small enough to stay in the processor's cache. */
const GOOD_CAPACITY = 128 * 1024
/** A row that is longer is a quote that is never closed, or no CSV; memory has to end somewhere. */
const MAX_ROW_BYTES = 16 * 1024 * 1024
const SHOWN_HEADER = 300
const UTF8_BOM = [0xef, 0xbb, 0xbf]

export interface ByteScannerOptions {
  readonly grid: string
  readonly region: string
  /** Given for a stretch from the middle of a CSV, which has no header of its own. */
  readonly header?: Uint8Array
  /** Rows that begin at or after this many bytes belong to the next stretch. */
  readonly limit?: number
}

/** Turns the bytes of one CSV, or of a stretch of it, into counts. Whoever has bytes writes them to `reserve()` and says how many. */
export class ByteScanner {
  readonly #options: ByteScannerOptions
  readonly #limit: number
  readonly #problems = new RowProblems()
  #buffer = new Uint8Array(FIRST_CAPACITY)
  #length = 0
  #consumed = 0
  #isEnded = false
  #isStopped = false
  #header: Uint8Array | undefined
  #splitter: RowSplitter | undefined
  #reader: SampleReader | TidyReader | undefined

  constructor(options: ByteScannerOptions) {
    this.#options = options
    this.#limit = options.limit ?? Infinity
    if (options.header !== undefined) this.#useHeader(options.header)
  }

  /** More bytes would not be looked at. */
  get isDone(): boolean {
    return this.#isStopped || this.#consumed >= this.#limit
  }

  /** Where the first row begins that was not read, from the first byte on. */
  get consumed(): number {
    return this.#consumed
  }

  /** Room for the next bytes, never empty. One byte stays free for the line break that ends the last row. */
  reserve(): Uint8Array {
    return this.#buffer.subarray(this.#length, this.#buffer.length - 1)
  }

  commit(count: number): void {
    this.#length += count
    if (this.#length === this.#buffer.length - 1) this.#drain()
  }

  end(): ScanResult {
    this.#isEnded = true
    this.#drain()
    const reader = this.#reader
    const parts = reader instanceof SampleReader ? [reader.toPart()] : []
    const buckets = reader instanceof TidyReader ? reader.toBuckets() : []
    return {
      grid: this.#options.grid,
      region: this.#options.region,
      shape: reader === undefined ? 'unknown' : reader instanceof SampleReader ? 'samples' : 'tidy',
      header: showHeader(this.#header),
      rows: reader?.rows ?? 0,
      problems: this.#problems.kept,
      problemCount: this.#problems.count,
      parts,
      buckets
    }
  }

  #drain(): void {
    let used = 0
    if (this.#header === undefined && !this.#isStopped) used = this.#takeHeader()
    if (this.#splitter !== undefined && !this.isDone) used = this.#takeRows(used)
    if (this.isDone) used = this.#length
    this.#buffer.copyWithin(0, used, this.#length)
    this.#length -= used
    const isFull = this.#length === this.#buffer.length - 1
    if (isFull || this.#buffer.length < GOOD_CAPACITY) this.#grow()
  }

  #takeRows(from: number): number {
    const used = this.#splitter?.split(
      {
        buffer: this.#buffer.subarray(from),
        length: this.#length - from,
        limit: this.#limit - this.#consumed,
        isLast: this.#isEnded
      },
      this.#take
    )
    this.#consumed += used ?? 0
    return from + (used ?? 0)
  }

  readonly #take = (row: Row): void => {
    // CSVs that were written one after the other into one file repeat their header.
    if (!this.#isHeader(row)) this.#reader?.take(row)
  }

  #isHeader({ buffer, start, end }: Row): boolean {
    const header = this.#header
    if (header === undefined || buffer[start] !== header[0]) return false
    if (buffer[end - 1] === CR) end--
    return end - start === header.length && header.every((byte, i) => byte === buffer[start + i])
  }

  /** Returns how many bytes the header takes; 0 as long as it is not there whole. */
  #takeHeader(): number {
    const bytes = this.#buffer.subarray(0, this.#length)
    const lineEnd = bytes.indexOf(LF)
    if (lineEnd < 0 && !this.#isEnded) return 0
    const start = UTF8_BOM.every((byte, i) => bytes[i] === byte) ? UTF8_BOM.length : 0
    let end = lineEnd < 0 ? bytes.length : lineEnd
    if (bytes[end - 1] === CR) end--
    this.#useHeader(bytes.slice(start, Math.max(start, end)))
    this.#consumed = lineEnd < 0 ? bytes.length : lineEnd + 1
    return this.#consumed
  }

  #useHeader(header: Uint8Array): void {
    this.#header = header
    const layout = readHeader(header)
    if (layout.shape === 'unknown') {
      this.#stop('')
      return
    }
    this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    const { columns } = layout
    // Without it a failure cannot be told from a success, and no figure that rests on the difference may pass.
    if (layout.shape === 'samples' && layout.at.success < 0 && this.#options.header === undefined)
      this.#problems.add(0, 'it has no success column')
    const problems = this.#problems
    this.#reader =
      layout.shape === 'samples'
        ? new SampleReader({ at: layout.at, columns, problems })
        : new TidyReader({ at: layout.at, columns, problems })
  }

  #grow(): void {
    if (this.#buffer.length >= MAX_ROW_BYTES) {
      this.#stop(`it is longer than ${MAX_ROW_BYTES / 1024 / 1024} MiB, and nothing after it was read`)
      this.#length = 0
      return
    }
    const grown = new Uint8Array(this.#buffer.length * 2)
    grown.set(this.#buffer)
    this.#buffer = grown
  }

  #stop(problem: string): void {
    this.#isStopped = true
    if (problem !== '') this.#problems.add((this.#reader?.rows ?? 0) + 1, problem)
  }
}

function showHeader(header: Uint8Array | undefined): string {
  const text = new TextDecoder().decode(header?.subarray(0, SHOWN_HEADER * 4))
  return text.length > SHOWN_HEADER ? `${text.slice(0, SHOWN_HEADER)}…` : text
}
