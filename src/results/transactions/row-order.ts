import { isCrossing, JITTER_MS, type ThreadRows } from './thread-rows.js'

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
export class RowOrder {
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
