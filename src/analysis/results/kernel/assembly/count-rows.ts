import {
  AnyOrder,
  columnCount,
  hostnameColumn,
  isJmeterOrder,
  JmeterOrder,
  partOfColumn,
  threadNameColumn
} from './columns'
import { COUNTED, countDetails, hasDetails } from './details'
import { Digits } from './digits'
import { Ends, mayHaveWaited } from './ends'
import { Field } from './field'
import { endOfLines } from './find-places'
import { Labels } from './labels'
import { Line } from './line'
import { keepLong, leastMs } from './long'
import { finishTransaction, nextNote, note, noteTransaction, prepareNotes, startNotes } from './note-rows'
import { Pages, tally } from './pages'
import { reserve } from './heap'
import { findThread, prepareThreads } from './threads'
import {
  END_PAGE_BITS,
  HASH_FACTOR,
  HASH_START,
  LABEL_SCOPE_BIT,
  LINE_SLOTS,
  LINES_AT,
  MESSAGE_BYTES,
  PARTS_BIT,
  PLACES_AT,
  REASON_FAILED,
  REASON_LABEL,
  REASON_LINE,
  REASON_ROW,
  REASON_THREAD,
  RECORD_CELL,
  RECORD_END,
  RECORD_INTS,
  RECORD_LABEL_END,
  RECORD_LABEL_HASH,
  RECORD_LABEL_START,
  RECORD_NOTES,
  RECORD_PLACE,
  RECORD_REASON,
  RECORD_START,
  RECORD_TAKEN,
  RECORDS_AT,
  RECORDS_END,
  TIME_BITS,
  WAITING_AT,
  WAITING_END,
  WAITING_ROWS
} from './layout'

// The second pass: reads the columns that matter of every row and counts it. It changes nothing before the whole row is valid. A row
// that it does not understand, or has no space for, is left to the caller as a record.

const QUOTE: u8 = 34
const SPACE: u8 = 32
const ONE: u8 = 49
const SMALL_LETTERS: u32 = 0x20202020
const TRUE: u32 = 0x65757274
const FALS: u32 = 0x736c6166
const E: u8 = 101

const ROW_BYTES: u32 = 24
/** Labels of so many rows are looked up at once. */
const LABEL_ROWS: u32 = 256

/** The result for a row, if it is neither counted nor one of the reasons to leave it. */
const EARLY: i32 = -3

let nextPlace: u32 = PLACES_AT
let nextLine: u32 = LINES_AT
let taken: u32 = 0
let early: u32 = 0
/** Whether rows are noted for those that sort transactions: the caller has asked for it, and there are threads. */
let isNoting = false
let fromMs: i64 = 0
let widthMs: u64 = u64.MAX_VALUE
/** The lowest bits of all starts: whole seconds have none of them. */
let fractions: i64 = 0
let message: u32 = 0
let messageBytes: u32 = 0
/** Names of thread groups whose rows are left to the caller: the length of each and then its bytes. */
let groups: u32 = 0
let groupsEnd: u32 = 0
/** Where the next row waiting for its page goes. */
let waiting: u32 = WAITING_AT
/** Of those that wait and have times: start, elapsed, label, scope, and where their places are. */
let timedRows: u32 = 0
let timedEnd: u32 = 0
/** Addresses of those that took long, and of those whose label is followed. */
let longList: u32 = 0
let followedList: u32 = 0

/** What was found for the labels of some rows, and where the line breaks of these rows are among all. */
let foundLabels: u32 = 0
let foundFrom: u32 = 0
let foundEnd: u32 = 0

export function prepareRows(): void {
  foundLabels = reserve(LABEL_ROWS * 4)
  timedRows = reserve(WAITING_ROWS * ROW_BYTES)
  timedEnd = timedRows
  longList = reserve((WAITING_ROWS + 1) * 4)
  followedList = reserve((WAITING_ROWS + 1) * 4)
}

/** How many rows were read in total, counted or left out. */
export function takenRows(): u32 {
  return taken
}

/** How many of them were left out because they start too early or too late. */
export function earlyRows(): u32 {
  return early
}

/** From now on rows are noted in their order; returns where to write the text before a transaction's number of failing samples. */
export function noteRows(failingLength: u32): u32 {
  prepareThreads()
  isNoting = threadNameColumn() >= 0
  return prepareNotes(failingLength)
}

/** Whether counted rows have times with fractions of a second. */
export function hasFineTimes(): bool {
  return fractions != 0
}

/** Rows that start earlier or later are left out; neither is negative. */
export function countBetween(startMs: i64, lastMs: i64): void {
  fromMs = startMs
  widthMs = lastMs - startMs
}

