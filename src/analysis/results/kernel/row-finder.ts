/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { findRowEnd } from '../csv/row-splitter.js'
import * as layout from './assembly/layout.js'
import { startKernel, type KernelExports } from './kernel-module.js'

/** A row and its columns; reused for every row, as its bytes are. */
export interface FoundRow {
  bytes: Buffer
  view: DataView
  /** From the first byte to the line break, or the CR before it. */
  start: number
  end: number
  /** Counted from 1, with those that were left out. */
  number: number
  columns: number
  /** Column `i` is between `places[first + i - 1]` and `places[first + i]`; only the first `MOST_COLUMNS` are known. */
  places: Int32Array
  first: number
}

export const MOST_COLUMNS = 1024
const CR = 13
const QUOTE = 34
const COMMA = 44
const FIRST_BYTES = 1 << 21
const NO_BYTES = Buffer.alloc(0)

interface RowFinderOptions {
  readonly take: (row: FoundRow) => void
  /** Rows that begin with one of these, ten bytes or more, need not be taken. */
  readonly skipped?: readonly Uint8Array[]
  /** With null, as where WebAssembly SIMD is not available, every row is read byte by byte. */
  readonly kernel?: KernelExports | null
}

/** Finds the rows of a CSV that arrives in pieces. The kernel does, 64 bytes at once; what is quoted oddly is read byte by byte. */
export class RowFinder {
  readonly #take: (row: FoundRow) => void
  readonly #kernel: KernelExports | undefined
  readonly #row: FoundRow
  /** The places in a row that the kernel does not understand. */
  readonly #ownPlaces = new Int32Array(MOST_COLUMNS + 1)
  #places = new Int32Array(0)
  #bytes: Buffer = NO_BYTES
  /** Where the bytes begin and end, among those of the kernel's memory, and how many there may be. */
  #from = 0
  #to = 0
  #capacity = 0
  #isStopped = false
  /** How many rows have ended. */
  rows = 0

  constructor({ take, skipped = [], kernel = startKernel() ?? null }: RowFinderOptions) {
    this.#take = take
    this.#kernel = kernel ?? undefined
    kernel?.setDialect(COMMA, 1)
    if (kernel !== null) for (const name of skipped) skipRowsOf(name, kernel)
    this.#row = {
      ...{ bytes: this.#bytes, view: new DataView(new ArrayBuffer(0)), start: 0, end: 0, number: 0 },
      ...{ columns: 0, places: this.#ownPlaces, first: 1 }
    }
  }

  /** The length of the row that has no end yet. */
  get restBytes(): number {
    return this.#isStopped ? 0 : this.#to - this.#from
  }

  push(chunk: Uint8Array): void {
    if (this.#isStopped) return
    const rest = this.restBytes
    const begin = this.#makeRoom(rest + chunk.length)
    this.#bytes.set(chunk, begin + rest)
    this.#from = begin
    this.#to = begin + rest + chunk.length
    this.#findRows()
  }

  /** Nothing more is read. */
  stop(): void {
    this.#isStopped = true
  }

  /** Moves what is left to the beginning of the room, and returns where that is. */
  #makeRoom(needed: number): number {
    const rest = this.#bytes.subarray(this.#from, this.#to)
    if (needed <= this.#capacity) {
      const begin = this.#bytes.length - this.#capacity
      this.#bytes.copyWithin(begin, this.#from, this.#to)
      return begin
    }
    const kept = Buffer.from(rest)
    this.#capacity = Math.max(FIRST_BYTES, 2 * needed)
    const begin = this.#kernel?.reserve(this.#capacity) ?? 0
    // The kernel reads and writes whole blocks, beyond what it was given.
    const memory = this.#kernel?.memory.buffer ?? new ArrayBuffer(this.#capacity)
    this.#bytes = Buffer.from(memory, 0, begin + this.#capacity)
    this.#places = new Int32Array(memory, 0, Math.floor(begin / 4))
    this.#row.bytes = this.#bytes
    this.#row.view = new DataView(memory)
    kept.copy(this.#bytes, begin)
    return begin
  }

  #findRows(): void {
    const kernel = this.#kernel
    while (this.#from < this.#to) {
      const from = this.#from
      const state = kernel?.findRows(from, this.#to)
      if (kernel !== undefined) this.#takeFound(kernel)
      // All of it, but for a row without an end.
      if (state === layout.INDEXED_ALL) return
      if ((state !== layout.INDEXED_FULL || this.#from === from) && !this.#takeByteByByte()) return
    }
  }

  #takeFound(kernel: KernelExports): void {
    const lines = kernel.endOfLines() / 4
    if (lines === layout.LINES_AT / 4) return
    const row = this.#row
    const places = this.#places
    const end = kernel.listRows() / 4
    row.places = places
    for (let at = kernel.listStart() / 4; at < end; at += 3) {
      const [first, last] = [places[at]! / 4, places[at + 1]! / 4]
      row.first = first
      row.columns = last - first + 1
      row.start = places[first - 1]! + 1
      row.number = this.rows + places[at + 2]! + 1
      this.#takeRow(places[last]!)
    }
    this.rows += lines - layout.LINES_AT / 4
    this.#from = places[places[lines - 1]! / 4]! + 1
  }

  /** Takes the next row as it is read byte by byte; false if it has no end. */
  #takeByteByByte(): boolean {
    const row = this.#row
    const [start, to] = [this.#from, this.#to]
    const end = findRowEnd(this.#bytes, { start, to, delimiter: COMMA })
    if (end < 0) return false
    row.places = this.#ownPlaces
    row.first = 1
    row.columns = this.#split(start, end)
    row.start = start
    row.number = ++this.rows
    this.#takeRow(end)
    this.#from = end + 1
    return true
  }

  #takeRow(lineBreak: number): void {
    const row = this.#row
    const { start } = row
    row.end = lineBreak > start && this.#bytes[lineBreak - 1] === CR ? lineBreak - 1 : lineBreak
    if (!this.#isStopped) this.#take(row)
  }

  #split(start: number, end: number): number {
    const [bytes, places] = [this.#bytes, this.#ownPlaces]
    places[0] = start - 1
    let column = 0
    let from = start
    for (let at = start; at <= end; at++) {
      if (at === end || bytes[at] === COMMA) {
        column++
        if (column <= MOST_COLUMNS) places[column] = at
        from = at + 1
      } else if (bytes[at] === QUOTE && at === from) {
        for (at++; at < end && (bytes[at] !== QUOTE || bytes[at + 1] === QUOTE); at++)
          if (bytes[at] === QUOTE) at++
      }
    }
    return column
  }
}

function skipRowsOf(name: Uint8Array, kernel: KernelExports): void {
  const address = kernel.reserve(layout.SKIPPED_NEXT + 4)
  const memory = new Uint8Array(kernel.memory.buffer)
  memory.set(name, address)
  memory.fill(0xff, address + layout.SKIPPED_BYTES, address + layout.SKIPPED_BYTES + name.length)
  kernel.skipRowsOf(address)
}
