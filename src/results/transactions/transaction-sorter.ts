/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { MixedRows } from './mixed-rows.js'
import type { ControllerKind } from './transaction-row.js'
import { TransactionVote, type Ballot, type Verdict } from './transaction-vote.js'

// A transaction controller's row sums up requests. Where these have rows of their own they count, and the controller's row does not; where
// they have none, it counts itself. Which of the two it is shows in the rows of the same thread, for a thread does one thing after the other:
// - without "generate parent sample" JMeter writes the rows of the requests, then the controller's: the row before lies within its time;
// - with it, and with `subresults`, JMeter writes the controller's row, then those of the requests: the row after lies within its time;
// - with it, and without `subresults`, neither does.

/** The row of a transaction controller. */
export interface Transaction {
  readonly label: number
  /** The same number for all that have label and thread group in common, and so are likely to come from one controller. */
  readonly controller: number
  /** 0 is a success, 1 a failure. */
  readonly outcome: number
  readonly startMs: number
  readonly elapsedMs: number
  /** When it ended, idle times included; at the earliest, where the row does not say how long these were. */
  readonly endMs: number
  readonly isEndKnown: boolean
  /** Of which kind its controller is, where its row shows that. */
  readonly kind: ControllerKind | undefined
  /** How many samples it stands for, and how many of them failed. */
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

interface OpenTransaction {
  readonly transaction: Transaction
  /** Set where the row before neither shows nor excludes that it is one of its requests: whether the transaction counts then. */
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

/** Times are whole milliseconds, rounded down. */
const JITTER_MS = 1
const LONG_MS = 2
const FIRST_THREADS = 256
/** No plan nests transactions deeper; a hostile file must not make every row look at all before it. */
const MAX_OPEN = 32
/** So many rows may overlap with others of their threads where a clock was set. More do so where several machines have the same names of threads. */
const MAX_OVERLAPS = 2
const MAX_OVERLAP_SHARE = 0.01
/** The same for rows that overlap by a millisecond, as short ones do: those of one machine rarely do, for JMeter rounds all times down. */
const MAX_SHORT_OVERLAPS = 2
const MAX_SHORT_OVERLAP_SHARE = 0.005

/** Sorts transactions into those that count and those that do not, from the rows in the order of the CSV. */
export class TransactionSorter {
  readonly #vote: TransactionVote
  readonly #mixed = new MixedRows()
  readonly #judgeMixed = () => this.#mixed.judge()
  #wasMixed = false
  #rows = 0
  #longRows = 0
  #overlaps = 0
  #shortOverlaps = 0
  // Of each thread's last row: its times, and how many rows in a row began in its millisecond, and failed.
  #starts = new Float64Array(FIRST_THREADS).fill(NaN)
  #ends = new Float64Array(FIRST_THREADS)
  #runs = new Uint32Array(FIRST_THREADS)
  #failedRuns = new Uint32Array(FIRST_THREADS)
  /** If it is surely a transaction without rows before: how many samples it stands for. */
  #samples = new Uint32Array(FIRST_THREADS)
  /** Of each thread's last row that is no part of another. */
  #outerStarts = new Float64Array(FIRST_THREADS).fill(NaN)
  #outerEnds = new Float64Array(FIRST_THREADS)
  #hasGoneBack = new Uint32Array(FIRST_THREADS)
  #firstStarts = new Float64Array(FIRST_THREADS).fill(NaN)
  readonly #open = new Map<number, OpenTransaction[]>()
  /** Of the transactions without rows before, how many have rows after. */
  #followed = 0
  #alone = 0

  constructor(onSorted: (sorted: SortedTransaction) => void) {
    this.#vote = new TransactionVote(onSorted)
  }