/** Where to write the start of a transaction's message: at least eight and at most MESSAGE_BYTES bytes. */
export function setMessage(length: u32): u32 {
  message = reserve(MESSAGE_BYTES)
  messageBytes = length
  return message
}

/** Where to write the names of the thread groups whose rows are left to the caller, this many bytes with their lengths. */
export function setGroups(length: u32): u32 {
  groups = reserve(length)
  groupsEnd = groups + length
  return groups
}

/** Must be called after finding places again. */
export function startRows(): void {
  nextPlace = PLACES_AT
  nextLine = LINES_AT
  foundEnd = LINES_AT
}

/** Where the next row starts. */
export function nextRow(): u32 {
  return load<u32>(nextPlace - 4) + 1
}

/** Reads the rows that begin before the limit until there is no more space for records; returns where the records end. */
export function countRows(limit: u32): u32 {
  startNotes()
  const end = isJmeterOrder() ? takeRows<JmeterOrder>(limit) : takeRows<AnyOrder>(limit)
  countWaiting()
  return end
}

/** What can wait is done in short loops of its own. */
function countWaiting(): void {
  tally(waiting)
  followRows()
  waiting = WAITING_AT
}

function takeRows<Order>(limit: u32): u32 {
  const places = u32(columnCount() - 1) << 2
  const linesEnd = endOfLines()
  let place = nextPlace
  let line = nextLine
  let record: u32 = RECORDS_AT
  while (line < linesEnd && record < u32(RECORDS_END)) {
    if (load<u32>(place - 4) + 1 >= limit) break
    if (waiting >= u32(WAITING_END)) countWaiting()
    if (line >= foundEnd) findLabels<Order>(place, line)
    const lineEnd = load<u32>(line)
    const outcome =
      lineEnd - place == places
        ? takeRow<Order>(place, record, load<u32>(foundLabels + line - foundFrom))
        : REASON_ROW
    if (outcome != COUNTED) {
      if (outcome != EARLY) {
        writeRecord(record, place, lineEnd, outcome)
        record += RECORD_INTS << 2
      }
    }
    place = lineEnd + 4
    line += 4
  }
  nextPlace = place
  nextLine = line
  return record
}

/** With many labels they are not in the caches; here the processor waits for several of them at once. */
function findLabels<Order>(firstPlace: u32, firstLine: u32): void {
  const column = changetype<Order>(0).label
  const places = u32(columnCount() - 1) << 2
  let place = firstPlace
  foundFrom = firstLine
  foundEnd = min(firstLine + LABEL_ROWS * 4, endOfLines())
  if (column < 0) return
  for (let line = firstLine; line < foundEnd; line += 4) {
    const lineEnd = load<u32>(line)
    let found: u32 = 0
    if (lineEnd - place == places) {
      const start = Field.start(place, column)
      const length = Field.end<Order>(place, column) - start
      found = Labels.find(start, length, Labels.hash(start, length))
    }
    store<u32>(foundLabels + line - foundFrom, found)
    place = lineEnd + 4
  }
}

