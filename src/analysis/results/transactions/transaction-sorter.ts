/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import type { SortedTransaction, Transaction } from './transaction-row.js'

// The row of a transaction controller sums up requests. If these have rows of their own, they count and it does not; otherwise it
// counts. A thread does one thing after the other, so the rows of its requests are those of its thread within its time.
// 1. A transaction with a row within its time does not count, and one without does. If it can only have rows that take no time and
//    touch it, it is unsure.
// 2. All transactions of a controller are of one kind. One that is unsure follows the others, and so does one of more than fifty that
//    differs: JMeter adjusts its clock every five seconds. If a controller has many of both kinds, two of them share a label, and each
//    transaction is sorted by itself.
// 3. If rows begin within a transaction and end after it, several machines with the same thread names have written them, and they lie
//    within a transaction by chance. Where blocks of rows of several machines follow each other, the requests of a transaction may be
//    in an earlier block, and so a few of a controller differ. Then whole controllers are sorted, or none of their transactions can be:
//    - a controller whose rows have a latency generates no parent samples, so its requests have rows;
//    - the requests of a transaction begin with it and end with it, and are as many as it says: nearly always if they have rows, and
//      rarely by chance. How rarely shows in spans of the same length that begin a little earlier;
//    - if that is rare, and some transactions have no row within their time, the requests of none have rows.

/** Times are whole milliseconds, rounded down, and JMeter adjusts its clock every five seconds. */
const JITTER_MS = 1
/** How many rows of each thread are looked at, before and after a transaction. */
const LOOKED_AT = 64
const ROW_FIELDS = 4
const EARLIER_MS = [17, 37]
const EARLIEST_MS = Math.max(...EARLIER_MS)
/** A shorter transaction begins and ends with any adjacent row. */
const MIN_SPAN_MS = 10
/** Between the ends of a transaction and those of its requests. */
const EDGE_MS = 2
const BRIEF_MS = 2
/** So few transactions may seem to overlap with rows of their thread where a clock was adjusted. */
const MAX_CROSSED = 2
const MAX_CROSSED_SHARE = 0.01
/** Nothing is final before this many were seen. */
const QUORUM = 32
const MAX_WAITING_OF_ONE = 1024
const MAX_WAITING = 50_000
const MIN_FRAMED = 24
const MIN_EMPTY = 8
const MIN_EMPTY_SHARE = 0.1

/** Of the first transactions of a controller, and then of every eighth, it shows how well rows fit by chance. */
const MOST_PROBED = 256
const PROBED_OF = 8

/** The rows in the time of a transaction, or in as much time a little earlier. */
class Span {
  readonly startMs: number
  readonly endMs: number
  begins = false
  ends = false
  isEmpty = true
  /** How many samples the rows stand for, with those of no time at its start or end, and how many rows failed. */
  samples = 0
  failing = 0

  constructor(startMs: number, endMs: number) {
    this.startMs = startMs
    this.endMs = endMs
  }
}

/** A transaction whose later rows are still to come, or that waits for others of its controller. */
class Open implements SortedTransaction {
  readonly transaction: Transaction
  readonly controller: Controller
  readonly span: Span
  /** As much time a little earlier; none if it need not be known what fits by chance. */
  readonly earlier: readonly Span[]
  /** Whether its own row has come, and what its span was then. */
  isWritten = false
  wasEmpty = true
  wasEnded = false
  samplesBefore = 0
  failingBefore = 0
  rowsLeft = LOOKED_AT
  isCrossed = false
  isTouched = false
  /** Whether rows within its time are among those of another machine, which come before. */
  isHidden = false
  /** Whether a later row began before it ended. */
  isPreceding = false
  counts = false
  isSure = false
  /** Whether it is sorted by chance. */
  isBlind = false

  constructor(transaction: Transaction, controller: Controller, isProbed: boolean) {
    const { fromMs, toMs } = transaction
    this.transaction = transaction
    this.controller = controller
    this.span = new Span(fromMs, toMs)
    this.earlier = isProbed ? EARLIER_MS.map((ms) => new Span(fromMs - ms, toMs - ms)) : NO_SPANS
  }

  /** The rows that follow come after it. */
  write(): void {
    const { isEmpty, ends, samples, failing } = this.span
    this.isWritten = true
    this.wasEmpty = isEmpty
    this.wasEnded = ends
    this.samplesBefore = samples
    this.failingBefore = failing
  }
}

