import { MixedRows } from './mixed-rows.js'
import {
  isCrossing,
  isWithin,
  JITTER_MS,
  type SortedTransaction,
  ThreadRows,
  type Transaction
} from './transaction-row.js'
import { TransactionVote, type Ballot, type Verdict } from './transaction-vote.js'

interface OpenTransaction {
  readonly transaction: Transaction
  /** Set if the row before neither proves nor excludes that it is one of its requests: whether the transaction counts then. */
  readonly guess: boolean | undefined
  /** Whether the guess is no better than chance. */
  readonly isBlind: boolean
}

interface LaterRow {
  readonly startMs: number
  readonly endMs: number
  readonly isTransaction: boolean
}

type Relation = 'inside' | 'outside' | 'around' | 'unsure' | 'blind'

/** No plan nests transactions deeper; a hostile file must not make every row scan all rows before it. */
const MAX_OPEN = 32

/** Sorts transactions into those that count and those that do not, from the rows in CSV order. */
export class TransactionSorter {
  readonly #vote: TransactionVote
  readonly #order = new RowOrder()
  readonly #mixed = new MixedRows()
  readonly #judgeMixed = () => this.#mixed.judge()
  readonly #threads: ThreadRows[] = []
  readonly #open = new Map<ThreadRows, OpenTransaction[]>()
  /** Of the transactions without rows before, how many have rows after. */
  #followed = 0
  #alone = 0

  constructor(onSorted: (sorted: SortedTransaction) => void) {
    this.#vote = new TransactionVote(onSorted)
  }

  addRequest(number: number, startMs: number, endMs: number, outcome: number): void {
    const thread = (this.#threads[number] ??= new ThreadRows())
    if (this.#open.size > 0) this.#look(thread, { startMs, endMs, isTransaction: false })
    this.#order.check(thread, startMs, endMs, false)
    this.#mixed.addRow(thread, startMs, endMs, 0)
    thread.add(startMs, endMs, { samples: 0, outcome })
    thread.loneSamples = 0
  }

  addTransaction(number: number, transaction: Transaction): void {
    const thread = (this.#threads[number] ??= new ThreadRows())
    const { startMs, endMs, samples } = transaction
    this.#look(thread, { startMs, endMs, isTransaction: true })
    this.#order.check(thread, startMs, endMs, true)
    const before = relateToLast(thread, transaction)
    if (before === 'inside')
      this.#cast({ transaction, counts: false, isSure: true, isFollowed: false, isBlind: false })
    else {
      const guess = before === 'outside' ? undefined : guessCounts(thread, transaction)
      const open = this.#open.get(thread) ?? []
      this.#open.set(thread, [...open, { transaction, guess, isBlind: before === 'blind' }])
    }
    this.#mixed.addTransaction(thread, transaction)
    thread.add(startMs, endMs, transaction)
    thread.loneSamples = before === 'outside' ? samples : 0
  }

  /** Forgets the rows of all threads: what follows is not adjacent to what came before. */
  forgetRows(): void {
    this.#threads.length = 0
  }

  /** The transactions waiting for further rows, as they are taken if none follow. */
  sortOpen(): SortedTransaction[] {
    return this.#vote.sortWaiting(this.#openBallots(), this.#verdict)
  }

  /** How many transactions cannot be sorted. */
  get blind(): number {
    return this.#vote.countBlind(this.#openBallots(), this.#verdict)
  }

  get #verdict(): Verdict | undefined {
    const isSplit = this.#vote.isSplit && this.#order.isSuspicious
    return this.#isMixed || isSplit ? this.#mixed.judge() : undefined
  }

  /** Whether several machines with the same thread names have written interleaved rows. */
  get #isMixed(): boolean {
    return this.#order.isMixed || this.#vote.isContradictory
  }

  #cast(ballot: Ballot): void {
    this.#vote.add(ballot, this.#isMixed ? this.#judgeMixed : undefined)
  }

  #openBallots(): Ballot[] {
    const open = [...this.#open.values()].flat()
    return open.map(({ transaction, guess, isBlind }) => ({
      ...{ transaction, counts: guess ?? true, isSure: false, isFollowed: false, isBlind }
    }))
  }

  /** Shows open transactions of the thread the row that comes after them. */
  #look(thread: ThreadRows, row: LaterRow): void {
    const open = this.#open.get(thread)
    if (open === undefined) return
    const waiting: OpenTransaction[] = []
    for (const one of open) {
      const relation = relate(one.transaction, row)
      if (relation !== 'around') this.#close(one, relation)
      else if (open.length < MAX_OPEN) waiting.push(one)
      else this.#close(one, 'unsure')
    }
    if (waiting.length > 0) this.#open.set(thread, waiting)
    else this.#open.delete(thread)
  }

  #close({ transaction, guess, isBlind }: OpenTransaction, relation: Relation): void {
    const isInside = relation === 'inside'
    if (isInside) this.#followed++
    if (relation === 'outside' && guess === undefined) this.#alone++
    const isSure = isInside || (relation === 'outside' && guess === undefined)
    // With `subresults` all transactions have their own rows; without it those that have none before have none after.
    const isFollowed = relation === 'unsure' && this.#followed > this.#alone
    const counts = !isInside && !isFollowed && (guess ?? true)
    this.#cast({
      ...{ transaction, counts, isSure, isFollowed: isInside },
      isBlind: !isSure && (isBlind || relation === 'blind')
    })
  }
}

