import { endOfLines } from './find-places'
import { LINES_AT, LINES_END, PLACES_AT, SKIPPED_BYTES, SKIPPED_LETTER, SKIPPED_NEXT } from './layout'
import { reserve } from './heap'

// Some files have many rows that nobody needs, known by the name in their first column: only the others are listed.

const HEADS: u32 = 256
const ROW_BYTES: u32 = 12

/** For each value of the letter that tells names apart, the first of them; each has the address of the next one. */
let heads: u32 = 0
let rows: u32 = 0

export function prepareSkipping(): void {
  heads = reserve(HEADS << 2)
  rows = reserve(((LINES_END - LINES_AT) / 4) * ROW_BYTES)
}

/** Leaves out rows that begin with a name: at this address, followed by a mask that is set where the name has bytes. */
export function skipRowsOf(name: u32): void {
  const head = headOf(name)
  store<u32>(name, load<u32>(head), SKIPPED_NEXT)
  store<u32>(head, name)
}

/** Where the list of rows begins. */
export function listStart(): u32 {
  return rows
}

/** Lists the rows that were found and are not left out: first place, last place, and number; returns where the list ends. */
export function listRows(): u32 {
  const linesEnd = endOfLines()
  let place: u32 = PLACES_AT
  let row = rows
  for (let line: u32 = LINES_AT; line < linesEnd; line += 4) {
    const last = load<u32>(line)
    store<u32>(row, place)
    store<u32>(row, last, 4)
    store<u32>(row, (line - LINES_AT) >> 2, 8)
    row += u32(!isSkipped(load<u32>(place - 4) + 1)) * ROW_BYTES
    place = last + 4
  }
  return row
}

function isSkipped(start: u32): bool {
  const first = v128.load(start)
  const second = v128.load(start, 16)
  for (let name = load<u32>(headOf(start)); name != 0; name = load<u32>(name, SKIPPED_NEXT)) {
    const one = v128.and(v128.xor(first, v128.load(name)), v128.load(name, SKIPPED_BYTES))
    const other = v128.and(v128.xor(second, v128.load(name, 16)), v128.load(name, SKIPPED_BYTES + 16))
    if (!v128.any_true(v128.or(one, other))) return true
  }
  return false
}

function headOf(start: u32): u32 {
  return heads + (u32(load<u8>(start, SKIPPED_LETTER)) << 2)
}