const NO_SPANS: readonly Span[] = []

/** What is known about the transactions of one controller. */
class Controller {
  /** Of those that are sure. */
  counting = 0
  covered = 0
  /** Of those, how many have rows after them. */
  followed = 0
  /** What the others seem to be. */
  maybeCounting = 0
  maybeCovered = 0
  finalCounting = 0
  finalCovered = 0
  plain = 0
  parents = 0
  /** How many were begun, and are not too short. */
  begun = 0
  /** Of those whose chance is to be known: how many begin and end with rows, and as many as they say; and by chance. */
  long = 0
  framed = 0
  framedByChance = 0
  empty = 0
  unknownEnds = 0
  /** The first ones, and those that differ from the others or are unsure: these, and the sure ones that count and that do not. */
  unsure: Open[] = []
  sureCounting: Open[] = []
  sureCovered: Open[] = []

  get waiting(): number {
    return this.unsure.length + this.sureCounting.length + this.sureCovered.length
  }
}

/** Sorts transactions into those that count and those that do not, from the rows in CSV order. */
export class TransactionSorter {
  readonly #onSorted: (transaction: Transaction, counts: boolean) => void
  readonly #threads: (ThreadRows | undefined)[] = []
  readonly #controllers = new Map<number, Controller>()
  #rows = 0
  #briefRows = 0
  #closed = 0
  #crossed = 0
  /** The same by less than clocks are adjusted by. */
  #touched = 0
  /** Whether the rows of one machine follow those of another. */
  #hasMachines = false
  /** How many of the transactions without rows before them have rows after them. */
  #followed = 0
  #alone = 0
  #waiting = 0
  #blind = 0

  constructor(onSorted: (transaction: Transaction, counts: boolean) => void) {
    this.#onSorted = onSorted
  }

  addRequest(number: number, startMs: number, endMs: number, outcome: number): void {
    this.#add(this.#threads[number] ?? this.#addThread(number), startMs, endMs, 0, outcome)
  }

  addTransaction(number: number, transaction: Transaction): void {
    const thread = this.#threads[number] ?? this.#addThread(number)
    const { fromMs, toMs, samples, outcome } = transaction
    this.#add(thread, fromMs, toMs, samples, outcome)
    const controller = this.#controllerOf(transaction)
    const isLong = toMs - fromMs >= MIN_SPAN_MS
    if (isLong) controller.begun++
    const isProbed = isLong && (controller.begun <= MOST_PROBED || controller.begun % PROBED_OF === 0)
    const open = new Open(transaction, controller, isProbed)
    thread.show(open, isProbed ? fromMs - EARLIEST_MS : fromMs)
    open.write()
    thread.open.push(open)
  }

