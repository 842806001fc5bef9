import type { SortedTransaction, Transaction } from './transaction-sorter.js'

/** A transaction that was sorted by the rows next to it. */
export interface Ballot extends SortedTransaction {
  /** Whether these rows leave no doubt; otherwise `counts` is a guess. */
  readonly isSure: boolean
  /** Whether the guess is no better than chance. */
  readonly isBlind: boolean
}

interface Votes {
  counting: number
  covered: number
  /** Not yet sorted: one of the first, one that differs from the others, or a guess. */
  waiting: Ballot[]
}

/** Before so many have voted, nothing is final. */
const QUORUM = 32
/** Fewer than one in so many are taken for mistakes. */
const MISTAKES = 10
const MAX_WAITING_OF_ONE = 1024
const MAX_WAITING = 50_000

/**
 * Corrects single transactions by the others of the same controller: all of them are of one kind, and JMeter's clock, which it adjusts
 * every five seconds, may be off by more than what lies between two rows.
 */
export class TransactionVote {
  readonly #onSorted: (sorted: SortedTransaction) => void
  readonly #byController = new Map<number, Votes>()
  #waiting = 0
  #blind = 0

  constructor(onSorted: (sorted: SortedTransaction) => void) {
    this.#onSorted = onSorted
  }

  add(ballot: Ballot): void {
    const votes = this.#votesOf(ballot.transaction)
    if (ballot.isSure && ballot.counts) votes.counting++
    else if (ballot.isSure) votes.covered++
    const total = votes.counting + votes.covered
    if (total > QUORUM && ballot.isSure && ballot.counts === majorityOf(votes)) {
      this.#onSorted(ballot)
      return
    }
    votes.waiting.push(ballot)
    this.#waiting++
    if (total === QUORUM) this.#release(votes, ({ isSure, counts }) => isSure && counts === majorityOf(votes))
    if (votes.waiting.length >= MAX_WAITING_OF_ONE) this.#release(votes, () => true)
    if (this.#waiting >= MAX_WAITING)
      for (const all of this.#byController.values()) this.#release(all, () => true)
  }

  /** Those that wait, as they have to be taken if no other comes. */
  sortWaiting(): SortedTransaction[] {
    return [...this.#byController.values()].flatMap((votes) =>
      votes.waiting.map((ballot) => resolve(ballot, votes))
    )
  }

  /** How one has to be taken as things are, without its own vote. */
  resolve(ballot: Ballot): SortedTransaction {
    return resolve(ballot, this.#votesOf(ballot.transaction))
  }

  /** How many are sorted by chance, and would be of these. */
  countBlind(others: readonly Ballot[]): number {
    let blind = this.#blind
    for (const votes of this.#byController.values())
      blind += votes.waiting.filter((ballot) => isBlind(ballot, votes)).length
    return blind + others.filter((ballot) => isBlind(ballot, this.#votesOf(ballot.transaction))).length
  }

  #votesOf({ controller }: Transaction): Votes {
    const votes = this.#byController.get(controller) ?? { counting: 0, covered: 0, waiting: [] }
    this.#byController.set(controller, votes)
    return votes
  }

  #release(votes: Votes, isReady: (ballot: Ballot) => boolean): void {
    const ready = votes.waiting.filter(isReady)
    votes.waiting = votes.waiting.filter((ballot) => !isReady(ballot))
    this.#waiting -= ready.length
    for (const ballot of ready) {
      if (isBlind(ballot, votes)) this.#blind++
      this.#onSorted(resolve(ballot, votes))
    }
  }
}

/** Undefined when the controller seems to be of both kinds, as two that share a label are. */
function majorityOf({ counting, covered }: Votes): boolean | undefined {
  if (Math.min(counting, covered) * MISTAKES >= counting + covered) return undefined
  return counting > covered
}

function resolve({ transaction, counts }: Ballot, votes: Votes): SortedTransaction {
  return { transaction, counts: majorityOf(votes) ?? counts }
}

function isBlind(ballot: Ballot, votes: Votes): boolean {
  return ballot.isBlind && majorityOf(votes) === undefined
}
