/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { makeCountFunction } from './kernel-count.js'
import { makeIndexFunction } from './kernel-index.js'
import { KernelLabels } from './kernel-labels.js'
import { KernelLine } from './kernel-line.js'
import { KernelMemory, type GrowingMemory } from './kernel-memory.js'
import { KernelPages } from './kernel-pages.js'
import {
  CONTROL,
  HEAP_AT,
  INDEXED,
  REASON,
  RECORD,
  RECORDS_AT,
  RECORDS_END,
  WAITING_END
} from './kernel-layout.js'
import { findRowEnd } from '../csv/row-splitter.js'
import { makeTallyFunction } from './kernel-tally.js'
import { assemble } from './wasm-assembler.js'
import type { CountedRuns } from '../counts/histogram.js'
import type { SampleColumns } from '../csv/header.js'

// Ordinary rows are read and counted by functions in WebAssembly that are made for the header at hand: they look at 64 bytes at once,
// which JavaScript cannot. They know no problems: a row that they do not understand is left to the RowSplitter and the
// SampleReader, which alone decide what a row means.

declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface Exports {
  readonly index: (from: number, to: number) => number
  readonly count: (limit: number, record: number, recordsEnd: number) => number
  readonly tally: () => number
  readonly memory: GrowingMemory
}

export interface KernelLayout {
  readonly delimiter: number
  readonly columns: number
  readonly at: SampleColumns
}

/** Whoever takes the rows that the kernel leaves. */
export interface RowTaker {
  /** So many rows in front of the next one were counted. */
  skip(rows: number): void
  /** Takes the row from `start` to its line break at `end`; returns the number of its label, if it has a number. */
  take(bytes: Uint8Array, start: number, end: number): number | undefined
  /** Takes note of a row that was counted, under the label of that number, and had failed. */
  takeFailure(label: number, row: FailedRow): void
}

/** A row that was counted. Reused for every row, so nobody may keep it. */
export interface FailedRow {
  readonly bytes: Uint8Array
  /** Where the column lies in the bytes, its quotes included. */
  start(column: number): number
  end(column: number): number
}

const CR = 13
const MAX_COLUMNS = 1024
const FIRST_PAGES = Math.ceil(HEAP_AT / 65_536) + 1
/** Beyond any time that a row can state. */
const NEVER = 1n << 60n

/** Modules by delimiter and columns: the CSVs of a run have one header between them. */
const modules = new Map<string, object | undefined>()

/** Counts rows of a sample CSV that lie in its own memory. */
export class RowKernel {
  readonly line: KernelLine
  readonly #exports: Exports
  readonly #delimiter: number
  readonly #memory: KernelMemory
  readonly #labels: KernelLabels
  readonly #pages: KernelPages
  #address = 0
  #capacity = 0
  #room = new Uint8Array(0)
  readonly #failed: FailedRecord
  #counted = 0