/** `label` is what was found for its label when it was looked up. */
function takeRow<Order>(place: u32, record: u32, label: u32): i32 {
  const at = changetype<Order>(0)
  let faults: u64 = 0
  let startMs: i64 = 0
  if (at.timeStamp >= 0) {
    const start = Field.start(place, at.timeStamp)
    const length = Field.end<Order>(place, at.timeStamp) - start
    // Zero minus one is the largest unsigned number.
    if (length - 1 >= 15) return REASON_ROW
    if (length > 8) {
      const high = Digits.read(start, length - 8)
      const low = Digits.read(start + length - 8, 8)
      faults = Digits.faults(high) | Digits.faults(low)
      startMs = i64(Digits.join(high)) * 100_000_000 + i64(Digits.join(low))
    } else {
      const digits = Digits.read(start, length)
      faults = Digits.faults(digits)
      startMs = i64(Digits.join(digits))
    }
  }
  let elapsed: u32 = 0
  if (at.elapsed >= 0) {
    const start = Field.start(place, at.elapsed)
    const length = Field.end<Order>(place, at.elapsed) - start
    if (length - 1 >= 8) return REASON_ROW
    const digits = Digits.read(start, length)
    faults |= Digits.faults(digits)
    elapsed = Digits.join(digits)
  }
  let threads: i32 = -1
  if (at.allThreads >= 0) {
    const start = Field.start(place, at.allThreads)
    const length = Field.end<Order>(place, at.allThreads) - start
    if (length != 0) {
      if (length > 8) return REASON_ROW
      const digits = Digits.read(start, length)
      faults |= Digits.faults(digits)
      threads = Digits.join(digits)
    }
  }
  if (Digits.isFaulty(faults) || elapsed >> TIME_BITS != 0) return REASON_ROW
  let failures: u32 = 0
  if (at.success >= 0) {
    const start = Field.start(place, at.success)
    const length = Field.end<Order>(place, at.success) - start
    const word = load<u32>(start) | SMALL_LETTERS
    if (length != 4 || word != TRUE) {
      if (length != 5 || word != FALS || (load<u8>(start, 4) | 0x20) != E) return REASON_ROW
      failures = 1
    }
  }
  if (at.sampleCount >= 0) {
    const start = Field.start(place, at.sampleCount)
    if (Field.end<Order>(place, at.sampleCount) - start != 1 || load<u8>(start) != ONE) return REASON_ROW
  }
  if (groups != 0 && isInGroups(place)) return REASON_ROW
  // What is in quotes may be empty.
  if (partOfColumn() >= 0 && isQuoted(place, partOfColumn())) return REASON_ROW
  const isPart = partOfColumn() >= 0 && hasText(place, partOfColumn())
  let thread: u32 = 0
  let isTransaction = false
  if (at.responseMessage >= 0) {
    const start = Field.start(place, at.responseMessage)
    const end = Field.end<Order>(place, at.responseMessage)
    if (end - start > messageBytes && saysTransaction(start)) {
      if (!isNoting || isPart || failures != 0) return REASON_ROW
      const from = start + messageBytes + u32(load<u8>(start) == QUOTE)
      isTransaction = noteTransaction(place, from, end)
      if (!isTransaction) return REASON_ROW
    }
  }
  if (isNoting && !isPart) {
    thread = findThread(place)
    if (thread == 0) {
      store<u32>(record, place, RECORD_PLACE << 2)
      return REASON_THREAD
    }
  }
  // A difference below zero is a huge unsigned number.
  if (at.timeStamp >= 0 && u64(startMs - fromMs) > widthMs) {
    // It is sorted all the same.
    if (isTransaction) return REASON_ROW
    if (thread != 0) note(startMs, elapsed, thread - 1, failures)
    taken++
    early++
    return EARLY
  }
  let cell = failures
  let scope: u32 = 0
  if (at.label >= 0) {
    let found = label
    if (found == 0) {
      // It may have been learned since.
      const start = Field.start(place, at.label)
      const end = Field.end<Order>(place, at.label)
      const hash = Labels.hash(start, end - start)
      found = Labels.find(start, end - start, hash)
      if (found == 0) {
        store<u32>(record, start, RECORD_LABEL_START << 2)
        store<u32>(record, end, RECORD_LABEL_END << 2)
        store<u32>(record, hash, RECORD_LABEL_HASH << 2)
        return REASON_LABEL
      }
    }
    scope = found >> LABEL_SCOPE_BIT
    cell = (((found & ((1 << LABEL_SCOPE_BIT) - 1)) - 1) << 1) | failures
  }
  if (isTransaction) {
    finishTransaction(startMs, elapsed, thread - 1, cell >> 1, threads)
    taken++
    return COUNTED
  }
  if (isPart) {
    // Times of labels that are followed are left to the caller, and so is what a second reading counts.
    if (scope != 0 || hasDetails) return REASON_ROW
    cell |= 1 << PARTS_BIT
  } else if (at.timeStamp >= 0) {
    const endMs = startMs + i64(elapsed)
    if (hasDetails) {
      const outcome = countDetails(place, record, endMs, elapsed, failures, scope)
      if (outcome != COUNTED) return outcome
      taken++
      if (failures == 0) return COUNTED
      store<u32>(record, place, RECORD_PLACE << 2)
      store<u32>(record, cell, RECORD_CELL << 2)
      return REASON_FAILED
    }
    const slot = Line.slotOf(endMs)
    if (slot == LINE_SLOTS) return REASON_LINE
    // Nothing can fail from here on.
    const row = timedEnd
    store<i64>(row, startMs)
    store<u32>(row, elapsed, 8)
    store<u32>(row, cell >> 1, 12)
    store<u32>(row, scope, 16)
    store<u32>(row, place, 20)
    timedEnd += ROW_BYTES
    Line.count(slot, failures, threads)
    if (at.elapsed >= 0) Line.countTime(slot, elapsed)
  }
  if (thread != 0) note(startMs, elapsed, thread - 1, failures)
  taken++
  Pages.wait(waiting, cell, elapsed)
  waiting += 8
  if (failures == 0) return COUNTED
  store<u32>(record, place, RECORD_PLACE << 2)
  store<u32>(record, cell, RECORD_CELL << 2)
  return REASON_FAILED
}

