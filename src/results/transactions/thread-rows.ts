/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/** When something began and ended. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** Times are whole milliseconds, rounded down, and JMeter adjusts its clock every five seconds. */
export const JITTER_MS = 1
const KEPT_ROWS = 64
const ROW_FIELDS = 3

/** The last rows of one thread, in CSV order. */
export class ThreadRows {
  /** Of the first row, and of the last one. */
  firstStartMs = NaN
  startMs = NaN
  endMs = NaN
  /** Of the last row that is not part of another. */
  outerStartMs = NaN
  outerEndMs = NaN
  /** How many consecutive rows began in the same millisecond as the last one, and failed. */
  run = 0
  failedRun = 0
  /** How many samples the last row represents if it is a transaction that certainly has no rows before it. */
  loneSamples = 0
  /** Whether a row ended before the one above it began, as when rows of several machines are concatenated. */
  hasGoneBack = false
  readonly #kept = new Float64Array(KEPT_ROWS * ROW_FIELDS)
  #count = 0

  /** Takes the next row. A request only represents itself. */
  add(startMs: number, endMs: number, { samples, outcome }: { samples: number; outcome: number }): void {
    const isSameMs = this.startMs === startMs
    this.run = isSameMs ? this.run + 1 : 1
    this.failedRun = isSameMs ? this.failedRun + outcome : outcome
    if (this.#count === 0) this.firstStartMs = startMs
    this.startMs = startMs
    this.endMs = endMs
    const at = (this.#count++ % KEPT_ROWS) * ROW_FIELDS
    this.#kept[at] = startMs
    this.#kept[at + 1] = endMs
    this.#kept[at + 2] = samples
  }

  /** Whether the condition holds for one of the last rows. */
  some(isLike: (startMs: number, endMs: number, samples: number) => boolean): boolean {
    const end = Math.min(this.#count, KEPT_ROWS) * ROW_FIELDS
    const kept = this.#kept
    for (let at = 0; at < end; at += ROW_FIELDS)
      if (isLike(kept[at]!, kept[at + 1]!, kept[at + 2]!)) return true
    return false
  }
}

/** A neighbour of a span may touch it, but not begin before its end and end after its start. */
export function isWithin(span: Span, startMs: number, endMs: number): boolean {
  const isTouching = startMs >= span.startMs && startMs < span.endMs && endMs > span.startMs
  return isTouching && endMs <= span.endMs + JITTER_MS
}

/** Whether one of the two begins within the other and ends after it, by more than clock jitter. */
export function isCrossing(span: Span, startMs: number, endMs: number): boolean {
  if (startMs >= span.endMs - JITTER_MS || endMs <= span.startMs + JITTER_MS) return false
  const [beginsLaterMs, endsLaterMs] = [startMs - span.startMs, endMs - span.endMs]
  return Math.min(beginsLaterMs, endsLaterMs) > JITTER_MS || Math.max(beginsLaterMs, endsLaterMs) < -JITTER_MS
}
