/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { LEAST_STALL_MS } from '../kernel/assembly/layout.js'
import { EndTimes, type EndTimesScan } from './end-times.js'

/** What is kept of the rows of a scope to find out when nothing was answered. */
export interface StallScan {
  readonly ends: EndTimesScan
  readonly firstStartMs: number
  readonly lastStartMs: number
  readonly lastEndMs: number
  /** Stalls that are shorter cannot be found. */
  readonly leastMs: number
  /** Rows that may have waited in a stall: every one that did is among them. */
  readonly long: LongRowsScan
}

/** Lists of equal length. */
export interface LongRowsScan {
  readonly startMs: Float64Array
  readonly endMs: Float64Array
  /** Numbers of the CSV's threads; negative ones are unknown, each another thread. */
  readonly thread: Int32Array
  readonly label: Int32Array
}

/** A row that may have waited in a stall. */
export interface LongRow {
  readonly startMs: number
  readonly endMs: number
  readonly label: number
  readonly thread: number
}

/** What another counter of the same rows has seen. */
export type AbsorbedEnds = Pick<StallScan, 'ends' | 'firstStartMs' | 'lastStartMs' | 'lastEndMs'>

const FIRST_ROWS = 64
/** 24 bytes each. With more, only longer stalls are looked for: what is found is a lower bound anyway. */
const MOST_ROWS = 1 << 20

/** Follows the rows of one scope. Rows are never kept, but those that may have waited in a stall. */
export class StallTracker {
  readonly #ends = new EndTimes()
  readonly #span = new Float64Array([Infinity, -Infinity, -Infinity])
  #leastMs = LEAST_STALL_MS
  #size = 0
  #startMs = new Float64Array(FIRST_ROWS)
  #endMs = new Float64Array(FIRST_ROWS)
  #thread = new Int32Array(FIRST_ROWS)
  #label = new Int32Array(FIRST_ROWS)

  get leastMs(): number {
    return this.#leastMs
  }

  /** Returns whether the row may have waited in a stall, so that `keep` must follow. */
  add(startMs: number, endMs: number): boolean {
    if (startMs < this.#span[0]!) this.#span[0] = startMs
    if (startMs > this.#span[1]!) this.#span[1] = startMs
    if (endMs > this.#span[2]!) this.#span[2] = endMs
    this.#ends.add(endMs)
    return endMs - startMs >= this.#leastMs && this.#ends.hasQuiet(startMs, endMs)
  }

  keep({ startMs, endMs, label, thread }: LongRow): void {
    if (endMs - startMs < this.#leastMs) return
    if (this.#size === this.#startMs.length) this.#makeRoom()
    this.#startMs[this.#size] = startMs
    this.#endMs[this.#size] = endMs
    this.#thread[this.#size] = thread
    this.#label[this.#size++] = label
  }

  toScan(other?: AbsorbedEnds): StallScan {
    if (other !== undefined) this.#ends.absorb(other.ends)
    const [firstStartMs, lastStartMs, lastEndMs] = this.#span
    return {
      ends: this.#ends.toScan(),
      firstStartMs: Math.min(firstStartMs!, other?.firstStartMs ?? Infinity),
      lastStartMs: Math.max(lastStartMs!, other?.lastStartMs ?? -Infinity),
      lastEndMs: Math.max(lastEndMs!, other?.lastEndMs ?? -Infinity),
      leastMs: this.#leastMs,
      long: {
        startMs: this.#startMs.slice(0, this.#size),
        endMs: this.#endMs.slice(0, this.#size),
        thread: this.#thread.slice(0, this.#size),
        label: this.#label.slice(0, this.#size)
      }
    }
  }

  #makeRoom(): void {
    if (this.#size < MOST_ROWS) {
      const room = this.#size * 2
      this.#startMs = grow(this.#startMs, new Float64Array(room))
      this.#endMs = grow(this.#endMs, new Float64Array(room))
      this.#thread = grow(this.#thread, new Int32Array(room))
      this.#label = grow(this.#label, new Int32Array(room))
      return
    }
    while (this.#size === MOST_ROWS) this.#dropShort()
  }

  /** Rows that are shorter than a stall cannot have waited in it. */
  #dropShort(): void {
    this.#leastMs *= 2
    let size = 0
    for (let i = 0; i < this.#size; i++) {
      if (this.#endMs[i]! - this.#startMs[i]! < this.#leastMs) continue
      this.#startMs[size] = this.#startMs[i]!
      this.#endMs[size] = this.#endMs[i]!
      this.#thread[size] = this.#thread[i]!
      this.#label[size++] = this.#label[i]!
    }
    this.#size = size
  }
}

function grow<List extends Float64Array | Int32Array>(from: List, to: List): List {
  to.set(from)
  return to
}
