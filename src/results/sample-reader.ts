/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { Histogram, joinRuns } from './histogram.js'
import { LabelTable } from './label-table.js'
import { TimeLine } from './time-line.js'
import { readDate, readDigits } from './timestamp.js'
import { explainRow, quoteBytes, type RowProblems } from './row-problems.js'
import { CELLS_A_LABEL, REQUEST, TRANSACTION, type SamplePart } from './scan-result.js'
import { TIME_BITS, TRANSACTION_MESSAGE } from './kernel-layout.js'
import type { Row } from './row-splitter.js'
import type { RowKernel } from './row-kernel.js'
import type { SampleColumns } from './header.js'

const QUOTE = 34
const DIGIT_ZERO = 48
/** Neither of two: no outcome, no kind. */
const NOTHING = 2
const NEVER = 0xffffffff
const MAX_DATE_LENGTH = 40
const latin1 = new TextDecoder('latin1')
const TRUE = new TextEncoder().encode('true')
const FALSE = new TextEncoder().encode('false')
const MAX_ELAPSED_MS = 0x7fffffff

/** Reads the rows of a JMeter sample CSV and keeps counts of them, never the rows. */
export class SampleReader {
  rows = 0
  readonly #at: SampleColumns
  readonly #columns: number
  readonly #problems: RowProblems
  readonly #labels = new LabelTable()
  /** Below 65.5 s every millisecond has a bucket of its own; above, a bucket is at most 0.003 % wide. */
  readonly #times = new Histogram(TIME_BITS)
  #sums = new Float64Array(64 * CELLS_A_LABEL)
  #minima = new Uint32Array(64 * CELLS_A_LABEL).fill(NEVER)
  #maxima = new Uint32Array(64 * CELLS_A_LABEL)
  readonly #requests = new TimeLine()
  readonly #transactions = new TimeLine()
  /** First start and last end; in an array, for a field would make garbage with every number that is put into it. */
  readonly #span = new Float64Array([Infinity, -Infinity])
  #scratch = new Uint8Array(256)
  #kernel: RowKernel | undefined

  constructor(options: { at: SampleColumns; columns: number; problems: RowProblems }) {
    this.#at = options.at
    this.#columns = options.columns
    this.#problems = options.problems
  }

  /** Returns the number of the row's label if the row was counted under it. */
  take(row: Row): number | undefined {
    this.rows++
    if (row.fault !== undefined || row.columns !== this.#columns) {
      this.#problems.add(this.rows, explainRow(row, this.#columns))
      return undefined
    }
    const at = this.#at
    const elapsedMs = at.elapsed < 0 ? -1 : readNumber(row, at.elapsed)
    const startMs = at.timeStamp < 0 ? -1 : this.#readTime(row)
    const outcome = at.success < 0 ? 0 : readOutcome(row, at.success)
    const threads = at.allThreads < 0 ? -1 : readNumber(row, at.allThreads)
    const isBad =
      (elapsedMs < 0 && at.elapsed >= 0) ||
      elapsedMs > MAX_ELAPSED_MS ||
      (startMs < 0 && at.timeStamp >= 0) ||
      outcome === NOTHING ||
      (threads < 0 && at.allThreads >= 0 && row.starts[at.allThreads] !== row.ends[at.allThreads]) ||
      (at.sampleCount >= 0 && readNumber(row, at.sampleCount) !== 1)
    if (isBad) {
      this.#explain(row, elapsedMs, outcome)
      return undefined
    }
    const kind = at.responseMessage < 0 ? REQUEST : kindOf(row, at.responseMessage)
    if (kind === NOTHING) return undefined
    const label = at.label < 0 ? 0 : this.#labelOf(row, at.label)
    if (label < 0)
      this.#problems.add(this.rows, `there are more than ${this.#labels.size} different labels before it`)
    this.#enter(Math.max(0, label) * CELLS_A_LABEL + kind * 2 + outcome, elapsedMs, startMs, threads)
    return label < 0 ? undefined : label
  }

  /** From now on most rows are counted by the kernel, and their figures are fetched from it. */
  useKernel(kernel: RowKernel): void {
    this.#kernel = kernel
    this.followTimes()
  }

  /** To be called now and then, so that the kernel counts where the time line has got to. */
  followTimes(): void {
    this.#kernel?.line.follow([this.#requests, this.#transactions])
  }

