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

/** What a row stands for: the samples of a transaction, or a request alone. */
type Weight = Pick<Transaction, 'samples' | 'outcome'>

const PASSED: Weight = { samples: 0, outcome: 0 }
const FAILED: Weight = { samples: 0, outcome: 1 }

/** The rows in the time of a transaction, or in as much time a little earlier. */
interface Span {
  readonly startMs: number
  readonly endMs: number
  begins: boolean
  ends: boolean
  isEmpty: boolean
  /** How many samples the rows stand for, with those of no time at its start or end, and how many rows failed. */
  samples: number
  failing: number
}

/** A transaction whose later rows are still to come. */
class Open {
  readonly transaction: Transaction
  readonly spans: readonly [Span, ...Span[]]
  /** How many samples the rows before it stand for, and how many of them failed. */
  before: Span | undefined = undefined
  rowsLeft = LOOKED_AT
  isCrossed = false
  isTouched = false
  /** Whether rows within its time are among those of another machine, which come before. */
  isHidden = false
  /** When the first of the later rows began, of those that are not earlier than it. */
  nextStartMs = Infinity

  constructor(transaction: Transaction) {
    const { startMs, endMs } = transaction
    this.transaction = transaction
    const earlier = EARLIER_MS.map((ms) => makeSpan(startMs - ms, endMs - ms))
    this.spans = [makeSpan(startMs, endMs), ...earlier]
  }
}

interface Sorted extends SortedTransaction {
  readonly isSure: boolean
  /** Whether it is sorted by chance. */
  readonly isBlind: boolean
}

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
  /** Those that are not too short: how many begin and end with rows, and as many as they say; and by chance. */
  long = 0
  framed = 0
  framedByChance = 0
  empty = 0
  unknownEnds = 0
  /** The first ones, and those that differ from the others or are unsure. */
  waiting: Sorted[] = []
}

/** Sorts transactions into those that count and those that do not, from the rows in CSV order. */
export class TransactionSorter {
  readonly #onSorted: (sorted: SortedTransaction) => void
  readonly #threads: ThreadRows[] = []
  readonly #open = new Map<ThreadRows, Open[]>()
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

  constructor(onSorted: (sorted: SortedTransaction) => void) {
    this.#onSorted = onSorted
  }

