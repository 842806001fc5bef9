/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { LEAST_STALL_MS, MOST_LONG } from '../kernel/assembly/layout.js'
import { grow } from '../typed-arrays.js'
import { EndTimes, type EndTimesScan } from './end-times.js'

/** What is kept of the rows of a scope to find out when nothing was answered. */
export interface StallScan {
  readonly ends: EndTimesScan
  readonly firstStartMs: number
  readonly lastStartMs: number
  readonly lastEndMs: number
  /** Stalls that are shorter cannot be found; Infinity if not all ends could be kept. */
  readonly leastMs: number
  /** Rows that may have waited in a stall: every one that did is among them. */
  readonly long: LongRowsScan
}

/** Lists of equal length. */
export interface LongRowsScan {
  readonly startMs: Float64Array
  readonly endMs: Float64Array
  /** Hashes of the threads' names; 0 is unknown, each another thread. */
  readonly thread: Uint32Array
  readonly label: Int32Array
}

const FIRST_ROWS = 64

/** Follows the rows of one scope. Rows are never kept, but those that may have waited in a stall. */
export class StallTracker {
  readonly #ends = new EndTimes()
  readonly #span = new Float64Array([Infinity, -Infinity, -Infinity])
  #leastMs = LEAST_STALL_MS
  #size = 0
  #startMs = new Float64Array(FIRST_ROWS)
  #endMs = new Float64Array(FIRST_ROWS)
  #thread = new Uint32Array(FIRST_ROWS)
  #label = new Int32Array(FIRST_ROWS)

  // Four plain numbers, because one object per row is too many. The thread is a hash.
  add(startMs: number, endMs: number, label: number, thread: number): void {
    if (startMs < this.#span[0]!) this.#span[0] = startMs
    if (startMs > this.#span[1]!) this.#span[1] = startMs
    if (endMs > this.#span[2]!) this.#span[2] = endMs
    this.#ends.add(endMs)
    if (endMs - startMs >= this.#leastMs && this.#ends.hasQuiet(startMs, endMs))
      this.#keep(startMs, endMs, label, thread)
  }

  #keep(startMs: number, endMs: number, label: number, thread: number): void {
    if (this.#size === this.#startMs.length) this.#makeRoom()
    this.#startMs[this.#size] = startMs
    this.#endMs[this.#size] = endMs
    this.#thread[this.#size] = thread
    this.#label[this.#size++] = label
  }

  toScan(): StallScan {
    const [firstStartMs, lastStartMs, lastEndMs] = this.#span
    return {
      ends: this.#ends.toScan(),
      firstStartMs: firstStartMs!,
      lastStartMs: lastStartMs!,
      lastEndMs: lastEndMs!,
      leastMs: this.#ends.isCut ? Infinity : this.#leastMs,
      long: {
        startMs: this.#startMs.slice(0, this.#size),
        endMs: this.#endMs.slice(0, this.#size),
        thread: this.#thread.slice(0, this.#size),
        label: this.#label.slice(0, this.#size)
      }
    }
  }

  #makeRoom(): void {
    if (this.#size < MOST_LONG) {
      const room = this.#size * 2
      this.#startMs = grow(this.#startMs, new Float64Array(room))
      this.#endMs = grow(this.#endMs, new Float64Array(room))
      this.#thread = grow(this.#thread, new Uint32Array(room))
      this.#label = grow(this.#label, new Int32Array(room))
      return
    }
    while (this.#size === MOST_LONG) this.#dropShort()
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