/** How the last row of the thread relates to the transaction's row after it. */
function relateToLast(thread: ThreadRows, transaction: Transaction): Relation {
  const { startMs: lastStartMs, endMs: lastEndMs } = thread
  const { startMs, endMs, isEndKnown, samples } = transaction
  if (Number.isNaN(lastStartMs)) return 'outside'
  // Another machine's rows begin here, with the same thread names.
  if (isEndKnown && lastStartMs > endMs + JITTER_MS) return 'unsure'
  // Its requests may be further up if rows of several machines follow each other in blocks.
  const isHidden = () => thread.hasGoneBack && thread.some((...row) => isWithin(transaction, row[0], row[1]))
  // JMeter counts a nested transaction as one sample more than it has itself.
  if (thread.loneSamples >= samples) return isHidden() ? 'unsure' : 'outside'
  // It ended before, or is around this one.
  const isApart = lastEndMs <= startMs + JITTER_MS || (isEndKnown && lastEndMs >= endMs)
  if (lastStartMs < startMs) return isApart && !isHidden() ? 'outside' : 'unsure'
  if (isEndKnown && lastEndMs > endMs + JITTER_MS) return 'unsure'
  // Zero duration, at the transaction's start: the first and only request, or the last one before.
  if (lastStartMs === startMs && lastEndMs === startMs) return 'unsure'
  return 'inside'
}

/** A transaction ends with its last request. A very short one is judged by the number of requests before it. */
function guessCounts(thread: ThreadRows, { startMs, endMs, samples, failing }: Transaction): boolean {
  const lastEndMs = thread.endMs
  if (lastEndMs < startMs || thread.startMs > endMs) return true
  if (endMs > startMs + JITTER_MS) return Math.abs(lastEndMs - startMs) < Math.abs(lastEndMs - endMs)
  return thread.run < samples || thread.failedRun < failing
}

/** How the row after a transaction's row in the same thread relates to it. */
function relate({ startMs, endMs, isEndKnown }: Transaction, row: LaterRow): Relation {
  if (row.startMs < startMs) return 'outside'
  // A transaction around this one, or the only one within it: the next row decides.
  if (row.isTransaction && row.startMs === startMs && row.endMs >= endMs) return 'around'
  const endsInside = row.endMs <= endMs + JITTER_MS
  if (row.startMs < endMs) {
    if (endsInside || (!isEndKnown && row.startMs < endMs - JITTER_MS)) return 'inside'
    return isEndKnown ? 'outside' : 'blind'
  }
  // Zero duration, at the transaction's end: its only request, or what came next.
  if (row.startMs === endMs && row.endMs === endMs) return 'unsure'
  // A request may have waited for a timer within the transaction, or after it.
  return isEndKnown || row.startMs <= endMs + JITTER_MS ? 'outside' : 'blind'
}

/** This many rows may overlap others of their threads where a clock was adjusted. */
const MAX_CROSSINGS = 2
const MAX_CROSSING_SHARE = 0.01
const MAX_SHORT_CROSSING_SHARE = 0.005
/** Longer rows may overlap by a millisecond because JMeter adjusts its clock every five seconds; few of the shorter ones do. */
const SHORT_ROW_MS = 10
/** In rows no longer than this, interleaving hardly shows. */
const BRIEF_ROW_MS = 2

/**
 * Looks for what a thread of one machine cannot write, because it does one thing after the other: rows that overlap, and rows that end
 * before those above them began. Several machines with the same thread names write it all the time.
 */
class RowOrder {
  #rows = 0
  #briefRows = 0
  #crossings = 0
  #shortCrossings = 0

  /** Checks the next row of its thread. */
  check(thread: ThreadRows, startMs: number, endMs: number, isTransaction: boolean): void {
    this.#rows++
    if (endMs - startMs <= BRIEF_ROW_MS) this.#briefRows++
    const { outerStartMs, outerEndMs, firstStartMs } = thread
    const isShort = endMs - startMs <= SHORT_ROW_MS
    const startsIn = startMs > outerStartMs && startMs < outerEndMs && endMs > outerEndMs
    const endsIn = startMs < outerStartMs && endMs > outerStartMs && endMs < outerEndMs
    if (isShort && (startsIn || endsIn)) this.#shortCrossings++
    if (endMs < outerStartMs - JITTER_MS) {
      thread.hasGoneBack = true
      // If the rows of a second machine follow those of the first, they begin when those did.
      if (startMs - firstStartMs > (outerEndMs - firstStartMs) / 2) this.#crossings++
    } else if (isCrossing({ startMs: outerStartMs, endMs: outerEndMs }, startMs, endMs)) this.#crossings++
    else if (isTransaction && !thread.hasGoneBack && isAcross(thread, startMs, endMs)) this.#crossings++
    if (startMs >= outerStartMs - JITTER_MS && endMs <= outerEndMs + JITTER_MS) return
    thread.outerStartMs = startMs
    thread.outerEndMs = endMs
  }

  /** Whether several machines have certainly written interleaved rows. */
  get isMixed(): boolean {
    return (
      this.#crossings > Math.max(MAX_CROSSINGS, this.#rows * MAX_CROSSING_SHARE) ||
      this.#shortCrossings > Math.max(MAX_CROSSINGS, this.#rows * MAX_SHORT_CROSSING_SHARE)
    )
  }

  /** Whether they may have. */
  get isSuspicious(): boolean {
    return this.#crossings + this.#shortCrossings > 0 || this.#briefRows * 2 > this.#rows
  }
}

/** Whether any of the rows above overlaps the transaction, not only the last, which may be within it. */
function isAcross(thread: ThreadRows, startMs: number, endMs: number): boolean {
  const span = { startMs, endMs }
  return thread.some((rowStartMs, rowEndMs) => isCrossing(span, rowStartMs, rowEndMs))
}
