/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { LINE_SLOT_BYTES, LINE_SLOTS, LINE_TIMES_BYTES, LINE_UNIT_MS } from './assembly/layout.js'
import type { KernelExports } from './kernel-module.js'
import type { KernelMemory } from './kernel-memory.js'
import type { TimeLine } from '../counts/time-line.js'

/** Space before the first row, for late ones. The rest is a few more than a time line can have. */
const SLOTS_BEFORE = 8
/** Wider buckets would not fit the kernel's numbers; narrower ones than the time line's are harmless. */
const MAX_SHIFT = 12
/** A single outlier is no reason to move; many are. */
const MISSES_TO_MOVE = 256

/** The part of the time line that the kernel counts in: a window that moves if too many rows miss it. */
export class KernelLine {
  readonly #exports: KernelExports
  readonly #memory: KernelMemory
  readonly #slots: number
  readonly #times: number
  #misses = MISSES_TO_MOVE
  #fromMs = 0
  #bucketMs = LINE_UNIT_MS

  constructor(exports: KernelExports, memory: KernelMemory) {
    this.#exports = exports
    this.#memory = memory
    this.#slots = exports.lineSlots()
    this.#times = exports.lineTimes()
  }

  miss(): void {
    this.#misses++
  }

  /** Moves to where the time line is, if it is worthwhile. */
  follow(line: TimeLine): void {
    if (this.#misses < MISSES_TO_MOVE) return
    this.moveTo(line)
    if (line.startMs === undefined) return
    this.#misses = 0
    const shift = Math.min(MAX_SHIFT, Math.log2(line.bucketMs / LINE_UNIT_MS))
    this.#bucketMs = LINE_UNIT_MS * 2 ** shift
    this.#fromMs = line.startMs - SLOTS_BEFORE * this.#bucketMs
    this.#exports.moveLine(BigInt(this.#fromMs), shift)
  }

  /** Transfers what was counted. */
  moveTo(line: TimeLine): void {
    const { ints } = this.#memory
    for (let slot = 0; slot < LINE_SLOTS; slot++) {
      const at = (this.#slots + slot * LINE_SLOT_BYTES) / 4
      const [samples, failures, threads] = [ints[at]!, ints[at + 1]!, ints[at + 2]! - 1]
      if (samples === 0) continue
      const timesAt = (this.#times + slot * LINE_TIMES_BYTES) / 4
      const times = ints.subarray(timesAt, timesAt + LINE_TIMES_BYTES / 4)
      const atMs = this.#fromMs + slot * this.#bucketMs
      line.absorb({ atMs, samples, failures, threads, times })
      ints.fill(0, at, at + LINE_SLOT_BYTES / 4)
      times.fill(0)
    }
  }
}