  addRequest(number: number, startMs: number, endMs: number, outcome: number): void {
    const thread = (this.#threads[number] ??= new ThreadRows())
    const weight = outcome === 0 ? PASSED : FAILED
    this.#see(thread, startMs, endMs, weight)
    thread.add(startMs, endMs, weight)
  }

  addTransaction(number: number, transaction: Transaction): void {
    const thread = (this.#threads[number] ??= new ThreadRows())
    const { startMs, endMs } = transaction
    this.#see(thread, startMs, endMs, transaction)
    const open = new Open(transaction)
    thread.each(startMs - EARLIEST_MS, (rowStartMs, rowEndMs, weight, isOwn) => {
      if (isOwn) look(open, rowStartMs, rowEndMs, weight)
      else open.isHidden ||= rowStartMs >= startMs && rowEndMs <= endMs + JITTER_MS
    })
    open.before = { ...open.spans[0] }
    thread.add(startMs, endMs, transaction)
    this.#open.set(thread, [...(this.#open.get(thread) ?? []), open])
  }

  /** Forgets the rows of all threads: what follows is not adjacent to what came before. */
  forgetRows(): void {
    this.#threads.length = 0
  }

  /** The transactions that wait for others, as they are taken if none follow. */
  sortOpen(): SortedTransaction[] {
    return this.#withOpen((undecided) =>
      undecided.map((sorted) => ({ ...sorted, counts: this.#decide(sorted) ?? sorted.counts }))
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
  #withOpen<T>(conclude: (undecided: readonly Sorted[]) => T): T {
    const open = [...this.#open.values()].flat().map((one) => [one, this.#sortByRows(one)] as const)
    const covered = open.filter(([, { counts }]) => !counts)
    for (const [one, sorted] of covered) this.#count(one, sorted, 1)
    const waiting = [...this.#controllers.values()].flatMap((controller) => controller.waiting)
    const result = conclude([...waiting, ...open.map(([, sorted]) => sorted)])
    for (const [one, sorted] of covered) this.#count(one, sorted, -1)
    return result
  }

  #see(thread: ThreadRows, startMs: number, endMs: number, weight: Weight): void {
    this.#rows++
    if (endMs - startMs <= BRIEF_MS) this.#briefRows++
    const isNew = thread.beginsAnew(startMs, endMs)
    if (isNew) thread.beginAnew()
    this.#hasMachines ||= isNew
    if (!isNew && thread.isBack(endMs)) this.#crossed++
    const open = this.#open.get(thread)
    if (open === undefined) return
    const left = open.filter((one) => {
      if (!isNew) look(one, startMs, endMs, weight)
      if (startMs >= one.transaction.startMs) one.nextStartMs = Math.min(one.nextStartMs, startMs)
      // What begins later was written later, and so were all rows after it.
      const isOver = isNew || startMs > one.transaction.endMs + EDGE_MS || --one.rowsLeft === 0
      if (isOver) this.#close(one)
      return !isOver
    })
    if (left.length > 0) this.#open.set(thread, left)
    else this.#open.delete(thread)
  }

  #count({ transaction, spans, before, isCrossed, isTouched }: Open, sorted: Sorted, by: 1 | -1): void {
    const controller = this.#controllerOf(transaction)
    this.#closed += by
    if (isCrossed) this.#crossed += by
    if (isTouched) this.#touched += by
    const isFollowed = !spans[0].isEmpty && before?.isEmpty === true
    if (isFollowed) this.#followed += by
    if (isFollowed) controller.followed += by
    if (sorted.isSure && sorted.counts) this.#alone += by
    if (sorted.isSure) controller[sorted.counts ? 'counting' : 'covered'] += by
    else if (!sorted.isBlind) controller[sorted.counts ? 'maybeCounting' : 'maybeCovered'] += by
    if (transaction.kind === 'plain') controller.plain += by
    if (transaction.kind === 'parent') controller.parents += by
    if (!transaction.isEndKnown) controller.unknownEnds += by
    if (transaction.endMs - transaction.startMs < MIN_SPAN_MS) return
    const [own, ...others] = spans.map((span) => by * Number(isFramed(span, transaction)))
    controller.long += by
    controller.framed += own!
    controller.framedByChance += others.reduce((sum, framed) => sum + framed, 0) / others.length
    if (spans[0].isEmpty) controller.empty += by
  }

  #close(open: Open): void {
    const controller = this.#controllerOf(open.transaction)
    const sorted = this.#sortByRows(open)
    this.#count(open, sorted, 1)
    const total = controller.counting + controller.covered
    controller.waiting.push(sorted)
    this.#waiting++
    if (total >= QUORUM && !this.#isMixed(controller))
      this.#release(controller, ({ isSure, counts }) => isSure && counts === majorityOf(controller))
    if (controller.waiting.length >= MAX_WAITING_OF_ONE) this.#release(controller, () => true)
    if (this.#waiting >= MAX_WAITING)
      for (const each of this.#controllers.values()) this.#release(each, () => true)
  }

  #sortByRows({ transaction, spans: [span], before = span, isHidden, nextStartMs }: Open): Sorted {
    const { startMs, endMs, elapsedMs, isEndKnown, samples, failing } = transaction
    if (!span.isEmpty) return { transaction, counts: false, isSure: true, isBlind: false }
    if (!isEndKnown && nextStartMs > endMs + JITTER_MS)
      return { transaction, counts: true, isSure: false, isBlind: true }
    // Requests of no time that all come before it are not what took longer.
    const earlier = elapsedMs <= JITTER_MS || before.ends ? before : makeSpan(startMs, endMs)
    const [later, laterFailing] = [span.samples - before.samples, span.failing - before.failing]
    const isTooFew = earlier.samples + later < samples || earlier.failing + laterFailing < failing
    const isSure = isTooFew && !isHidden
    // With `subresults`, the requests of all parent samples come after them.
    const isAfter = earlier.samples < samples && later >= samples
    const counts = isTooFew || isHidden || (isAfter && this.#followed <= this.#alone)
    return { transaction, counts, isSure, isBlind: false }
  }

  #release(controller: Controller, isReady: (sorted: Sorted) => boolean): void {
    const ready = controller.waiting.filter(isReady)
    controller.waiting = controller.waiting.filter((sorted) => !isReady(sorted))
    this.#waiting -= ready.length
    for (const sorted of ready) {
      const counts = this.#decide(sorted) ?? sorted.counts
      if (this.#isBlind(sorted)) this.#blind++
      else if (counts) controller.finalCounting++
      else controller.finalCovered++
      this.#onSorted({ transaction: sorted.transaction, counts })
    }
  }

  #controllerOf({ controller }: Transaction): Controller {
    const known = this.#controllers.get(controller) ?? new Controller()
    this.#controllers.set(controller, known)
    return known
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
  #decide({ transaction, isSure, counts }: Sorted): boolean | undefined {
    const controller = this.#controllerOf(transaction)
    if (this.#isMixed(controller)) return sortMixed(controller)
    const majority = majorityOf(controller)
    const total = controller.counting + controller.covered
    const isOverruled = total >= QUORUM && isRare(controller.counting, controller.covered)
    return !isSure || majority === counts || isOverruled ? majority : undefined
  }

  #isBlind({ transaction, isSure, isBlind }: Sorted): boolean {
    const controller = this.#controllerOf(transaction)
    if (this.#isMixed(controller)) return sortMixed(controller) === undefined
    if (isSure || majorityOf(controller) !== undefined) return false
    // No guess is good enough if others of the controller are of both kinds.
    return isBlind || (transaction.elapsedMs === 0 && controller.counting > 0 && controller.covered > 0)
  }
}

function makeSpan(startMs: number, endMs: number): Span {
  return { startMs, endMs, begins: false, ends: false, isEmpty: true, samples: 0, failing: 0 }
}

function look(open: Open, startMs: number, endMs: number, { samples, outcome }: Weight): void {
  const { transaction } = open
  const isLater = open.before !== undefined
  open.isCrossed ||= isCrossing(transaction, startMs, endMs, JITTER_MS)
  open.isTouched ||= isCrossing(transaction, startMs, endMs, 0)
  // A transaction around this one comes later, and stands for as many samples or more.
  if (samples > transaction.samples || (samples === transaction.samples && isLater && samples > 0)) return
  for (const span of open.spans) {
    if (startMs < span.startMs) continue
    // A row may have waited for a timer before it went on, and it is unknown how long.
    const isLonger = !transaction.isEndKnown && startMs < span.endMs - JITTER_MS
    if (endMs > span.endMs + JITTER_MS && !isLonger) continue
    // What only touches it may come before or after it.
    const isInside = startMs < span.endMs && endMs > span.startMs
    if (!isInside && startMs !== endMs) continue
    span.samples += 1 + samples
    span.failing += outcome
    span.begins ||= startMs <= span.startMs + EDGE_MS
    span.ends ||= endMs >= span.endMs - EDGE_MS
    if (isInside) span.isEmpty = false
  }
}

/** Whether one of the two begins within the other and ends after it, by more than so many ms. */
function isCrossing(transaction: Transaction, startMs: number, endMs: number, byMs: number): boolean {
  if (startMs >= transaction.endMs - byMs || endMs <= transaction.startMs + byMs) return false
  const [beginsLaterMs, endsLaterMs] = [startMs - transaction.startMs, endMs - transaction.endMs]
  return Math.min(beginsLaterMs, endsLaterMs) > byMs || Math.max(beginsLaterMs, endsLaterMs) < -byMs
}

function isFramed({ begins, ends, samples }: Span, transaction: Transaction): boolean {
  const hasWaited = transaction.endMs - transaction.startMs > transaction.elapsedMs
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

class ThreadRows {
  readonly #kept = new Float64Array(LOOKED_AT * ROW_FIELDS)
  #count = 0
  #firstOwn = 0
  #firstStartMs = NaN
  #lastStartMs = NaN
  #lastEndMs = NaN
  /** The last row that ended before the one before it. */
  #stepBack = 0

  /** Whether the next row ended before the last one began. */
  isBack(endMs: number): boolean {
    return endMs < this.#lastStartMs - JITTER_MS
  }

  /** The same where the rows of a second machine follow those of the first: they begin when those did. */
  beginsAnew(startMs: number, endMs: number): boolean {
    return this.isBack(endMs) && startMs - this.#firstStartMs <= (this.#lastEndMs - this.#firstStartMs) / 2
  }

  beginAnew(): void {
    this.#firstOwn = this.#count
  }

  add(startMs: number, endMs: number, { samples, outcome }: Weight): void {
    if (this.#count === this.#firstOwn) this.#firstStartMs = startMs
    if (endMs < this.#lastEndMs) this.#stepBack = this.#count
    this.#lastStartMs = startMs
    this.#lastEndMs = endMs
    const at = (this.#count++ % LOOKED_AT) * ROW_FIELDS
    this.#kept[at] = startMs
    this.#kept[at + 1] = endMs
    this.#kept[at + 2] = samples
    this.#kept[at + 3] = outcome
  }

  /** Rows that may have ended at this time or later. Own rows are not those of a machine before. */
  each(endMs: number, take: (startMs: number, endMs: number, weight: Weight, isOwn: boolean) => void): void {
    const kept = this.#kept
    let row = Math.max(0, this.#count - LOOKED_AT)
    if (this.#stepBack <= row) row = this.#firstAfter(row, endMs)
    for (; row < this.#count; row++) {
      const at = (row % LOOKED_AT) * ROW_FIELDS
      const weight = { samples: kept[at + 2]!, outcome: kept[at + 3]! }
      take(kept[at]!, kept[at + 1]!, weight, row >= this.#firstOwn)
    }
  }

  /** Of rows that ended one after the other: it is usually one of the last. */
  #firstAfter(first: number, endMs: number): number {
    let row = this.#count
    while (row > first && this.#kept[((row - 1) % LOOKED_AT) * ROW_FIELDS + 1]! >= endMs) row--
    return row
  }
}