  private constructor(exports: Exports, { delimiter, columns }: KernelLayout) {
    this.#exports = exports
    this.#delimiter = delimiter
    this.#memory = new KernelMemory(exports.memory)
    this.#failed = new FailedRecord(this.#memory, columns - 1)
    this.#labels = new KernelLabels(this.#memory)
    this.#pages = new KernelPages(this.#memory)
    this.line = new KernelLine(this.#memory)
    this.#memory.wide[CONTROL.spanStart / 8] = NEVER
    this.#memory.wide[CONTROL.spanEnd / 8] = -NEVER
  }

  /** Undefined where WebAssembly with vectors is not to be had, or for a header beyond all measure. */
  static make(layout: KernelLayout): RowKernel | undefined {
    const { delimiter, columns, at } = layout
    if (columns > MAX_COLUMNS) return undefined
    const key = JSON.stringify([delimiter, columns, at])
    if (!modules.has(key)) {
      const functions = [makeIndexFunction(delimiter), makeCountFunction(at, columns), makeTallyFunction()]
      const bytes = assemble(functions, FIRST_PAGES)
      modules.set(key, WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : undefined)
    }
    const module = modules.get(key)
    if (module === undefined) return undefined
    const { exports } = new WebAssembly.Instance(module)
    return new RowKernel(exports as Exports, layout)
  }

  /** How many rows it has counted. */
  get counted(): number {
    return this.#counted
  }

  /** Whether it has come to a row that may be a transaction's: it cannot go on from there. */
  get isStopped(): boolean {
    return this.#memory.ints[CONTROL.stopped / 4] !== 0
  }

  /** Where the bytes are to be put. Any other call may make it lie elsewhere. */
  get room(): Uint8Array {
    if (this.#room.length === 0) {
      this.#room = this.#memory.bytes.subarray(this.#address, this.#address + this.#capacity)
    }
    return this.#room
  }

  /** Makes the room larger; the bytes in it are kept. */
  resize(capacity: number): void {
    const address = this.#memory.reserve(capacity)
    this.#memory.bytes.copyWithin(address, this.#address, this.#address + this.#capacity)
    this.#address = address
    this.#capacity = capacity
    this.#room = new Uint8Array(0)
  }

  /** Takes the whole rows of the first `length` bytes that begin in `from` to `limit`, and says where the next one begins. */
  takeRows(span: { from: number; length: number; limit: number }, taker: RowTaker): number {
    const to = this.#address + span.length
    const limit = Math.min(this.#address + span.limit, to)
    let start = this.#address + span.from
    while (start < limit) {
      const state = this.#exports.index(start, to)
      const next = this.#count(limit, taker)
      const isProgress = next > start
      start = next
      if (state === INDEXED.all || start >= limit || this.isStopped) break
      if (state === INDEXED.full && isProgress) continue
      // The row at hand is beyond the kernel.
      const end = findRowEnd(this.#memory.bytes, { start, to, delimiter: this.#delimiter })
      if (end < 0) break
      taker.take(this.#memory.bytes, start, end)
      start = end + 1
    }
    return start - this.#address
  }

  /** The counts of cells 0 to `cells - 1`, one run each. */
  toRuns(cells: number): CountedRuns {
    return this.#pages.toRuns(cells)
  }

  /** First start and last end of the rows that were counted. */
  get span(): readonly [startMs: number, endMs: number] {
    const { wide } = this.#memory
    const [start, end] = [wide[CONTROL.spanStart / 8]!, wide[CONTROL.spanEnd / 8]!]
    return start === NEVER ? [Infinity, -Infinity] : [Number(start), Number(end)]
  }

  #count(limit: number, taker: RowTaker): number {
    for (;;) {
      this.#pages.makeRoom()
      const end = this.#exports.count(limit, RECORDS_AT, RECORDS_END)
      this.#exports.tally()
      for (let at = RECORDS_AT / 4; at < end / 4; at += RECORD.size) this.#passOn(at, taker)
      const { ints } = this.#memory
      taker.skip(this.#countSince(ints[CONTROL.counted / 4]!))
      const isFull = end === RECORDS_END || ints[CONTROL.waitingEnd / 4] === WAITING_END
      if (!isFull) return ints[CONTROL.rowStart / 4]!
    }
  }

  #passOn(at: number, taker: RowTaker): void {
    const { ints, bytes } = this.#memory
    const [start, end] = [ints[at + RECORD.start]!, ints[at + RECORD.end]!]
    const reason = ints[at + RECORD.reason]
    const counted = ints[at + RECORD.counted]!
    taker.skip(this.#countSince(counted))
    if (reason === REASON.failed) {
      taker.takeFailure(ints[at + RECORD.cell]! >> 1, this.#failed.at(at))
      return
    }
    const label = taker.take(bytes, start, end)
    if (reason === REASON.line) this.line.miss()
    if (reason !== REASON.label || label === undefined) return
    const field = {
      ...{ start: ints[at + RECORD.labelStart]!, end: ints[at + RECORD.labelEnd]! },
      hash: ints[at + RECORD.labelHash]!
    }
    this.#labels.learn(field, label)
  }

  #countSince(counted: number): number {
    const rows = (counted - this.#counted) >>> 0
    this.#counted = counted
    return rows
  }
}

/** Reads the places of a failed row's columns from its record. */
class FailedRecord implements FailedRow {
  readonly #memory: KernelMemory
  readonly #last: number
  #record = 0

  constructor(memory: KernelMemory, last: number) {
    this.#memory = memory
    this.#last = last
  }

  at(record: number): this {
    this.#record = record
    return this
  }

  get bytes(): Uint8Array {
    return this.#memory.bytes
  }

  start(column: number): number {
    const { ints } = this.#memory
    if (column === 0) return ints[this.#record + RECORD.start]!
    return ints[ints[this.#record + RECORD.place]! / 4 + column - 1]! + 1
  }

  end(column: number): number {
    const { ints, bytes } = this.#memory
    if (column < this.#last) return ints[ints[this.#record + RECORD.place]! / 4 + column]!
    const end = ints[this.#record + RECORD.end]!
    return bytes[end - 1] === CR ? end - 1 : end
  }
}