  /** The transactions that wait for others, as they are taken if none follow. */
  sortOpen(): SortedTransaction[] {
    return this.#withOpen((undecided) =>
      undecided.map((open) => ({
        transaction: open.transaction,
        counts: this.#decide(open) ?? open.counts
      }))
    )
  }

  /** How many transactions are sorted by chance, or were before the others showed that they belong elsewhere. */
  get blind(): number {
    return this.#withOpen((undecided) => {
      let blind = this.#blind
      for (const controller of this.#controllers.values()) {
        if (!this.#isMixed(controller)) continue
        const counts = sortMixed(controller)
        if (counts !== true) blind += controller.finalCounting
        if (counts !== false) blind += controller.finalCovered
      }
      return blind + undecided.filter((sorted) => this.#isBlind(sorted)).length
    })
  }

  /** Open ones that have rows are counted with those of their controllers; the rows of others may be still to come. */
  #withOpen<T>(conclude: (undecided: readonly Open[]) => T): T {
    const open = this.#threads.flatMap((thread) => thread?.open ?? [])
    for (const one of open) this.#sortByRows(one)
    const covered = open.filter(({ counts }) => !counts)
    for (const one of covered) this.#count(one, 1)
    const waiting = [...this.#controllers.values()].flatMap(({ unsure, sureCounting, sureCovered }) => [
      ...[...unsure, ...sureCounting, ...sureCovered]
    ])
    const result = conclude([...waiting, ...open])
    for (const one of covered) this.#count(one, -1)
    return result
  }

  #addThread(number: number): ThreadRows {
    while (this.#threads.length < number) this.#threads.push(undefined)
    return (this.#threads[number] = new ThreadRows())
  }

  #add(thread: ThreadRows, startMs: number, endMs: number, samples: number, outcome: number): void {
    this.#rows++
    if (endMs - startMs <= BRIEF_MS) this.#briefRows++
    const isBack = thread.isBack(endMs)
    const isNew = isBack && thread.beginsAnew(startMs)
    if (isNew) thread.beginAnew()
    if (isNew) this.#hasMachines = true
    else if (isBack) this.#crossed++
    thread.add(startMs, endMs, samples, outcome)
    const { open } = thread
    if (open.length === 0) return
    let left = 0
    for (const one of open) {
      const { fromMs, toMs } = one.transaction
      // What begins later was written later, and so were all rows after it.
      const isBehind = startMs > toMs + EDGE_MS
      if (!isNew && !isBehind) thread.showLast(one)
      if (startMs >= fromMs && startMs <= toMs + JITTER_MS) one.isPreceding = true
      if (isNew || isBehind || --one.rowsLeft === 0) this.#close(one)
      else open[left++] = one
    }
    open.length = left
  }

  #count(open: Open, by: 1 | -1): void {
    const { transaction, controller, span, earlier } = open
    this.#closed += by
    if (open.isCrossed) this.#crossed += by
    if (open.isTouched) this.#touched += by
    const isFollowed = !span.isEmpty && open.wasEmpty
    if (isFollowed) this.#followed += by
    if (isFollowed) controller.followed += by
    if (open.isSure && open.counts) this.#alone += by
    if (open.isSure && open.counts) controller.counting += by
    else if (open.isSure) controller.covered += by
    else if (open.counts && !open.isBlind) controller.maybeCounting += by
    else if (!open.isBlind) controller.maybeCovered += by
    if (transaction.kind === 'plain') controller.plain += by
    if (transaction.kind === 'parent') controller.parents += by
    if (!transaction.isEndKnown) controller.unknownEnds += by
    if (earlier.length === 0) return
    controller.long += by
    if (isFramed(span, transaction)) controller.framed += by
    for (const one of earlier)
      if (isFramed(one, transaction)) controller.framedByChance += by / earlier.length
    if (span.isEmpty) controller.empty += by
  }

  #close(open: Open): void {
    const { controller } = open
    this.#sortByRows(open)
    this.#count(open, 1)
    const { isSure, counts } = open
    const list = isSure ? (counts ? controller.sureCounting : controller.sureCovered) : controller.unsure
    list.push(open)
    this.#waiting++
    const total = controller.counting + controller.covered
    if (total >= QUORUM && !this.#isMixed(controller)) {
      const majority = majorityOf(controller)
      if (majority === true) this.#release(controller, controller.sureCounting)
      if (majority === false) this.#release(controller, controller.sureCovered)
    }
    if (controller.waiting >= MAX_WAITING_OF_ONE) this.#releaseAll(controller)
    if (this.#waiting >= MAX_WAITING) for (const each of this.#controllers.values()) this.#releaseAll(each)
  }

  /** What its own rows say. */
  #sortByRows(open: Open): void {
    const { transaction, span, isHidden, samplesBefore, failingBefore } = open
    const { elapsedMs, isEndKnown, samples, failing } = transaction
    open.counts = span.isEmpty
    open.isSure = !span.isEmpty
    open.isBlind = span.isEmpty && !isEndKnown && !open.isPreceding
    if (open.isSure || open.isBlind) return
    // Requests of no time that all come before it are not what took longer.
    const isOwn = elapsedMs <= JITTER_MS || open.wasEnded
    const [earlier, earlierFailing] = isOwn ? [samplesBefore, failingBefore] : [0, 0]
    const [later, laterFailing] = [span.samples - samplesBefore, span.failing - failingBefore]
    const isTooFew = earlier + later < samples || earlierFailing + laterFailing < failing
    // With `subresults`, the requests of all parent samples come after them.
    const isAfter = earlier < samples && later >= samples
    open.isSure = isTooFew && !isHidden
    open.counts = isTooFew || isHidden || (isAfter && this.#followed <= this.#alone)
  }

  #releaseAll(controller: Controller): void {
    const { unsure, sureCounting, sureCovered } = controller
    for (const list of [unsure, sureCounting, sureCovered]) this.#release(controller, list)
  }

  #release(controller: Controller, ready: Open[]): void {
    this.#waiting -= ready.length
    for (const sorted of ready) {
      const counts = this.#decide(sorted) ?? sorted.counts
      if (this.#isBlind(sorted)) this.#blind++
      else if (counts) controller.finalCounting++
      else controller.finalCovered++
      this.#onSorted(sorted.transaction, counts)
    }
    ready.length = 0
  }

  #controllerOf({ controller }: Transaction): Controller {
    const known = this.#controllers.get(controller)
    if (known !== undefined) return known
    const added = new Controller()
    this.#controllers.set(controller, added)
    return added
  }

  /** Whether its rows may be among those of other machines with the same thread names. */
  #isMixed(controller: Controller): boolean {
    const { counting, covered, followed } = controller
    // With `subresults` all parent samples have rows after them, without it none has.
    if (!isRare(followed, counting)) return true
    if (this.#crossed > Math.max(MAX_CROSSED, this.#closed * MAX_CROSSED_SHARE)) return true
    const isSuspicious = this.#touched + this.#crossed > 0 || this.#briefRows * 2 > this.#rows
    // A few whose requests are in another block differ from the others.
    const isTorn = this.#hasMachines && majorityOf(controller) !== undefined
    return (isSuspicious || isTorn) && !isRare(counting, covered)
  }

  /** What the others of its controller say about one; undefined if it is sorted by itself. */
  #decide({ controller, isSure, counts }: Open): boolean | undefined {
    if (this.#isMixed(controller)) return sortMixed(controller)
    const majority = majorityOf(controller)
    const total = controller.counting + controller.covered
    const isOverruled = total >= QUORUM && isRare(controller.counting, controller.covered)
    return !isSure || majority === counts || isOverruled ? majority : undefined
  }

  #isBlind({ transaction, controller, isSure, isBlind }: Open): boolean {
    if (this.#isMixed(controller)) return sortMixed(controller) === undefined
    if (isSure || majorityOf(controller) !== undefined) return false
    // No guess is good enough if others of the controller are of both kinds.
    return isBlind || (transaction.elapsedMs === 0 && controller.counting > 0 && controller.covered > 0)
  }
}

