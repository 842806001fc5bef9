import { AnyOrder, dataTypeColumn, idleTimeColumn, latencyColumn, urlColumn } from './columns'
import { Digits } from './digits'
import { Field } from './field'
import { reserve } from './heap'
import {
  LINES_AT,
  LINES_END,
  NOTE_BYTES,
  NOTE_ELAPSED,
  NOTE_FAILING,
  NOTE_FAILURES,
  NOTE_IDLE,
  NOTE_LABEL,
  NOTE_LATENCY,
  NOTE_SAMPLES,
  NOTE_THREAD,
  NOTE_THREADS
} from './layout'

// From the first transaction on, the caller must know in which order the rows of each thread were written: it is noted for all rows that
// are not left to it. Transactions that passed are noted with what it needs to sort them, and counted by it.

const QUOTE: u8 = 34
/** `null`, which is what JMeter writes for a transaction. */
const NULL: u32 = 0x6c6c756e

let notes: u32 = 0
let next: u32 = 0
/** The text before the number of failing samples. */
let failing: u32 = 0
let failingBytes: u32 = 0

/** Where to write the text before the number of failing samples, of so many bytes. */
export function prepareNotes(length: u32): u32 {
  // As many as there may be rows in one search for places.
  notes = reserve(((LINES_END - LINES_AT) / 4) * NOTE_BYTES)
  next = notes
  failing = reserve(length)
  failingBytes = length
  return failing
}

export function firstNote(): u32 {
  return notes
}

export function startNotes(): void {
  next = notes
}

/** Where the next one goes. */
export function nextNote(): u32 {
  return next
}

export function note(startMs: i64, elapsed: u32, thread: u32, failures: u32): void {
  store<f64>(next, f64(startMs))
  store<u32>(next, thread, NOTE_THREAD << 2)
  store<u32>(next, elapsed, NOTE_ELAPSED << 2)
  store<u32>(next, failures, NOTE_FAILURES << 2)
  store<u32>(next, 0, NOTE_SAMPLES << 2)
  next += NOTE_BYTES
}

/** Completes the next note as one of a transaction, whose message goes on after its beginning; false if that is not ordinary. */
export function noteTransaction(place: u32, messageFrom: u32, messageEnd: u32): bool {
  if (!isEmpty(place, dataTypeColumn()) || !hasNoUrl(place)) return false
  const idle = readOptional(place, idleTimeColumn())
  const latency = readOptional(place, latencyColumn())
  if (idle == MALFORMED || latency == MALFORMED) return false
  const end = messageEnd - u32(load<u8>(messageEnd - 1) == QUOTE)
  let at = messageFrom
  while (at < end && isDigit(at)) at++
  const samples = readNumber(messageFrom, at)
  if (samples <= 0 || end - at <= failingBytes || memory.compare(at, failing, failingBytes) != 0) return false
  const failed = readNumber(at + failingBytes, end)
  if (failed < 0) return false
  store<i32>(next, samples, NOTE_SAMPLES << 2)
  store<i32>(next, failed, NOTE_FAILING << 2)
  store<i32>(next, idle, NOTE_IDLE << 2)
  store<i32>(next, latency, NOTE_LATENCY << 2)
  return true
}

/** Writes the rest of a transaction's note. */
export function finishTransaction(startMs: i64, elapsed: u32, thread: u32, label: u32, threads: i32): void {
  store<f64>(next, f64(startMs))
  store<u32>(next, thread, NOTE_THREAD << 2)
  store<u32>(next, elapsed, NOTE_ELAPSED << 2)
  store<u32>(next, 0, NOTE_FAILURES << 2)
  store<u32>(next, label, NOTE_LABEL << 2)
  store<i32>(next, threads, NOTE_THREADS << 2)
  next += NOTE_BYTES
}

/** Neither a number nor missing. */
const MALFORMED: i32 = -2

function isEmpty(place: u32, column: i32): bool {
  return column < 0 || Field.end<AnyOrder>(place, column) == Field.start(place, column)
}

function hasNoUrl(place: u32): bool {
  const column = urlColumn()
  if (isEmpty(place, column)) return true
  const start = Field.start(place, column)
  return Field.end<AnyOrder>(place, column) - start == 4 && load<u32>(start) == NULL
}

function isDigit(at: u32): bool {
  return u32(load<u8>(at)) - 48 < 10
}

/** -1 if there is no such column. */
function readOptional(place: u32, column: i32): i32 {
  if (column < 0) return -1
  const number = readNumber(Field.start(place, column), Field.end<AnyOrder>(place, column))
  return number < 0 ? MALFORMED : number
}

/** -1 if it is not one to eight digits. */
function readNumber(start: u32, end: u32): i32 {
  const length = end - start
  if (length - 1 >= 8) return -1
  const digits = Digits.read(start, length)
  return Digits.isFaulty(Digits.faults(digits)) ? -1 : i32(Digits.join(digits))
}
