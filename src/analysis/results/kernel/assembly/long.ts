import { reserve } from './heap'
import { LEAST_STALL_MS, LONG_BYTES, MOST_LONG } from './layout'

// Rows that may have waited in a stall: every one that did is among them.

const FIRST_ROWS: u32 = 1024

/** Stalls that are shorter cannot be found. */
export let leastMs: i64 = LEAST_STALL_MS

let rows: u32 = 0
let next: u32 = 0
let end: u32 = 0

export function leastStall(): i32 {
  return i32(leastMs)
}

export function longRows(): u32 {
  return rows
}

export function longRowsStop(): u32 {
  return next
}

export function keepLong(startMs: i64, elapsed: u32, label: u32, thread: u32, scope: u32): void {
  if (next == end) makeRoom()
  store<i64>(next, startMs)
  store<u32>(next, elapsed, 8)
  store<u32>(next, label, 12)
  store<u32>(next, thread, 16)
  store<u32>(next, scope, 20)
  next += LONG_BYTES
}

function makeRoom(): void {
  const size = (end - rows) / LONG_BYTES
  if (size >= u32(MOST_LONG)) {
    while (next == end) dropShort()
    return
  }
  const room = max(FIRST_ROWS, size * 2) * LONG_BYTES
  const grown = reserve(room)
  memory.copy(grown, rows, next - rows)
  next = grown + (next - rows)
  rows = grown
  end = grown + room
}

/** Rows that are shorter than a stall cannot have waited in it. */
function dropShort(): void {
  leastMs *= 2
  let kept = rows
  for (let row = rows; row < next; row += LONG_BYTES) {
    if (load<u32>(row, 8) < u32(leastMs)) continue
    memory.copy(kept, row, LONG_BYTES)
    kept += LONG_BYTES
  }
  next = kept
}
