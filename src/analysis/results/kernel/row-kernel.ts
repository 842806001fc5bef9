import { FAILING_MESSAGE, TRANSACTION_MESSAGE, type SampleColumns, type SampleLayout } from '../csv/header.js'
import { findRowEnd, type RowFields } from '../csv/row-splitter.js'
import type { DetailOptions } from '../details/detail-scan.js'
import type { CountedRuns } from '../counts/histogram.js'
import type { StallScan, LongRowsScan } from '../stalls/stall-tracker.js'
import type { TimeLine } from '../counts/time-line.js'
import { KernelDetails } from './kernel-details.js'
import { KernelMemory, startKernel, type KernelExports } from './kernel-module.js'
import { readCounts } from './read-counts.js'
import * as layout from './assembly/layout.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

// The kernel (./assembly) counts ordinary rows, 64 bytes at once. It reports no problems: what it does not understand is left to the
// RowSplitter and the SampleReader, which alone decide what a row means.

export interface RowTaker {
  /** This many rows before the next one were counted. */
  skip(rows: number): void
  /** Takes the row from `start` to its line break at `end`; returns the number of its label, if it has one. */
  take(bytes: Uint8Array, start: number, end: number): number | undefined
  /** Takes a row that was counted under this label number, and had failed; reused for every row. `isPart`: of another one. */
  takeFailure(label: number, row: RowFields, isPart: boolean): void
  /** The scope of the label's ends, from 1; 0 if it is not followed. In a second reading, that of its line. */
  scopeOf(label: number): number
  /** In a second reading, the number of the response code of the row that was taken last. */
  codeOf(): number
  /** The number of the thread of the row that was taken last, if it has been followed. */
  threadOf(): number | undefined
  /** Rows that it has not taken, in their order among those that it has; only once it has asked for them. */
  follow(notes: Notes): void
}

/** The fields that the layout names, of each note: the next one begins NOTE_INTS later. */
export interface Notes {
  readonly ints: Int32Array
  /** The same memory. */
  readonly doubles: Float64Array
  /** Indexes among the ints. */
  readonly from: number
  readonly to: number
}

const CR = 13
const QUOTE = 34
const MAX_COLUMNS = 1024
/** A time stamp has at most 15 digits. */
const LATEST_MS = 999_999_999_999_999
const NEVER = BigInt(LATEST_MS) + 1n

/** Counts rows of a sample CSV in its own memory. */
export class RowKernel {
  readonly line: KernelLine
  readonly requests: KernelTimes
  /** Of the rows that are part of another one. */
  readonly parts: KernelTimes
  /** Only of a second reading. */
  details: KernelDetails | undefined
  readonly #exports: KernelExports
  readonly #delimiter: number
  readonly #memory: KernelMemory
  #address = 0
  #capacity = 0
  #room: Uint8Array = new Uint8Array(0)
  readonly #failed: RowFields
  #failedColumns: readonly number[]
  readonly #lastColumn: number
  readonly #hasThreads: boolean
  #taken = 0
  /** Where the next note is, among the ints. */
  #noted = 0