  toPart(): SamplePart {
    const hasLabels = this.#at.label >= 0
    const labels = hasLabels ? this.#labels.toStrings() : ['']
    const cells = labels.length * CELLS_A_LABEL
    if (cells > this.#sums.length) this.#growCells(cells - 1)
    const [startMs, endMs] = this.#kernel?.span ?? [Infinity, -Infinity]
    this.#kernel?.line.moveTo([this.#requests, this.#transactions])
    return {
      labels,
      hasLabels,
      hasElapsed: this.#at.elapsed >= 0,
      hasTimes: this.#at.timeStamp >= 0,
      startMs: Math.min(startMs, this.#span[0]!),
      endMs: Math.max(endMs, this.#span[1]!),
      ...this.#sumUp(cells),
      requests: this.#requests.toScan(),
      transactions: this.#transactions.toScan()
    }
  }

  /** Adds what the kernel has counted, which stays there: more rows may follow. */
  #sumUp(cells: number): Pick<SamplePart, 'sums' | 'minima' | 'maxima' | 'times'> {
    const sums = this.#sums.slice(0, cells)
    const minima = this.#minima.slice(0, cells)
    const maxima = this.#maxima.slice(0, cells)
    const own = this.#times.toRuns(cells)
    const runs = this.#kernel?.toRuns(cells)
    if (runs === undefined) return { sums, minima, maxima, times: own }
    const { offsets, values, counts } = runs
    for (let cell = 0; cell < cells && this.#at.elapsed >= 0; cell++) {
      const [from, to] = [offsets[cell]!, offsets[cell + 1]!]
      if (from === to) continue
      minima[cell] = Math.min(minima[cell]!, values[from]!)
      maxima[cell] = Math.max(maxima[cell]!, values[to - 1]!)
      for (let i = from; i < to; i++) sums[cell]! += values[i]! * counts[i]!
    }
    return { sums, minima, maxima, times: joinRuns(own, runs) }
  }

  // Four plain numbers, for an object a row is what this file avoids.
  #enter(cell: number, elapsedMs: number, startMs: number, threads: number): void {
    if (elapsedMs >= 0) this.#count(cell, elapsedMs)
    else this.#times.add(cell, 0)
    if (startMs < 0) return
    const endMs = elapsedMs < 0 ? startMs : startMs + elapsedMs
    if (startMs < this.#span[0]!) this.#span[0] = startMs
    if (endMs > this.#span[1]!) this.#span[1] = endMs
    const line = (cell & 2) === 0 ? this.#requests : this.#transactions
    line.add(endMs, elapsedMs, cell & 1, threads)
  }

  #count(cell: number, elapsedMs: number): void {
    if (cell >= this.#sums.length) this.#growCells(cell)
    this.#times.add(cell, elapsedMs)
    this.#sums[cell]! += elapsedMs
    if (elapsedMs < this.#minima[cell]!) this.#minima[cell] = elapsedMs
    if (elapsedMs > this.#maxima[cell]!) this.#maxima[cell] = elapsedMs
  }

  #growCells(cell: number): void {
    const length = Math.max(cell + 1, this.#sums.length * 2)
    const { sums, minima, maxima } = { sums: this.#sums, minima: this.#minima, maxima: this.#maxima }
    this.#sums = new Float64Array(length)
    this.#sums.set(sums)
    this.#minima = new Uint32Array(length).fill(NEVER)
    this.#minima.set(minima)
    this.#maxima = new Uint32Array(length)
    this.#maxima.set(maxima)
  }

  #labelOf(row: Row, column: number): number {
    const start = row.starts[column]!
    const end = row.ends[column]!
    if (row.hasEscapes && row.escapes[column] === 1) return this.#escapedLabel(row.buffer, start, end)
    return this.#labels.numberOf(row.buffer, start, end)
  }

  #escapedLabel(buffer: Uint8Array, start: number, end: number): number {
    if (end - start > this.#scratch.length) this.#scratch = new Uint8Array(end - start)
    const length = unescape({ buffer, start, end }, this.#scratch)
    return this.#labels.numberOf(this.#scratch, 0, length)
  }

  #explain(row: Row, elapsedMs: number, outcome: number): void {
    const at = this.#at
    const say = (name: string, column: number, wanted: string) => {
      const found = quoteBytes(row.buffer, row.starts[column]!, row.ends[column]!)
      this.#problems.add(this.rows, `${name} is ${found}, not ${wanted}`)
    }
    if (at.timeStamp >= 0 && this.#readTime(row) < 0)
      say('timeStamp', at.timeStamp, 'epoch ms or a date, year first')
    else if (at.elapsed >= 0 && elapsedMs < 0) say('elapsed', at.elapsed, 'a whole number of ms')
    else if (elapsedMs > MAX_ELAPSED_MS) say('elapsed', at.elapsed, 'a time that a sample can take')
    else if (outcome === NOTHING) say('success', at.success, 'true or false')
    else if (at.sampleCount >= 0 && readNumber(row, at.sampleCount) !== 1)
      say('SampleCount', at.sampleCount, '1: a row must stand for one sample')
    else say('allThreads', at.allThreads, 'a whole number')
  }

  #readTime(row: Row): number {
    const start = row.starts[this.#at.timeStamp]!
    const end = row.ends[this.#at.timeStamp]!
    const epochMs = readDigits(row.buffer, start, end)
    if (epochMs >= 0 || end - start > MAX_DATE_LENGTH) return epochMs
    return readDate(latin1.decode(row.buffer.subarray(start, end))) ?? -1
  }
}

function readNumber(row: Row, column: number): number {
  return readDigits(row.buffer, row.starts[column]!, row.ends[column]!)
}

function readOutcome(row: Row, column: number): number {
  const start = row.starts[column]!
  const length = row.ends[column]! - start
  if (length === TRUE.length && isWord(row.buffer, start, TRUE)) return 0
  if (length === FALSE.length && isWord(row.buffer, start, FALSE)) return 1
  return NOTHING
}

function isWord(buffer: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if ((buffer[start + i]! | 0x20) !== word[i]) return false
  return true
}

/**
 * Tells the row of a transaction controller from that of a request, as JMeter's own dashboard does: by the response message.
 * A controller without samples took part in nothing and is no sample.
 */
function kindOf(row: Row, column: number): number {
  const { buffer } = row
  const start = row.starts[column]!
  if (buffer[start] !== TRANSACTION_MESSAGE[0]) return REQUEST
  const end = start + TRANSACTION_MESSAGE.length
  if (end >= row.ends[column]!) return REQUEST
  for (let i = 0; i < TRANSACTION_MESSAGE.length; i++) {
    if (buffer[start + i] !== TRANSACTION_MESSAGE[i]) return REQUEST
  }
  return buffer[end] === DIGIT_ZERO ? NOTHING : TRANSACTION
}

/** Writes the field to `target` with its doubled quotes made single; returns its length there. */
function unescape(field: { buffer: Uint8Array; start: number; end: number }, target: Uint8Array): number {
  let length = 0
  for (let i = field.start; i < field.end; i++) {
    target[length++] = field.buffer[i]!
    if (field.buffer[i] === QUOTE) i++
  }
  return length
}
