import { CELLS_A_LABEL, type SamplePart } from '../counts/scan-result.js'
import type { PartDescription, SampleTally } from './sample-tally.js'
import { TransactionSorter } from '../transactions/transaction-sorter.js'
import type { Transaction } from '../transactions/transaction-row.js'

const UNSORTED =
  'it has rows of transactions and of requests, but does not show which requests belong to them: save threadName, timeStamp in ms and elapsed (jmeter.save.saveservice.thread_name, timestamp_format=ms, time)'
const BLIND =
  'may or may not include requests that have their own rows: save the idle time and the host name (jmeter.save.saveservice.idle_time, hostname)'

export interface OtherRows {
  readonly hasRequests: boolean
  readonly hasNames: boolean
}

export class TransactionTally {
  readonly sorter = new TransactionSorter((transaction, counts) =>
    this.#enter(counts ? this.#counting : this.#covered, transaction)
  )
  readonly #counting: SampleTally
  readonly #covered: SampleTally
  /** Rows that lack what is needed to sort them. */
  readonly #unsorted: SampleTally
  readonly #nameless: SampleTally
  readonly #createTally: () => SampleTally
  readonly #isEarly: (startMs: number, elapsedMs: number) => boolean
  /** Whether there was any. */
  isSeen = false
  /** Also of rows that are not counted. */
  #hasUnsorted = false
  #hasNameless = false

  /** Rows that are too early are sorted like the others, because all of a controller are of one kind, but not counted. */
  constructor(createTally: () => SampleTally, isEarly: (startMs: number, elapsedMs: number) => boolean) {
    this.#createTally = createTally
    this.#isEarly = isEarly
    this.#counting = createTally()
    this.#covered = createTally()
    this.#unsorted = createTally()
    this.#nameless = createTally()
  }

  /** Takes a row of a thread; undefined if the CSV does not say in which thread, or when. */
  add(thread: number | undefined, transaction: Transaction): void {
    this.isSeen = true
    if (thread === undefined) {
      this.#hasUnsorted = true
      this.#enter(this.#unsorted, transaction)
    } else this.sorter.addTransaction(thread, transaction)
  }

  /** JMeter writes a row without a thread's name for a transaction within a parent sample, and then the parent's, which represents it. */
  addNameless(transaction: Transaction): void {
    this.isSeen = true
    this.#hasNameless = true
    this.#enter(this.#nameless, transaction)
  }

  /** Rows that cannot be sorted count if nothing else could: then no request has a row. */
  toParts(description: Omit<PartDescription, 'counts'>, others: OtherRows): SamplePart[] {
    const [late, lateCovered] = [this.#createTally(), this.#createTally()]
    for (const { transaction, counts } of this.sorter.sortOpen())
      this.#enter(counts ? late : lateCovered, transaction)
    const parts: [SampleTally, boolean][] = [
      [this.#counting, true],
      [late, true],
      [this.#covered, false],
      [lateCovered, false],
      [this.#unsorted, !others.hasRequests],
      [this.#nameless, !others.hasRequests && !others.hasNames]
    ]
    return parts
      .filter(([tally]) => !tally.isEmpty)
      .map(([tally, counts]) => tally.toPart({ ...description, counts }))
  }

  problems({ hasRequests, hasNames }: OtherRows): string[] {
    const isUnsorted = this.#hasUnsorted || (!hasNames && this.#hasNameless)
    const { blind } = this.sorter
    return [
      ...(hasRequests && isUnsorted ? [UNSORTED] : []),
      ...(blind === 0 ? [] : [`${blind} of its transactions ${BLIND}`])
    ]
  }

  #enter(tally: SampleTally, transaction: Transaction): void {
    const { label, outcome, elapsedMs, startMs, threads, error, thread, details } = transaction
    if (startMs >= 0 && this.#isEarly(startMs, Math.max(0, elapsedMs))) return
    if (details !== undefined) {
      const { row, failed } = details
      tally.addDetails(label, startMs, elapsedMs, outcome, row)
      if (error === undefined || failed === undefined) return
      const reason = `${error.code}\n${error.message}`
      tally.details?.addFailure(label, reason, startMs, () => failed)
      return
    }
    tally.add(label * CELLS_A_LABEL + outcome, elapsedMs, startMs, threads)
    if (startMs >= 0 && elapsedMs >= 0) tally.follow(startMs, startMs + elapsedMs, label, thread)
    if (error !== undefined) tally.errors.addText(label, error.code, error.message)
  }
}