/** Looks at the row that is kept at this index. */
function look(open: Open, kept: Float64Array, at: number): void {
  const { transaction, isWritten } = open
  const crossedMs = crossingOf(transaction, kept[at]!, kept[at + 1]!)
  if (crossedMs > 0) open.isTouched = true
  if (crossedMs > JITTER_MS) open.isCrossed = true
  // A transaction around this one comes later, and stands for as many samples or more.
  const samples = kept[at + 2]!
  const isAround = samples === transaction.samples && isWritten && samples > 0
  if (isAround || samples > transaction.samples) return
  count(open.span, transaction.isEndKnown, kept, at)
  for (const span of open.earlier) count(span, transaction.isEndKnown, kept, at)
}

function count(span: Span, isEndKnown: boolean, kept: Float64Array, at: number): void {
  const [startMs, endMs] = [kept[at]!, kept[at + 1]!]
  if (startMs < span.startMs) return
  // A row may have waited for a timer before it went on, and it is unknown how long.
  const isLonger = !isEndKnown && startMs < span.endMs - JITTER_MS
  if (endMs > span.endMs + JITTER_MS && !isLonger) return
  // What only touches it may come before or after it.
  const isInside = startMs < span.endMs && endMs > span.startMs
  if (!isInside && startMs !== endMs) return
  span.samples += 1 + kept[at + 2]!
  span.failing += kept[at + 3]!
  if (startMs <= span.startMs + EDGE_MS) span.begins = true
  if (endMs >= span.endMs - EDGE_MS) span.ends = true
  if (isInside) span.isEmpty = false
}

/** By how much one of the two begins within the other and ends after it, if that is above zero. */
function crossingOf({ fromMs, toMs }: Transaction, startMs: number, endMs: number): number {
  const [laterMs, longerMs] = [startMs - fromMs, endMs - toMs]
  const outsideMs = Math.max(Math.min(laterMs, longerMs), -Math.max(laterMs, longerMs))
  return Math.min(outsideMs, toMs - startMs, endMs - fromMs)
}

