import { TRANSACTION_MESSAGE, type SampleColumns } from '../csv/header.js'
import { readDigits } from '../csv/timestamp.js'
import type { Row } from '../csv/row-splitter.js'

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const FAILING_MESSAGE = new TextEncoder().encode(', number of failing samples : ')
const NULL = new TextEncoder().encode('null')
const ZERO = 48

/** What the row of a transaction controller says about its samples. */
export interface ControllerMessage {
  readonly samples: number
  readonly failing: number
}

/**
 * Reads the message by which JMeter marks the row of a transaction controller; undefined for the row of a request. Any server may
 * respond with such a message, so the other marks must be present too if the columns are: no data type, and no URL.
 */
export function readControllerMessage(row: Row, at: SampleColumns): ControllerMessage | undefined {
  const column = at.responseMessage
  if (column < 0 || !holds(row, column, 0, TRANSACTION_MESSAGE)) return undefined
  if (at.dataType >= 0 && lengthOf(row, at.dataType) > 0) return undefined
  if (at.url >= 0 && !isNull(row, at.url)) return undefined
  const digits = countDigits(row, column, TRANSACTION_MESSAGE.length)
  if (digits === 0) return undefined
  const samples = readNumber(row, column, TRANSACTION_MESSAGE.length)
  const rest = TRANSACTION_MESSAGE.length + digits
  const hasFailing = holds(row, column, rest, FAILING_MESSAGE)
  return { samples, failing: hasFailing ? readNumber(row, column, rest + FAILING_MESSAGE.length) : 0 }
}

/** Whether a controller generates parent samples. */
export type ControllerKind = 'plain' | 'parent'

/**
 * Reads the kind of the controller; undefined if its row does not show it. JMeter gives a parent sample no latency, and the code of
 * a failed request; without parent samples, it adds up latencies and gives a failure no code.
 */
export function readControllerKind(
  row: Row,
  at: SampleColumns,
  isFailure: boolean
): ControllerKind | undefined {
  if (at.latency >= 0 && readNumber(row, at.latency, 0) > 0) return 'plain'
  return isFailure && at.responseCode >= 0 && lengthOf(row, at.responseCode) > 0 ? 'parent' : undefined
}

function isNull(row: Row, column: number): boolean {
  const length = lengthOf(row, column)
  return length === 0 || (length === NULL.length && holds(row, column, 0, NULL))
}

function lengthOf({ starts, ends }: Row, column: number): number {
  return ends[column]! - starts[column]!
}

/** Whether the text is `from` bytes after the field's start. */
function holds(row: Row, column: number, from: number, words: Uint8Array): boolean {
  const start = row.starts[column]! + from
  if (row.buffer[start] !== words[0] || lengthOf(row, column) < from + words.length) return false
  for (let i = 1; i < words.length; i++) if (row.buffer[start + i] !== words[i]) return false
  return true
}

function countDigits({ buffer, starts, ends }: Row, column: number, from: number): number {
  const start = starts[column]! + from
  let at = start
  while (at < ends[column]! && buffer[at]! >= ZERO && buffer[at]! < ZERO + 10) at++
  return at - start
}

function readNumber(row: Row, column: number, from: number): number {
  const start = row.starts[column]! + from
  const number = readDigits(row.buffer, start, start + countDigits(row, column, from))
  return number < 0 ? 0 : number
}

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/** When something began and ended. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** Times are whole milliseconds, rounded down, and JMeter adjusts its clock every five seconds. */
export const JITTER_MS = 1
const KEPT_ROWS = 64
const ROW_FIELDS = 3

/** The last rows of one thread, in CSV order. */
export class ThreadRows {
  /** Of the first row, and of the last one. */
  firstStartMs = NaN
  startMs = NaN
  endMs = NaN
  /** Of the last row that is not part of another. */
  outerStartMs = NaN
  outerEndMs = NaN
  /** How many consecutive rows began in the same millisecond as the last one, and failed. */
  run = 0
  failedRun = 0
  /** How many samples the last row represents if it is a transaction that certainly has no rows before it. */
  loneSamples = 0
  /** Whether a row ended before the one above it began, as when rows of several machines are concatenated. */
  hasGoneBack = false
  readonly #kept = new Float64Array(KEPT_ROWS * ROW_FIELDS)
  #count = 0

  /** Takes the next row. A request only represents itself. */
  add(startMs: number, endMs: number, { samples, outcome }: { samples: number; outcome: number }): void {
    const isSameMs = this.startMs === startMs
    this.run = isSameMs ? this.run + 1 : 1
    this.failedRun = isSameMs ? this.failedRun + outcome : outcome
    if (this.#count === 0) this.firstStartMs = startMs
    this.startMs = startMs
    this.endMs = endMs
    const at = (this.#count++ % KEPT_ROWS) * ROW_FIELDS
    this.#kept[at] = startMs
    this.#kept[at + 1] = endMs
    this.#kept[at + 2] = samples
  }

  /** Whether the condition holds for one of the last rows. */
  some(isLike: (startMs: number, endMs: number, samples: number) => boolean): boolean {
    const end = Math.min(this.#count, KEPT_ROWS) * ROW_FIELDS
    const kept = this.#kept
    for (let at = 0; at < end; at += ROW_FIELDS)
      if (isLike(kept[at]!, kept[at + 1]!, kept[at + 2]!)) return true
    return false
  }
}

/** A neighbour of a span may touch it, but not begin before its end and end after its start. */
export function isWithin(span: Span, startMs: number, endMs: number): boolean {
  const isTouching = startMs >= span.startMs && startMs < span.endMs && endMs > span.startMs
  return isTouching && endMs <= span.endMs + JITTER_MS
}

/** Whether one of the two begins within the other and ends after it, by more than clock jitter. */
export function isCrossing(span: Span, startMs: number, endMs: number): boolean {
  if (startMs >= span.endMs - JITTER_MS || endMs <= span.startMs + JITTER_MS) return false
  const [beginsLaterMs, endsLaterMs] = [startMs - span.startMs, endMs - span.endMs]
  return Math.min(beginsLaterMs, endsLaterMs) > JITTER_MS || Math.max(beginsLaterMs, endsLaterMs) < -JITTER_MS
}
// A transaction controller's row sums up requests. If these have their own rows they count, and the controller's row does not; if
// they have none, it counts itself. Which of the two shows in the rows of the same thread, because a thread does one thing after the other:
// - without "generate parent sample" JMeter writes the rows of the requests, then the controller's: the row before is within its time;
// - with it, and with `subresults`, JMeter writes the controller's row, then those of the requests: the row after is within its time;
// - with it, and without `subresults`, neither is.
/** The row of a transaction controller. */

export interface Transaction {
  readonly label: number
  /** A hash of the name of its thread; 0 if it is unknown. */
  readonly thread: number
  /** The same number for all with the same label and thread group, which probably come from one controller. */
  readonly controller: number
  /** 0 is a success, 1 a failure. */
  readonly outcome: number
  readonly startMs: number
  readonly elapsedMs: number
  /** When it ended, including idle times; the earliest possible end if the row does not say how long these were. */
  readonly endMs: number
  readonly isEndKnown: boolean
  /** The kind of its controller, if its row shows it. */
  readonly kind: ControllerKind | undefined
  /** How many samples it represents, and how many of them failed. */
  readonly samples: number
  readonly failing: number
  readonly threads: number
  readonly error: { readonly code: string; readonly message: string } | undefined
}
export interface SortedTransaction {
  readonly transaction: Transaction
  /** Whether it counts in the overall figures. */
  readonly counts: boolean
}
