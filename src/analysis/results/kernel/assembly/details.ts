import { AnyOrder } from './columns'
import { Digits } from './digits'
import { Field } from './field'
import { reserve } from './heap'
import {
  DETAIL_CODES,
  DETAIL_CODES_AT,
  DETAIL_SLOT_BYTES,
  LINE_TIMES_BYTES,
  REASON_CODE,
  REASON_ROW,
  RECORD_LABEL_END,
  RECORD_LABEL_START,
  SUM_CONNECT,
  SUM_DOWNLOAD,
  SUM_FAILURES,
  SUM_RECEIVED,
  SUM_SAMPLES,
  SUM_SENT,
  SUM_TIMED,
  SUM_TTFB
} from './layout'
import { Line } from './line'

// What a second reading counts, for the report only: in buckets that are known beforehand, of all rows and of the labels that have a line of
// their own, which here is the scope of a label. Its rows are not counted for the figures again.

/** The result for a row that was counted. */
export const COUNTED: i32 = -1
const NO_NUMBER: i32 = -1
const FAULT: i32 = -2
const QUOTE: u8 = 34
const MOST_CODE_BYTES: u32 = 8
/** A shorter time may well have its first byte within the same millisecond. */
const LONGEST_WITHOUT_LATENCY_MS: u32 = 1

export let hasDetails = false
let codeColumn: i32 = -1
let bytesColumn: i32 = -1
let sentBytesColumn: i32 = -1
let latencyColumn: i32 = -1
let connectColumn: i32 = -1
let fromMs: i64 = 0
let bucketMs: u64 = 1
let buckets: u32 = 0
/** How many of them are one in the line of a label, and how many these are. */
let widening: u32 = 1
let labelBuckets: u32 = 0
let slots: u32 = 0
let times: u32 = 0
/** The bytes of each known code, and whether there is one. */
let codes: u32 = 0
let knownCodes: u32 = 0

export function setDetailColumns(
  responseCodeAt: i32,
  bytesAt: i32,
  sentBytesAt: i32,
  latencyAt: i32,
  connectAt: i32
): void {
  codeColumn = responseCodeAt
  bytesColumn = bytesAt
  sentBytesColumn = sentBytesAt
  latencyColumn = latencyAt
  connectColumn = connectAt
}

/** From now on rows are counted for the report. Returns the address of the buckets: those of all rows, then those of each label. */
export function startDetails(startMs: i64, widthMs: u32, count: u32, labelWidening: u32, labels: u32): u32 {
  hasDetails = true
  fromMs = startMs
  bucketMs = widthMs
  buckets = count
  widening = labelWidening
  labelBuckets = (count + labelWidening - 1) / labelWidening
  const all = buckets + labels * labelBuckets
  codes = reserve(DETAIL_CODES * 8)
  slots = reserve(all * DETAIL_SLOT_BYTES)
  times = reserve(all * LINE_TIMES_BYTES)
  return slots
}

/** Where the counts of the times of the first bucket are. */
export function detailTimes(): u32 {
  return times
}

/** From now on the field is known as the code with that number, if it is short and there is space for it. */
export function learnCode(start: u32, end: u32, code: u32): void {
  const length = end - start
  if (code >= u32(DETAIL_CODES) || length > MOST_CODE_BYTES) return
  store<u64>(codes + (code << 3), keyOf(start, length))
  knownCodes |= 1 << code
}

/** Counts a row, or returns why it is left to the caller: then it changes nothing. */
export function countDetails(
  place: u32,
  record: u32,
  endMs: i64,
  elapsed: u32,
  failures: u32,
  scope: u32
): i32 {
  const received = numberIn(place, bytesColumn)
  const sent = numberIn(place, sentBytesColumn)
  const latency = numberIn(place, latencyColumn)
  const connect = numberIn(place, connectColumn)
  if (received == FAULT || sent == FAULT || latency == FAULT || connect == FAULT) return REASON_ROW
  const start = Field.start(place, codeColumn)
  const length = Field.end<AnyOrder>(place, codeColumn) - start
  if (length > MOST_CODE_BYTES || (length > 0 && load<u8>(start) == QUOTE)) return REASON_ROW
  const code = codeOf(keyOf(start, length))
  if (code == DETAIL_CODES) {
    store<u32>(record, start, RECORD_LABEL_START << 2)
    store<u32>(record, start + length, RECORD_LABEL_END << 2)
    return REASON_CODE
  }
  // A time before the first bucket is a huge unsigned number.
  const bucket = u64(endMs - fromMs) / bucketMs
  if (bucket >= u64(buckets)) return COUNTED
  // What a row does not say, or says wrongly, is left out.
  const isMeasured = latency > 0 || elapsed <= LONGEST_WITHOUT_LATENCY_MS
  const isTimed = isMeasured && connect >= 0 && connect <= latency && latency <= i32(elapsed)
  const row = slots + u32(bucket) * DETAIL_SLOT_BYTES
  count(row, code, failures, max(0, received), max(0, sent))
  Line.countTimeAt(times + u32(bucket) * LINE_TIMES_BYTES, elapsed)
  if (isTimed) countParts(row, connect, latency, elapsed)
  if (scope == 0) return COUNTED
  const slot = buckets + (scope - 1) * labelBuckets + u32(bucket) / widening
  const own = slots + slot * DETAIL_SLOT_BYTES
  count(own, code, failures, max(0, received), max(0, sent))
  Line.countTimeAt(times + slot * LINE_TIMES_BYTES, elapsed)
  if (isTimed) countParts(own, connect, latency, elapsed)
  return COUNTED
}

function count(slot: u32, code: u32, failures: u32, received: i32, sent: i32): void {
  add(slot, SUM_SAMPLES, 1)
  add(slot, SUM_FAILURES, failures)
  add(slot, SUM_RECEIVED, received)
  add(slot, SUM_SENT, sent)
  const at = slot + DETAIL_CODES_AT + (code << 2)
  store<u32>(at, load<u32>(at) + 1)
}

function countParts(slot: u32, connect: i32, latency: i32, elapsed: u32): void {
  add(slot, SUM_TIMED, 1)
  add(slot, SUM_CONNECT, connect)
  add(slot, SUM_TTFB, latency - connect)
  add(slot, SUM_DOWNLOAD, i32(elapsed) - latency)
}

/** Whole numbers, which are exact up to 2^53. */
function add(slot: u32, sum: u32, more: i32): void {
  const at = slot + (sum << 3)
  store<f64>(at, load<f64>(at) + f64(more))
}

/** DETAIL_CODES if it is unknown. */
function codeOf(key: u64): u32 {
  for (let code: u32 = 0; code < u32(DETAIL_CODES); code++) {
    if (load<u64>(codes + (code << 3)) == key && (knownCodes & (1 << code)) != 0) return code
  }
  return DETAIL_CODES
}

/** At most eight bytes, none of which is 0, as one number. */
function keyOf(start: u32, length: u32): u64 {
  return length == 0 ? 0 : load<u64>(start) << (64 - (u64(length) << 3))
}

/** The digits of a column that may be missing or empty. */
function numberIn(place: u32, column: i32): i32 {
  if (column < 0) return NO_NUMBER
  const start = Field.start(place, column)
  const length = Field.end<AnyOrder>(place, column) - start
  if (length == 0) return NO_NUMBER
  if (length > 8) return FAULT
  const digits = Digits.read(start, length)
  return Digits.isFaulty(Digits.faults(digits)) ? FAULT : Digits.join(digits)
}