  addRequest(thread: number, startMs: number, endMs: number, outcome: number): void {
    if (thread >= this.#starts.length) this.#grow(thread)
    if (this.#open.size > 0) this.#look(thread, { startMs, endMs, isTransaction: false })
    this.#checkOrder(thread, startMs, endMs)
    this.#remember(thread, startMs, endMs, outcome)
    this.#mixed.addRow(thread, startMs, endMs, 0)
    this.#samples[thread] = 0
  }

  addTransaction(thread: number, transaction: Transaction): void {
    if (thread >= this.#starts.length) this.#grow(thread)
    const { startMs, endMs } = transaction
    this.#look(thread, { startMs, endMs, isTransaction: true })
    this.#checkOrder(thread, startMs, endMs)
    if (this.#hasGoneBack[thread] === 0 && this.#mixed.hasRowAcross(thread, transaction)) this.#overlaps++
    const before = this.#relateBefore(thread, transaction)
    if (before === 'inside') this.#cast({ transaction, counts: false, isSure: true, isBlind: false })
    else {
      const guess = before === 'outside' ? undefined : this.#guess(thread, transaction)
      this.#openOf(thread).push({ transaction, guess, isBlind: before === 'blind' })
    }
    this.#remember(thread, startMs, endMs, transaction.outcome)
    this.#mixed.addTransaction(thread, transaction)
    this.#samples[thread] = before === 'outside' ? transaction.samples : 0
  }

  /** Forgets the rows of all threads: from here on the rows before are not those that came before. */
  forgetRows(): void {
    this.#starts.fill(NaN)
    this.#outerStarts.fill(NaN)
    this.#firstStarts.fill(NaN)
    this.#mixed.forgetRows()
    this.#wasMixed = this.#isMixed
    this.#rows = 0
    this.#longRows = 0
    this.#overlaps = 0
    this.#shortOverlaps = 0
  }

  /** The transactions that wait for rows to come, as they have to be taken if none comes. */
  sortOpen(): SortedTransaction[] {
    return this.#vote.sortWaiting(this.#openBallots(), this.#verdict)
  }

  /** How many transactions nobody can sort. */
  get blind(): number {
    return this.#vote.countBlind(this.#openBallots(), this.#verdict)
  }

  get #verdict(): Verdict | undefined {
    const isSplit = this.#vote.isSplit && (this.#overlaps + this.#shortOverlaps > 0 || this.#longRows * 2 < this.#rows)
    return this.#isMixed || isSplit ? this.#mixed.judge() : undefined
  }

  #cast(ballot: Ballot): void {
    this.#vote.add(ballot, this.#isMixed ? this.#judgeMixed : undefined)
  }

  #openBallots(): Ballot[] {
    const open = [...this.#open.values()].flat()
    return open.map(({ transaction, guess, isBlind }) => ({
      ...{ transaction, counts: guess ?? true, isSure: false, isBlind }
    }))
  }

  /** Lets open transactions of the thread see the row that comes after them. */
  #look(thread: number, row: LaterRow): void {
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
    // With `subresults` all transactions have rows of their own, without it those that have none before have none after.
    const isFollowed = relation === 'unsure' && this.#followed > this.#alone
    const counts = !isInside && !isFollowed && (guess ?? true)
    this.#cast({ transaction, counts, isSure, isBlind: !isSure && (isBlind || relation === 'blind') })
  }

  #relateBefore(thread: number, transaction: Transaction): Relation {
    const relation = this.#relateToLast(thread, transaction)
    // Its requests may be further up where the rows of machines follow each other in blocks.
    const isHidden =
      relation === 'outside' && this.#hasGoneBack[thread] === 1 && this.#mixed.hasRowWithin(thread, transaction)
    return isHidden ? 'unsure' : relation
  }