  private constructor(exports: KernelExports, { delimiter, columns, at }: SampleLayout) {
    this.#exports = exports
    this.#delimiter = delimiter
    this.#memory = new KernelMemory(exports.memory)
    this.#failed = {
      ...{ buffer: this.#room, starts: new Int32Array(columns), ends: new Int32Array(columns) },
      ...{ escapes: new Uint8Array(columns), hasEscapes: true }
    }
    this.#failedColumns = [at.responseCode, at.responseMessage, at.failureMessage].filter((one) => one >= 0)
    this.#lastColumn = columns - 1
    this.#hasThreads = at.threadName >= 0
    this.line = new KernelLine(exports, this.#memory)
    this.requests = new KernelTimes(exports, this.#memory, 0)
    this.parts = new KernelTimes(exports, this.#memory, 1 << layout.PARTS_BIT)
    exports.setDialect(delimiter, columns)
    const { timeStamp, elapsed, label, responseMessage, success, allThreads, sampleCount } = at
    exports.setColumns(timeStamp, elapsed, label, responseMessage, success, allThreads, sampleCount)
    exports.setThreadColumns(at.threadName, at.hostname)
    exports.setPartColumn(at.partOf)
    exports.setTransactionColumns(at.dataType, at.url, at.latency, at.idleTime)
    const message = exports.setMessage(TRANSACTION_MESSAGE.length)
    this.#memory.bytes.set(TRANSACTION_MESSAGE, message)
  }

  /** Undefined if WebAssembly SIMD is not available, or for an absurdly long header. */
  static make(rows: SampleLayout): RowKernel | undefined {
    if (rows.columns > MAX_COLUMNS) return undefined
    const exports = startKernel()
    return exports && new RowKernel(exports, rows)
  }

  /** With the transactions that are among its notes. */
  get counted(): number {
    return this.#taken - this.early
  }

  get early(): number {
    return this.#exports.earlyRows() >>> 0
  }

  /** Rows that start before or after this are left out from now on. */
  countBetween(fromMs: number, toMs: number): void {
    const [first, last] = [Math.max(0, Math.ceil(fromMs)), Math.min(LATEST_MS, Math.floor(toMs))]
    // No row starts as late as never.
    const isEmpty = first > last
    this.#exports.countBetween(isEmpty ? NEVER : BigInt(first), isEmpty ? NEVER : BigInt(last))
  }

  /** From now on rows are counted for the report, and not for the figures. */
  countDetails(at: SampleColumns, options: DetailOptions): void {
    this.details = new KernelDetails(this.#exports, this.#memory, at, options)
    const more = [at.timeStamp, at.elapsed, at.threadName, at.url].filter((one) => one >= 0)
    this.#failedColumns = [...this.#failedColumns, ...more]
  }

  /** Rows of thread groups with these names, in all ways in which a row may write them, are left to the taker from now on. */
  leaveGroups(names: readonly Uint8Array[]): void {
    if (!this.#hasThreads || names.length === 0) return
    const entries = names.map((name) => {
      const length = new Uint8Array(4)
      new DataView(length.buffer).setUint32(0, name.length, true)
      return [length, name]
    })
    const bytes = Buffer.concat(entries.flat())
    const address = this.#exports.setGroups(bytes.length)
    this.#memory.bytes.set(bytes, address)
  }

  /** From now on the taker follows all rows, and decides what transactions are. */
  noteRows(): void {
    const address = this.#exports.noteRows(FAILING_MESSAGE.length)
    this.#memory.bytes.set(FAILING_MESSAGE, address)
  }

  /** Where to put the bytes. Any other call may move it. */
  get room(): Uint8Array {
    if (this.#room.length === 0)
      this.#room = this.#memory.bytes.subarray(this.#address, this.#address + this.#capacity)
    return this.#room
  }

  resize(capacity: number): void {
    const address = this.#exports.reserve(capacity)
    this.#memory.bytes.copyWithin(address, this.#address, this.#address + this.#capacity)
    this.#address = address
    this.#capacity = capacity
    this.#room = new Uint8Array(0)
  }

  /** Reads the complete rows of the first `length` bytes that begin in `from` to `limit`, and returns where the next one begins. */
  takeRows(span: { from: number; length: number; limit: number }, taker: RowTaker): number {
    const to = this.#address + span.length
    const limit = Math.min(this.#address + span.limit, to)
    let start = this.#address + span.from
    while (start < limit) {
      const state = this.#exports.findRows(start, to)
      const next = this.#count(limit, taker)
      const isProgress = next > start
      start = next
      if (state === layout.INDEXED_ALL || start >= limit) break
      if (state === layout.INDEXED_FULL && isProgress) continue
      // The kernel cannot handle the current row.
      const end = findRowEnd(this.#memory.bytes, { start, to, delimiter: this.#delimiter })
      if (end < 0) break
      taker.take(this.#memory.bytes, start, end)
      start = end + 1
    }
    return start - this.#address
  }

  /** What stalls are found by: of all rows for scope 0. */
  stallsOf(scope: number): StallScan {
    return readStalls(this.#exports, this.#memory, scope)
  }

  get hasFineTimes(): boolean {
    return this.#exports.hasFineTimes() !== 0
  }

  #count(limit: number, taker: RowTaker): number {
    for (;;) {
      const end = this.#exports.countRows(limit)
      const notesEnd = this.#exports.nextNote()
      this.#noted = this.#exports.firstNote() / 4
      for (let at = layout.RECORDS_AT / 4; at < end / 4; at += layout.RECORD_INTS) this.#passOn(at, taker)
      this.#passNotes(notesEnd, taker)
      taker.skip(this.#takenSince(this.#exports.takenRows()))
      if (end < layout.RECORDS_END) return this.#exports.nextRow()
    }
  }

  #passOn(at: number, taker: RowTaker): void {
    const { ints, bytes } = this.#memory
    const start = ints[at + layout.RECORD_START]!
    const end = ints[at + layout.RECORD_END]!
    const reason = ints[at + layout.RECORD_REASON]
    taker.skip(this.#takenSince(ints[at + layout.RECORD_TAKEN]!))
    if (reason === layout.REASON_FAILED) {
      const cell = ints[at + layout.RECORD_CELL]!
      const isPart = cell >> layout.PARTS_BIT !== 0
      taker.takeFailure((cell & ((1 << layout.PARTS_BIT) - 1)) >> 1, this.#readFailed(at), isPart)
      return
    }
    this.#passNotes(ints[at + layout.RECORD_NOTES]!, taker)
    const label = taker.take(bytes, start, end)
    if (reason === layout.REASON_LINE) this.line.misses++
    if (reason === layout.REASON_THREAD) {
      const thread = taker.threadOf()
      if (thread !== undefined) this.#exports.learnThread(ints[at + layout.RECORD_PLACE]!, thread)
    }
    if (label === undefined) return
    const [from, to] = [ints[at + layout.RECORD_LABEL_START]!, ints[at + layout.RECORD_LABEL_END]!]
    if (reason === layout.REASON_CODE) this.details?.learnCode(from, to, taker.codeOf())
    if (reason !== layout.REASON_LABEL) return
    const hash = ints[at + layout.RECORD_LABEL_HASH]!
    this.#exports.learnLabel(from, to, hash, label, taker.scopeOf(label))
  }

  #passNotes(end: number, taker: RowTaker): void {
    const [from, to] = [this.#noted, end / 4]
    if (from === to) return
    const { ints, doubles } = this.#memory
    taker.follow({ ints, doubles, from, to })
    this.#noted = to
  }

  #readFailed(record: number): RowFields {
    const { ints, bytes } = this.#memory
    const row = this.#failed
    row.buffer = bytes
    const place = ints[record + layout.RECORD_PLACE]! / 4
    for (const column of this.#failedColumns) {
      const lineEnd = ints[record + layout.RECORD_END]!
      const start = column === 0 ? ints[record + layout.RECORD_START]! : ints[place + column - 1]! + 1
      const isLast = column === this.#lastColumn
      const end = isLast ? lineEnd - Number(bytes[lineEnd - 1] === CR) : ints[place + column]!
      const isQuoted = bytes[start] === QUOTE
      row.starts[column] = start + Number(isQuoted)
      row.ends[column] = end - Number(isQuoted)
      row.escapes[column] = Number(isQuoted && bytes.subarray(start + 1, end - 1).includes(QUOTE))
    }
    return row
  }

  #takenSince(taken: number): number {
    const rows = (taken - this.#taken) >>> 0
    this.#taken += rows
    return rows
  }
}

/** How often each time was seen, in the cells of one kind of rows: the first of them has this number in the kernel. */
export class KernelTimes {
  readonly #exports: KernelExports
  readonly #memory: KernelMemory
  readonly #first: number
  /** Cells and times by turns. */
  readonly #waiting: number[] = []

  constructor(exports: KernelExports, memory: KernelMemory, first: number) {
    this.#exports = exports
    this.#memory = memory
    this.#first = first
  }

  /** Counts one more, later: the row may still be read, in memory that moves when it grows. False if it is too long for the kernel. */
  add(cell: number, elapsedMs: number): boolean {
    if (elapsedMs >>> layout.TIME_BITS !== 0) return false
    this.#waiting.push(cell, elapsedMs)
    return true
  }

  /** While no row is being read. */
  countWaiting(): void {
    const waiting = this.#waiting
    for (let i = 0; i < waiting.length; i += 2)
      this.#exports.countTime(this.#first + waiting[i]!, waiting[i + 1]!)
    waiting.length = 0
  }

  toRuns(cells: number): CountedRuns[] {
    this.countWaiting()
    return readCounts(this.#exports, this.#memory, { first: this.#first, cells })
  }
}

/** Space before the first row, for late ones. The rest is a few more than a time line can have. */
const SLOTS_BEFORE = 8
/** Wider buckets would not fit the kernel's numbers; narrower ones than the time line's are harmless. */
const MAX_SHIFT = 12
/** A single outlier is no reason to move; many are. */
const MISSES_TO_MOVE = 256

/** The part of the time line that the kernel counts in: a window that moves if too many rows miss it. */
class KernelLine {
  readonly #exports: KernelExports
  readonly #memory: KernelMemory
  readonly #slots: number
  readonly #times: number
  /** Rows outside of the window. */
  misses = MISSES_TO_MOVE
  #fromMs = 0
  #bucketMs = layout.LINE_UNIT_MS

  constructor(exports: KernelExports, memory: KernelMemory) {
    this.#exports = exports
    this.#memory = memory
    this.#slots = exports.lineSlots()
    this.#times = exports.lineTimes()
  }

  /** Moves to where the time line is, if it is worthwhile. */
  follow(line: TimeLine): void {
    if (this.misses < MISSES_TO_MOVE) return
    this.moveTo(line)
    if (line.startMs === undefined) return
    this.misses = 0
    const shift = Math.min(MAX_SHIFT, Math.log2(line.bucketMs / layout.LINE_UNIT_MS))
    this.#bucketMs = layout.LINE_UNIT_MS * 2 ** shift
    this.#fromMs = line.startMs - SLOTS_BEFORE * this.#bucketMs
    this.#exports.moveLine(BigInt(this.#fromMs), shift)
  }

  moveTo(line: TimeLine): void {
    const { ints } = this.#memory
    for (let slot = 0; slot < layout.LINE_SLOTS; slot++) {
      const at = (this.#slots + slot * layout.LINE_SLOT_BYTES) / 4
      const [samples, failures, threads] = [ints[at]!, ints[at + 1]!, ints[at + 2]! - 1]
      if (samples === 0) continue
      const timesAt = (this.#times + slot * layout.LINE_TIMES_BYTES) / 4
      const times = ints.subarray(timesAt, timesAt + layout.LINE_TIMES_BYTES / 4)
      const atMs = this.#fromMs + slot * this.#bucketMs
      line.absorb(atMs, samples, failures, threads, times)
      ints.fill(0, at, at + layout.LINE_SLOT_BYTES / 4)
      times.fill(0)
    }
  }
}

function readStalls(exports: KernelExports, memory: KernelMemory, scope: number): StallScan {
  const { ints } = memory
  const found: { page: number; address: number }[] = []
  for (let at = exports.endPages(); at < exports.endPagesStop(); at += layout.END_PAGE_SLOT_BYTES) {
    const [page, owner, address] = [ints[at / 4]!, ints[at / 4 + 1]!, ints[at / 4 + 2]!]
    if (address !== 0 && owner === scope) found.push({ page, address })
  }
  found.sort((one, other) => one.page - other.page)
  const bits = new Uint32Array(found.length * layout.END_PAGE_WORDS)
  found.forEach(({ address }, index) => {
    bits.set(ints.subarray(address / 4, address / 4 + layout.END_PAGE_WORDS), index * layout.END_PAGE_WORDS)
  })
  const times = exports.endScopes() + scope * layout.END_SCOPE_BYTES
  const first = readTime(ints, times + layout.END_SCOPE_FIRST_START)
  const last = readTime(ints, times + layout.END_SCOPE_LAST_END)
  const isEmpty = first > last
  const lastPage = Math.floor(last / 2 ** layout.END_PAGE_BITS)
  const isCut = !isEmpty && !found.some(({ page }) => page === lastPage)
  return {
    ends: { pages: Float64Array.from(found, ({ page }) => page), bits },
    firstStartMs: isEmpty ? Infinity : first,
    lastStartMs: isEmpty ? -Infinity : readTime(ints, times + layout.END_SCOPE_LAST_START),
    lastEndMs: isEmpty ? -Infinity : last,
    leastMs: isCut ? Infinity : exports.leastStall(),
    long: readLong(exports, ints, scope)
  }
}

function readLong(exports: KernelExports, ints: Int32Array, scope: number): LongRowsScan {
  const step = layout.LONG_BYTES / 4
  const [first, stop] = [exports.longRows() / 4, exports.longRowsStop() / 4]
  let size = 0
  for (let at = first; at < stop; at += step) if (ints[at + 5] === scope) size++
  const long = {
    ...{ startMs: new Float64Array(size), endMs: new Float64Array(size) },
    ...{ thread: new Uint32Array(size), label: new Int32Array(size) }
  }
  let row = 0
  for (let at = first; at < stop; at += step) {
    if (ints[at + 5] !== scope) continue
    long.startMs[row] = readTime(ints, at * 4)
    long.endMs[row] = long.startMs[row]! + ints[at + 2]!
    long.thread[row] = ints[at + 4]!
    long.label[row++] = ints[at + 3]!
  }
  return long
}

function readTime(ints: Int32Array, address: number): number {
  return ints[address / 4 + 1]! * 2 ** 32 + (ints[address / 4]! >>> 0)
}