function isFramed({ begins, ends, samples }: Span, transaction: Transaction): boolean {
  const hasWaited = transaction.toMs - transaction.fromMs > transaction.elapsedMs
  return ends && (begins || hasWaited) && samples >= transaction.samples
}

/** Whether one kind is so rare that it is due to clocks. */
function isRare(some: number, others: number): boolean {
  return Math.min(some, others) * 50 < some + others || some + others === 0
}

/** Undefined if there are many of both kinds. */
function majorityOf(controller: Controller): boolean | undefined {
  const { counting, covered, maybeCounting, maybeCovered } = controller
  const [some, others] = counting + covered > 0 ? [counting, covered] : [maybeCounting, maybeCovered]
  return Math.min(some, others) * 10 >= some + others ? undefined : some > others
}

/** Whether the transactions of a controller count, by rows of several machines; undefined if that cannot be known. */
function sortMixed(controller: Controller): boolean | undefined {
  const { plain, parents, long, framed, framedByChance, empty, unknownEnds } = controller
  if (plain > 0 && parents === 0) return false
  if (framedByChance > long / 2) return undefined
  if (framed >= MIN_FRAMED && framed >= long * 0.95) return false
  const isEmpty = long >= MIN_EMPTY && empty >= long * MIN_EMPTY_SHARE
  return unknownEnds === 0 && isEmpty && framed <= framedByChance + long * 0.1 ? true : undefined
}

/** Fields of its last rows, one after the other, in front of the kept rows. */
const [FIRST_START, LAST_START, LAST_END] = [0, 1, 2]

class ThreadRows {
  /** All in one array: assigning numbers to a field would create garbage each time. */
  readonly #kept = new Float64Array((LOOKED_AT + 1) * ROW_FIELDS).fill(NaN)
  #count = 0
  #firstOwn = 0
  /** The last row that ended before the one before it. */
  #stepBack = 0
  readonly open: Open[] = []

  /** Whether the next row ended before the last one began. */
  isBack(endMs: number): boolean {
    return endMs < this.#kept[LAST_START]! - JITTER_MS
  }

  /** The same where the rows of a second machine follow those of the first: they begin when those did. */
  beginsAnew(startMs: number): boolean {
    const firstStartMs = this.#kept[FIRST_START]!
    return startMs - firstStartMs <= (this.#kept[LAST_END]! - firstStartMs) / 2
  }

  beginAnew(): void {
    this.#firstOwn = this.#count
  }

  add(startMs: number, endMs: number, samples: number, outcome: number): void {
    const kept = this.#kept
    if (this.#count === this.#firstOwn) kept[FIRST_START] = startMs
    if (endMs < kept[LAST_END]!) this.#stepBack = this.#count
    kept[LAST_START] = startMs
    kept[LAST_END] = endMs
    const at = placeOf(this.#count++)
    kept[at] = startMs
    kept[at + 1] = endMs
    kept[at + 2] = samples
    kept[at + 3] = outcome
  }

  /** Shows a transaction the rows before its own that may have ended at this time or later, those of the machine before for less. */
  show(open: Open, sinceMs: number): void {
    const { fromMs, toMs } = open.transaction
    const [kept, end] = [this.#kept, this.#count - 1]
    const first = Math.max(0, end - LOOKED_AT + 1)
    const from = this.#stepBack <= first ? this.#firstAfter(first, end, sinceMs) : first
    for (let row = from; row < end; row++) {
      const at = placeOf(row)
      if (row >= this.#firstOwn) look(open, kept, at)
      else if (kept[at]! >= fromMs && kept[at + 1]! <= toMs + JITTER_MS) open.isHidden = true
    }
  }

  showLast(open: Open): void {
    look(open, this.#kept, placeOf(this.#count - 1))
  }

  /** Of rows that ended one after the other: it is usually one of the last. */
  #firstAfter(first: number, end: number, endMs: number): number {
    let row = end
    while (row > first && this.#kept[placeOf(row - 1) + 1]! >= endMs) row--
    return row
  }
}

function placeOf(row: number): number {
  return ((row % LOOKED_AT) + 1) * ROW_FIELDS
}