/** Whether the name of its thread, up to the numbers after the last space, ends in that of a group. */
function isInGroups(place: u32): bool {
  const start = Field.start(place, threadNameColumn())
  let end = Field.end<AnyOrder>(place, threadNameColumn())
  while (end > start && load<u8>(end - 1) != SPACE) end--
  if (end == start) return false
  end--
  for (let at = groups; at < groupsEnd;) {
    const length = load<u32>(at)
    at += 4
    if (end - start >= length && memory.compare(end - length, at, length) == 0) return true
    at += length
  }
  return false
}

function isQuoted(place: u32, column: i32): bool {
  return load<u8>(Field.start(place, column)) == QUOTE
}

function hasText(place: u32, column: i32): bool {
  return Field.end<AnyOrder>(place, column) > Field.start(place, column)
}

/**
 * Takes note of when the rows that wait started and ended. Which rows are long, or of a label that is
 * followed, is hard to predict for a processor: they are listed without a branch, and looked at afterwards.
 */
function followRows(): void {
  let firstMs = i64.MAX_VALUE
  let lastMs = i64.MIN_VALUE
  let endedMs = i64.MIN_VALUE
  let starts: i64 = 0
  let page: u32 = 0
  let pageNumber: i64 = -1
  let long = longList
  let followed = followedList
  for (let row = timedRows; row < timedEnd; row += ROW_BYTES) {
    const startMs = load<i64>(row)
    const elapsed = load<u32>(row, 8)
    const endMs = startMs + i64(elapsed)
    starts |= startMs
    firstMs = min(firstMs, startMs)
    lastMs = max(lastMs, startMs)
    endedMs = max(endedMs, endMs)
    if (endMs >> END_PAGE_BITS != pageNumber) {
      page = Ends.pageOf(0, endMs)
      pageNumber = endMs >> END_PAGE_BITS
    }
    Ends.mark(page, endMs)
    store<u32>(long, row)
    long += u32(elapsed >= u32(leastMs)) << 2
    store<u32>(followed, row)
    followed += u32(load<u32>(row, 16) != 0) << 2
  }
  if (timedEnd > timedRows) Ends.widen(0, firstMs, lastMs, endedMs)
  fractions |= starts & 7
  timedEnd = timedRows
  for (let at = longList; at < long; at += 4) lookForWait(load<u32>(at), 0)
  for (let at = followedList; at < followed; at += 4) followLabel(load<u32>(at))
}

function followLabel(row: u32): void {
  const startMs = load<i64>(row)
  const elapsed = load<u32>(row, 8)
  const scope = load<u32>(row, 16)
  const endMs = startMs + i64(elapsed)
  Ends.mark(Ends.pageOf(scope, endMs), endMs)
  Ends.widen(scope, startMs, startMs, endMs)
  if (i64(elapsed) >= leastMs) lookForWait(row, scope)
}

function lookForWait(row: u32, scope: u32): void {
  const startMs = load<i64>(row)
  if (mayHaveWaited(scope, startMs, startMs + i64(load<u32>(row, 8)))) keepRow(row, scope)
}

function keepRow(row: u32, scope: u32): void {
  keepLong(load<i64>(row), load<u32>(row, 8), load<u32>(row, 12), hashThread(load<u32>(row, 20)), scope)
}

/** The hash of its name, and of its host if there is one: threads of several machines may have the same names. */
function hashThread(place: u32): u32 {
  if (threadNameColumn() < 0) return 0
  const hash = hashField(place, threadNameColumn(), HASH_START)
  return hostnameColumn() < 0 ? hash : hashField(place, hostnameColumn(), hash)
}

/** Without the quotes around it. */
function hashField(place: u32, column: i32, from: u32): u32 {
  let start = Field.start(place, column)
  let end = Field.end<AnyOrder>(place, column)
  if (end > start && load<u8>(start) == QUOTE) {
    start++
    end--
  }
  let hash = from
  for (let at = start; at < end; at++) hash = (hash ^ load<u8>(at)) * HASH_FACTOR
  return hash
}

function saysTransaction(start: u32): bool {
  if (load<u8>(start) == QUOTE) start++
  // The last eight bytes overlap those before.
  const last = messageBytes - 8
  for (let at: u32 = 0; at < last; at += 8) {
    if (load<u64>(start + at) != load<u64>(message + at)) return false
  }
  return load<u64>(start + last) == load<u64>(message + last)
}

function writeRecord(record: u32, place: u32, lineEnd: u32, reason: i32): void {
  store<u32>(record, load<u32>(place - 4) + 1, RECORD_START << 2)
  store<u32>(record, load<u32>(lineEnd), RECORD_END << 2)
  store<u32>(record, reason, RECORD_REASON << 2)
  store<u32>(record, taken, RECORD_TAKEN << 2)
  store<u32>(record, nextNote(), RECORD_NOTES << 2)
}
