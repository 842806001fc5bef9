import type { Silence, Stall } from './find-stalls.js'

/** How many stalls of a scope a recorded run keeps. */
export const MOST_RECORDED = 100

/** What requests that arrive at a random moment would have waited at least, by the stalls of a scope. */
export class OverTime {
  /** Descending. */
  readonly #lengthsMs: readonly number[]

  constructor(
    readonly stalls: readonly Stall[],
    /** The two longest, the longest first. */
    readonly silences: readonly Silence[],
    /** From the first start to the last end. */
    readonly spanMs: number,
    /** How many threads there were in all; undefined if unknown. */
    readonly threads: number | undefined
  ) {
    this.#lengthsMs = stalls.map(({ ms }) => ms).sort((one, other) => other - one)
  }

  /** With two threads in all, one slow request and its neighbour look like a stall. */
  get isFew(): boolean {
    return this.threads !== undefined && this.threads <= 2
  }

  /** By the longest stalls alone, which are all that is recorded of a run. */
  asRecorded(): OverTime {
    if (this.stalls.length <= MOST_RECORDED) return this
    const longest = [...this.stalls].sort((one, other) => other.ms - one.ms).slice(0, MOST_RECORDED)
    return new OverTime(longest, this.silences, this.spanMs, this.threads)
  }

  /** The smallest wait that at most so many of the moments exceed; whole ms, rounded down: it is a lower bound. */
  percentileMs(percent: number): number {
    const allowedMs = (this.spanMs * (100 - percent)) / 100
    let sumMs = 0
    let waitMs = 0
    for (const [index, ms] of this.#lengthsMs.entries()) {
      if (ms <= waitMs) break
      sumMs += ms
      waitMs = Math.max(waitMs, (sumMs - allowedMs) / (index + 1))
    }
    return Math.floor(waitMs)
  }

  /** The share of moments at which a request would have waited longer. */
  shareAbove(waitMs: number): number {
    if (this.spanMs <= 0) return 0
    return this.#lengthsMs.reduce((sum, ms) => sum + Math.max(0, ms - waitMs), 0) / this.spanMs
  }

  /** Satisfied up to the target, tolerating up to four times the target: it is at most this. */
  apdex(targetMs: number): number {
    return 1 - this.shareAbove(targetMs) / 2 - this.shareAbove(4 * targetMs) / 2
  }
}