  #relateToLast(thread: number, { startMs, endMs, isEndKnown, samples }: Transaction): Relation {
    const [lastStartMs, lastEndMs] = [this.#starts[thread]!, this.#ends[thread]!]
    if (Number.isNaN(lastStartMs)) return 'outside'
    // Another machine's rows begin here, with the same names of threads.
    if (isEndKnown && lastStartMs > endMs + JITTER_MS) return 'unsure'
    // JMeter counts a transaction within another as one sample more than it has itself.
    if (this.#samples[thread]! >= samples) return 'outside'
    if (lastStartMs < startMs) return lastEndMs <= startMs + JITTER_MS ? 'outside' : 'unsure'
    if (isEndKnown && lastEndMs > endMs + JITTER_MS) return 'unsure'
    // It took no time and began when the transaction did: the first and only request, or the last one before.
    if (lastStartMs === startMs && lastEndMs === startMs) return 'unsure'
    return 'inside'
  }

  /** Whether several machines with the same names of threads have written their rows in between each other. */
  get #isMixed(): boolean {
    return (
      this.#wasMixed ||
      // With `subresults` all parent samples have rows after theirs, without it none has.
      Math.min(this.#followed, this.#alone) * 50 > this.#followed + this.#alone ||
      this.#overlaps > Math.max(MAX_OVERLAPS, this.#rows * MAX_OVERLAP_SHARE) ||
      this.#shortOverlaps > Math.max(MAX_SHORT_OVERLAPS, this.#rows * MAX_SHORT_OVERLAP_SHARE)
    )
  }

  /** A transaction ends with its last request. One that is as short as that is judged by the number of requests before it. */
  #guess(thread: number, { startMs, endMs, samples, failing }: Transaction): boolean {
    const lastEndMs = this.#ends[thread]!
    if (lastEndMs < startMs || this.#starts[thread]! > endMs) return true
    if (endMs > startMs + JITTER_MS) return Math.abs(lastEndMs - startMs) < Math.abs(lastEndMs - endMs)
    return this.#runs[thread]! < samples || this.#failedRuns[thread]! < failing
  }

  #checkOrder(thread: number, startMs: number, endMs: number): void {
    this.#rows++
    if (endMs - startMs > LONG_MS) this.#longRows++
    const [outerStartMs, outerEndMs] = [this.#outerStarts[thread]!, this.#outerEnds[thread]!]
    if (Number.isNaN(this.#firstStarts[thread]!)) this.#firstStarts[thread] = startMs
    const startsIn = startMs > outerStartMs && startMs < outerEndMs && endMs > outerEndMs
    const endsIn = startMs < outerStartMs && endMs > outerStartMs && endMs < outerEndMs
    if (startsIn || endsIn) this.#shortOverlaps++
    const isPart = startMs >= outerStartMs - JITTER_MS && endMs <= outerEndMs + JITTER_MS
    if (isPart) return
    const isAround = startMs <= outerStartMs + JITTER_MS && endMs >= outerEndMs - JITTER_MS
    if (!isAround && startMs < outerEndMs - JITTER_MS && endMs > outerStartMs + JITTER_MS) this.#overlaps++
    const firstMs = this.#firstStarts[thread]!
    // Where the rows of a second machine follow those of the first, they begin when those did.
    const isBack = endMs < outerStartMs - JITTER_MS
    if (isBack) this.#hasGoneBack[thread] = 1
    if (isBack && startMs - firstMs > (outerEndMs - firstMs) / 2) this.#overlaps++
    this.#outerStarts[thread] = startMs
    this.#outerEnds[thread] = endMs
  }

  #remember(thread: number, startMs: number, endMs: number, outcome: number): void {
    const isSameMs = this.#starts[thread] === startMs
    this.#runs[thread] = isSameMs ? this.#runs[thread]! + 1 : 1
    this.#failedRuns[thread] = isSameMs ? this.#failedRuns[thread]! + outcome : outcome
    this.#starts[thread] = startMs
    this.#ends[thread] = endMs
  }

  #openOf(thread: number): OpenTransaction[] {
    const open = this.#open.get(thread) ?? []
    this.#open.set(thread, open)
    return open
  }

  #grow(thread: number): void {
    const length = Math.max(thread + 1, this.#starts.length * 2)
    const grow = <List extends Float64Array | Uint32Array>(grown: List, old: List): List => {
      grown.set(old)
      return grown
    }
    this.#starts = grow(new Float64Array(length).fill(NaN), this.#starts)
    this.#ends = grow(new Float64Array(length), this.#ends)
    this.#runs = grow(new Uint32Array(length), this.#runs)
    this.#failedRuns = grow(new Uint32Array(length), this.#failedRuns)
    this.#samples = grow(new Uint32Array(length), this.#samples)
    this.#outerStarts = grow(new Float64Array(length).fill(NaN), this.#outerStarts)
    this.#outerEnds = grow(new Float64Array(length), this.#outerEnds)
    this.#hasGoneBack = grow(new Uint32Array(length), this.#hasGoneBack)
    this.#firstStarts = grow(new Float64Array(length).fill(NaN), this.#firstStarts)
  }
}

/** How the row after a transaction's row in the same thread lies to it. */
function relate({ startMs, endMs, isEndKnown }: Transaction, row: LaterRow): Relation {
  if (row.startMs < startMs) return 'outside'
  // A transaction around this one, or the only one within it: the next row shows.
  if (row.isTransaction && row.startMs === startMs && row.endMs >= endMs) return 'around'
  const endsInside = row.endMs <= endMs + JITTER_MS
  if (row.startMs < endMs) {
    if (endsInside || (!isEndKnown && row.startMs < endMs - JITTER_MS)) return 'inside'
    return isEndKnown ? 'outside' : 'blind'
  }
  // One that took no time when the transaction ended: its only request, or what came next.
  if (row.startMs === endMs && row.endMs === endMs) return 'unsure'
  // A request may have waited for a timer within the transaction, or after it.
  return isEndKnown || row.startMs <= endMs + JITTER_MS ? 'outside' : 'blind'
}
