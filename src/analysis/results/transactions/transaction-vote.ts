import type { SortedTransaction } from './transaction-row.js'
import type { Transaction } from './transaction-row.js'

/** A transaction that was sorted by its adjacent rows. */
export interface Ballot extends SortedTransaction {
  /** Whether these rows leave no doubt; otherwise `counts` is a guess. */
  readonly isSure: boolean
  /** Whether rows of its requests come after its own. */
  readonly isFollowed: boolean
  /** Whether the guess is no better than chance. */
  readonly isBlind: boolean
}

/** Whether the transactions of a controller count, if their adjacent rows do not show it; undefined if nothing shows it. */
export type Verdict = (controller: number) => boolean | undefined
type Judge = () => Verdict

interface Votes {
  counting: number
  covered: number
  /** Of those whose requests have rows, the ones whose requests come after them. */
  followed: number
  /** Those that are sorted for good, by kind. */
  finalCounting: number
  finalCovered: number
  /** Not yet sorted: one of the first, one that differs from the others, or a guess. */
  waiting: Ballot[]
}

/** Nothing is final before this many have voted. */
const QUORUM = 32
/** A guess follows the others if fewer than one in this many of them differ. */
const MISTAKES = 10
/** Fewer than one in this many, among many, count as mistakes although their rows leave no doubt. */
const SURE_MISTAKES = 50
const MAX_WAITING_OF_ONE = 1024
const MAX_WAITING = 50_000

/**
 * Corrects single transactions by the others of the same controller: all of them are of one kind, and JMeter's clock, which it adjusts
 * every five seconds, may be off by more than the gap between two rows.
 */
export class TransactionVote {
  readonly #onSorted: (sorted: SortedTransaction) => void
  readonly #byController = new Map<number, Votes>()
  #waiting = 0
  #blind = 0
  #isContradictory = false

  constructor(onSorted: (sorted: SortedTransaction) => void) {
    this.#onSorted = onSorted
  }

  add(ballot: Ballot, judge?: Judge): void {
    const votes = this.#votesOf(ballot.transaction)
    if (ballot.isSure && ballot.counts) votes.counting++
    else if (ballot.isSure) votes.covered++
    if (ballot.isFollowed) votes.followed++
    this.#isContradictory ||= areBoth(votes.followed, votes.counting)
    const total = votes.counting + votes.covered
    if (judge === undefined && total > QUORUM && ballot.isSure && ballot.counts === majorityOf(votes)) {
      this.#finish(votes, ballot)
      return
    }
    votes.waiting.push(ballot)
    this.#waiting++
    if (judge === undefined && total === QUORUM)
      this.#release(votes, ({ isSure, counts }) => isSure && counts === majorityOf(votes))
    if (votes.waiting.length >= MAX_WAITING_OF_ONE) this.#release(votes, () => true, judge?.())
    if (this.#waiting >= MAX_WAITING)
      for (const all of this.#byController.values()) this.#release(all, () => true, judge?.())
  }

  /** Whether there is a controller whose transactions seem to be of both kinds, as when two of them share a label. */
  get isSplit(): boolean {
    return [...this.#byController.values()].some(({ counting, covered }) => areBoth(counting, covered))
  }

  /**
   * Whether there is a controller some of whose transactions seem to have rows after them, and some none at all: with `subresults` all
   * parent samples have such rows, without it none has.
   */
  get isContradictory(): boolean {
    return this.#isContradictory
  }

  /** Those waiting and these others, as they are taken if no more follow. */
  sortWaiting(others: readonly Ballot[], verdict: Verdict | undefined): SortedTransaction[] {
    const waiting = [...this.#byController.values()].flatMap((votes) => votes.waiting)
    return [...waiting, ...others].map((ballot) =>
      resolve(ballot, this.#votesOf(ballot.transaction), verdict)
    )
  }

  /** How many are sorted by chance, or were before the others showed that they belong elsewhere. */
  countBlind(others: readonly Ballot[], verdict: Verdict | undefined): number {
    let blind = verdict === undefined ? this.#blind : 0
    for (const [controller, votes] of this.#byController) {
      const judged = verdict?.(controller)
      if (verdict !== undefined && judged !== true) blind += votes.finalCounting
      if (verdict !== undefined && judged !== false) blind += votes.finalCovered
      blind += votes.waiting.filter((ballot) => isBlind(ballot, votes, verdict)).length
    }
    const isOtherBlind = (ballot: Ballot) => isBlind(ballot, this.#votesOf(ballot.transaction), verdict)
    return blind + others.filter(isOtherBlind).length
  }

  #votesOf({ controller }: Transaction): Votes {
    const votes = this.#byController.get(controller) ?? {
      ...{ counting: 0, covered: 0, followed: 0, finalCounting: 0, finalCovered: 0, waiting: [] }
    }
    this.#byController.set(controller, votes)
    return votes
  }

  #release(votes: Votes, isReady: (ballot: Ballot) => boolean, verdict?: Verdict): void {
    const ready = votes.waiting.filter(isReady)
    votes.waiting = votes.waiting.filter((ballot) => !isReady(ballot))
    this.#waiting -= ready.length
    for (const ballot of ready) {
      if (isBlind(ballot, votes, verdict)) this.#blind++
      this.#finish(votes, resolve(ballot, votes, verdict))
    }
  }

  #finish(votes: Votes, sorted: SortedTransaction): void {
    if (sorted.counts) votes.finalCounting++
    else votes.finalCovered++
    this.#onSorted(sorted)
  }
}

/** Whether there are more of each than mistakes would cause. */
function areBoth(some: number, others: number): boolean {
  return Math.min(some, others) * SURE_MISTAKES > some + others
}

/** Undefined if the controller seems to be of both kinds, as when two share a label. */
function majorityOf({ counting, covered }: Votes): boolean | undefined {
  if (Math.min(counting, covered) * MISTAKES >= counting + covered) return undefined
  return counting > covered
}

/** What the others say about one; undefined if it must be judged by itself. */
function overrule({ isSure, counts }: Ballot, votes: Votes): boolean | undefined {
  const majority = majorityOf(votes)
  if (!isSure || majority === counts) return majority
  const total = votes.counting + votes.covered
  const isRare = total >= QUORUM && Math.min(votes.counting, votes.covered) * SURE_MISTAKES < total
  return isRare ? majority : undefined
}

function resolve(ballot: Ballot, votes: Votes, verdict: Verdict | undefined): SortedTransaction {
  const { transaction, counts } = ballot
  return { transaction, counts: verdict?.(transaction.controller) ?? overrule(ballot, votes) ?? counts }
}

function isBlind(ballot: Ballot, votes: Votes, verdict: Verdict | undefined): boolean {
  if (verdict !== undefined) return verdict(ballot.transaction.controller) === undefined
  if (ballot.isSure || majorityOf(votes) !== undefined) return false
  // For zero duration no guess is good enough if others with the same label are of both kinds.
  const isShort = ballot.transaction.elapsedMs === 0
  return ballot.isBlind || (isShort && votes.counting > 0 && votes.covered > 0)
}
