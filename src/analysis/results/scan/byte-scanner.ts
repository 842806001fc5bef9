import { createHash } from 'node:crypto'
import { cutHeader, readHeader, type Layout } from '../csv/header.js'
import { canCountDetails } from '../kernel/kernel-details.js'
import { RowKernel, type RowTaker } from '../kernel/row-kernel.js'
import { RowSplitter, type Row } from '../csv/row-splitter.js'
import type { ScannerOptions, ScanResult } from '../counts/scan-result.js'
import { grow } from '../typed-arrays.js'
import { RowProblems } from './row-problems.js'
import { SampleReader } from './sample-reader.js'
import { TidyReader } from './tidy-reader.js'

const CR = 13
const FIRST_CAPACITY = 16 * 1024
/** Large enough to make reads and calls cheap, small enough to stay in the processor's cache. */
const GOOD_CAPACITY = 128 * 1024
/** A longer row means an unclosed quote, or not a CSV; memory must be limited. */
const MAX_ROW_BYTES = 16 * 1024 * 1024
const SHOWN_HEADER = 300

export interface ByteScannerOptions extends ScannerOptions {
  /** Rows that begin at or after this many bytes belong to the next stretch. */
  readonly limit?: number
  /** The size of the buffer from which on the kernel counts the rows. */
  readonly kernelFrom?: number
  /** For a file that is known to be large: the buffer starts at its final size. */
  readonly isLarge?: boolean
  /**
   * Nothing after the first transaction is read: whoever asks for it can read the file again, from its beginning, without this. Which
   * requests belong to a transaction shows in the rows of its thread, all of which must be noted then, and most files have none.
   */
  readonly stopsAtTransaction?: boolean
}

/** Turns the bytes of one CSV, or of a stretch of it, into counts. The caller writes the bytes where `fill` says. */
export class ByteScanner {
  readonly #options: ByteScannerOptions
  #limit: number
  readonly #problems = new RowProblems()
  /** Until there is a kernel, in whose memory the bytes are from then on. */
  #own: Uint8Array
  #memory: RowKernel | undefined
  #length = 0
  /** Where the first unread row begins, counted from the first byte. */
  consumed = 0
  #isEnded = false
  /** The rest is not worth reading: unknown format, or a row without end. */
  isStopped = false
  #header: Uint8Array | undefined
  #layout: Layout | undefined
  #kernel: RowKernel | undefined
  #kernelFrom: number
  #splitter: RowSplitter | undefined
  #samples: SampleReader | undefined
  #tidy: TidyReader | undefined
  readonly #firstRows: FirstRows | undefined
  /** The label of the last row that was read. */
  #label: number | undefined

  constructor(options: ByteScannerOptions) {
    this.#options = options
    this.#own = new Uint8Array(options.isLarge === true ? GOOD_CAPACITY : FIRST_CAPACITY)
    this.#limit = options.limit ?? Infinity
    // The kernel only knows when rows start.
    const isPlain = options.countEndsFromMs === undefined
    const kernelFrom = isPlain ? GOOD_CAPACITY : Infinity
    this.#kernelFrom = options.kernelFrom ?? kernelFrom
    if (options.header !== undefined) this.#useHeader(options.header)
    // Rows from the middle of a CSV are not its first ones.
    this.#firstRows = options.header === undefined ? new FirstRows() : undefined
  }

