import { CHART_BITS, LINE_SLOT_BYTES, LINE_SLOTS, LINE_TIMES_BYTES, LINE_UNIT_MS } from './layout'
import { reserve } from './heap'

// The time line: a window of buckets, one second wide times a power of two. Rows that end outside are left to the caller.

let slots: u32 = 0
let times: u32 = 0
let fromMs: i64 = 0
let lengthMs: u64 = 0
let shift: u32 = 0

export function prepareLine(): void {
  slots = reserve(LINE_SLOTS * LINE_SLOT_BYTES)
  times = reserve(LINE_SLOTS * LINE_TIMES_BYTES)
}

export function lineSlots(): u32 {
  return slots
}

export function lineTimes(): u32 {
  return times
}

/** Moves the window, whose buckets must be empty: each is LINE_UNIT_MS wide, times two to the power of `widening`. */
export function moveLine(startMs: i64, widening: u32): void {
  fromMs = startMs
  shift = widening
  lengthMs = u64(LINE_SLOTS * LINE_UNIT_MS) << widening
}

export class Line {
  /** The bucket of a time; LINE_SLOTS if there is none. */
  @inline
  static slotOf(endMs: i64): u32 {
    const sinceMs = u64(endMs - fromMs)
    return sinceMs >= lengthMs ? LINE_SLOTS : (u32(sinceMs) >> shift) / LINE_UNIT_MS
  }

  /** `threads` is -1 if the row does not have it. */
  @inline
  static count(slot: u32, failures: u32, threads: i32): void {
    const at = slots + slot * LINE_SLOT_BYTES
    store<u32>(at, load<u32>(at) + 1)
    store<u32>(at, load<u32>(at, 4) + failures, 4)
    const threadsMore = u32(threads + 1)
    if (threadsMore > load<u32>(at, 8)) store<u32>(at, threadsMore, 8)
  }

  @inline
  static countTime(slot: u32, elapsed: u32): void {
    Line.countTimeAt(times + slot * LINE_TIMES_BYTES, elapsed)
  }

  /** Counts a time among those at an address. */
  @inline
  static countTimeAt(address: u32, elapsed: u32): void {
    const octave = elapsed >> CHART_BITS == 0 ? 0 : 32 - CHART_BITS - clz(elapsed)
    const bucket = (octave << (CHART_BITS - 1)) + (elapsed >> octave)
    const at = address + (bucket << 2)
    store<u32>(at, load<u32>(at) + 1)
  }
}