  /** The kernel's memory moves when it grows. */
  get #buffer(): Uint8Array {
    return this.#memory?.room ?? this.#own
  }

  /** Further bytes would be ignored. */
  get isDone(): boolean {
    return this.isStopped || this.consumed >= this.#limit
  }

  /** Has the next bytes written from `from` to at most `to`, which is never empty; `write` returns how many there were. */
  fill(write: (buffer: Uint8Array, from: number, to: number) => number): number {
    // One byte stays free for the line break that ends the last row.
    const to = this.#buffer.length - 1
    const count = write(this.#buffer, this.#length, to)
    if (this.#firstRows?.isFull === false)
      this.#firstRows.push(this.#buffer.subarray(this.#length, this.#length + count))
    this.#length += count
    if (this.#length === to) this.#drain()
    return count
  }

  /** Takes a copy of the bytes; they may be split anywhere. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.isDone;)
      at += this.fill((buffer, from, to) => {
        const piece = chunk.subarray(at, at + to - from)
        buffer.set(piece, from)
        return piece.length
      })
  }

  /** Takes the complete rows that it has, and no others from then on. Returns where the next one begins; undefined if no other reader can continue there. */
  cut(): number | undefined {
    this.#drain()
    if (this.#samples === undefined || this.#samples.hasTransactions || this.isStopped) return undefined
    this.#limit = this.consumed
    return this.consumed
  }

  get header(): Uint8Array | undefined {
    return this.#header
  }

  /** The result so far; more bytes may follow if the last ones were a complete row. */
  end(): ScanResult {
    this.#isEnded = true
    this.#drain()
    this.#isEnded = false
    const [samples, tidy] = [this.#samples, this.#tidy]
    const reader = samples ?? tidy
    const doubts = samples?.doubts ?? []
    // It may find problems.
    const buckets = tidy?.toBuckets() ?? []
    return {
      grid: this.#options.grid,
      region: this.#options.region,
      shape: samples ? 'samples' : tidy ? 'tidy' : 'unknown',
      header: showHeader(this.#header),
      rows: reader?.rows ?? 0,
      firstRows: this.#firstRows?.digests ?? [],
      isZoneless: reader?.isZoneless ?? false,
      earlyRows: samples?.earlyRows ?? 0,
      ...(this.#options.asideGroups?.length && { asideGroups: this.#options.asideGroups }),
      problems: [...doubts.map((text) => ({ row: 0, text })), ...this.#problems.kept],
      problemCount: this.#problems.count + doubts.length,
      parts: samples?.toParts() ?? [],
      buckets,
      ...(tidy !== undefined && { bucketMs: tidy.bucketMs }),
      hasTransactions: samples?.hasTransactions ?? false
    }
  }

  #drain(): void {
    let used = 0
    if (this.#header === undefined && !this.isStopped) used = this.#takeHeader()
    if (this.#buffer.length >= this.#kernelFrom && this.#header !== undefined) this.#startKernel()
    if (this.#splitter !== undefined && !this.isDone) used = this.#takeRows(used)
    this.#samples?.countWaiting()
    if (this.isDone) used = this.#length
    this.#drop(used)
    const isFull = this.#length === this.#buffer.length - 1
    if (isFull || this.#buffer.length < GOOD_CAPACITY) this.#grow()
  }

  #drop(used: number): void {
    this.#buffer.copyWithin(0, used, this.#length)
    this.#length -= used
  }

  #takeRows(from: number): number {
    const used = this.#kernel === undefined ? from : this.#takeCounted(this.#kernel, from)
    // The kernel stops at the first incomplete row, which at the end of the file is the last one.
    return this.#kernel === undefined || this.#isEnded ? this.#takeSplit(used) : used
  }

  #takeCounted(kernel: RowKernel, from: number): number {
    const limit = from + this.#limit - this.consumed
    const used = kernel.takeRows({ from, length: this.#length, limit }, this.#taker)
    this.#samples?.followTimes()
    this.consumed += used - from
    return used
  }

  readonly #taker: RowTaker = {
    skip: (rows) => this.#samples?.skip(rows),
    take: (bytes, start, end) => {
      this.#label = undefined
      const buffer = bytes.subarray(start, end + 1)
      this.#splitter?.split({ buffer, length: buffer.length, limit: 1, isLast: false }, this.#take)
      return this.#label
    },
    takeFailure: (label, row, isPart) => this.#samples?.takeFailure(label, row, isPart),
    scopeOf: (label) => this.#samples?.scopeOf(label) ?? 0,
    codeOf: () => this.#samples?.codeOf() ?? 0,
    threadOf: () => this.#samples?.thread,
    follow: (notes) => this.#samples?.follow(notes)
  }

  #takeSplit(from: number): number {
    if (this.isDone) return from
    const used = this.#splitter?.split(
      {
        buffer: this.#buffer.subarray(from),
        length: this.#length - from,
        limit: this.#limit - this.consumed,
        isLast: this.#isEnded
      },
      this.#take
    )
    this.consumed += used ?? 0
    return from + (used ?? 0)
  }

  readonly #take = (row: Row): void => {
    // Concatenated CSVs repeat their header.
    if (this.#isHeader(row)) return
    this.#tidy?.take(row)
    if (this.#samples === undefined) return
    this.#label = this.#samples.take(row)
    if (this.#samples.hasTransactions && this.#options.stopsAtTransaction === true) this.isStopped = true
  }

  #isHeader({ buffer, start, end }: Row): boolean {
    const header = this.#header
    if (header === undefined || buffer[start] !== header[0]) return false
    if (buffer[end - 1] === CR) end--
    return end - start === header.length && header.every((byte, i) => byte === buffer[start + i])
  }

  /** Returns the length of the header in bytes; 0 while it is incomplete. */
  #takeHeader(): number {
    const header = cutHeader(this.#buffer.subarray(0, this.#length), this.#isEnded)
    if (header === undefined) return 0
    this.consumed = header.length
    this.#useHeader(header.line)
    return header.length
  }

  #useHeader(header: Uint8Array): void {
    this.#header = header
    const layout = readHeader(header)
    this.#layout = layout
    if (layout.shape === 'unknown') {
      this.#stop('')
      return
    }
    this.#splitter = new RowSplitter(layout.delimiter, layout.columns)
    // Without it a failure looks like a success, and no figure that depends on the difference may pass.
    if (layout.shape === 'samples' && layout.at.success < 0 && this.#options.header === undefined)
      this.#problems.add(0, 'it has no success column')
    if (layout.shape === 'samples') this.#samples = new SampleReader(layout, this.#problems, this.#options)
    else this.#tidy = new TidyReader(layout, this.#problems, this.#options)
  }

  #grow(): void {
    if (this.#buffer.length >= MAX_ROW_BYTES) {
      this.#stop(`it is longer than ${MAX_ROW_BYTES / 1024 / 1024} MiB, and the rest was not read`)
      this.#length = 0
      return
    }
    const capacity = this.#buffer.length * 2
    if (this.#memory === undefined) this.#own = grow(this.#own, new Uint8Array(capacity))
    else this.#memory.resize(capacity)
  }

  /** Creating a kernel takes a moment, which only pays off for larger files. */
  #startKernel(): void {
    this.#kernelFrom = Infinity
    if (this.#layout?.shape !== 'samples') return
    const { details } = this.#options
    if (details !== undefined && !canCountDetails(this.#layout.at, details)) return
    const kernel = RowKernel.make(this.#layout)
    if (kernel === undefined) return
    this.#kernel = kernel
    this.#samples?.useKernel(kernel, details)
    if (this.#samples?.isFollowing === true) kernel.noteRows()
    kernel.resize(this.#own.length)
    this.#memory = kernel
    this.#buffer.set(this.#own.subarray(0, this.#length))
    this.#own = new Uint8Array(0)
  }

  #stop(problem: string): void {
    this.isStopped = true
    if (problem !== '') this.#problems.add(((this.#samples ?? this.#tidy)?.rows ?? 0) + 1, problem)
  }
}

function showHeader(header: Uint8Array | undefined): string {
  const text = new TextDecoder().decode(header?.subarray(0, SHOWN_HEADER * 4))
  return text.length > SHOWN_HEADER ? `${text.slice(0, SHOWN_HEADER)}…` : text
}

const LF = 10
/** No two results begin with as many equal rows: they have the time of each sample in ms. */
const MOST_ROWS = 20

/** Digests of the rows with which a CSV begins, after its header. */
class FirstRows {
  readonly #hash = createHash('sha256')
  readonly #digests: string[] = []
  #isInHeader = true
  /** The bytes of a row that has not ended yet. */
  #bytes = 0

  get isFull(): boolean {
    return this.#digests.length === MOST_ROWS
  }

  /** The last row of a file may have no line break. */
  get digests(): readonly string[] {
    if (this.isFull || this.#bytes === 0) return [...this.#digests]
    return [...this.#digests, this.#hash.copy().update('\n').digest('base64')]
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.isFull;) {
      const found = bytes.indexOf(LF, at)
      const end = found < 0 ? bytes.length : found + 1
      if (!this.#isInHeader) this.#take(bytes.subarray(at, end), found >= 0)
      if (found >= 0) this.#isInHeader = false
      at = end
    }
  }

  #take(piece: Uint8Array, isEnd: boolean): void {
    this.#hash.update(piece)
    this.#bytes = isEnd ? 0 : this.#bytes + piece.length
    if (isEnd) this.#digests.push(this.#hash.copy().digest('base64'))
  }
}
