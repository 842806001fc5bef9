import {
  INDEXED_ALL,
  INDEXED_FAULT,
  INDEXED_FULL,
  LINES_AT,
  LINES_END,
  PLACES_AT,
  PLACES_END
} from './layout'

// The first pass: finds the unquoted delimiters and line breaks, 64 bytes at a time, and records where they are. So
// the second pass knows where every column of a row is without reading the columns before it.

const LF: i8 = 10
const QUOTE: i8 = 34
/** About nine of 64 bytes of a typical CSV are delimiters: this many are written without checking how many there are. */
const WRITTEN_BLINDLY = 12

let linesEnd: u32 = LINES_AT

/** Where the list of line breaks ends. */
export function endOfLines(): u32 {
  return linesEnd
}

/** Reads from the start of a row at `from` up to `to`; returns why it stopped, one of INDEXED. */
export function findPlaces(from: u32, to: u32, delimiter: i8): i32 {
  let place: u32 = PLACES_AT
  let line: u32 = LINES_AT
  let wasInside: u64 = 0
  let wasClosed: u64 = 0
  let wasEnd: u64 = 1
  let state = INDEXED_ALL
  // As if the previous row had ended there: then every column begins after a place.
  store<u32>(PLACES_AT - 4, from - 1)
  for (let base = from; base < to; base += 64) {
    if (place >= u32(PLACES_END) || line >= u32(LINES_END)) {
      state = INDEXED_FULL
      break
    }
    const a = v128.load(base)
    const b = v128.load(base, 16)
    const c = v128.load(base, 32)
    const d = v128.load(base, 48)
    let valid: u64 = -1
    if (to - base < 64) valid = (u64(1) << u64(to - base)) - 1
    let breaks = Bits.equal(a, b, c, d, LF) & valid
    let ends = (Bits.equal(a, b, c, d, delimiter) & valid) | breaks
    const quotes = Bits.equal(a, b, c, d, QUOTE) & valid
    const around = ends | quotes
    let faults: u64 = 0
    if ((quotes | wasInside | wasClosed) != 0) {
      // Every quote toggles inside and outside; a doubled quote within a field does so twice. That is right as long as a field is
      // only opened at its start and closed at its end: any other quote is a fault.
      const inner = Bits.spread(quotes) ^ wasInside
      const closing = quotes & ~inner
      const opensWithin = quotes & inner & ~((around << 1) | wasEnd)
      const goesOn = ((closing << 1) | wasClosed) & ~around & valid
      faults = opensWithin | goesOn
      wasInside = u64(i64(inner) >> 63)
      wasClosed = closing >> 63
      ends &= ~inner
      breaks &= ~inner
    }
    wasEnd = around >> 63
    const least = i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d))
    if (!i8x16.all_true(least)) faults |= Bits.equal(a, b, c, d, 0) & valid
    if (faults != 0) {
      // What comes after a fault is unreliable.
      const before = Bits.belowLowest(faults)
      ends &= before
      breaks &= before
    }
    while (breaks != 0) {
      store<u32>(line, place + (u32(popcnt(ends & Bits.belowLowest(breaks))) << 2))
      line += 4
      breaks &= breaks - 1
    }
    const next = place + (u32(popcnt(ends)) << 2)
    for (let i = 0; i < WRITTEN_BLINDLY; i++) {
      store<u32>(place + (i << 2), base + u32(ctz(ends)))
      ends &= ends - 1
    }
    for (place += WRITTEN_BLINDLY << 2; ends != 0; place += 4) {
      store<u32>(place, base + u32(ctz(ends)))
      ends &= ends - 1
    }
    place = next
    if (faults != 0) {
      state = INDEXED_FAULT
      break
    }
  }
  linesEnd = line
  return state
}

/** One bit for each of 64 bytes. */
class Bits {
  /** Which of the bytes equal the given one. */
  @inline
  static equal(a: v128, b: v128, c: v128, d: v128, byte: i8): u64 {
    const wanted = i8x16.splat(byte)
    return (
      u64(u32(i8x16.bitmask(i8x16.eq(a, wanted)))) |
      (u64(u32(i8x16.bitmask(i8x16.eq(b, wanted)))) << 16) |
      (u64(u32(i8x16.bitmask(i8x16.eq(c, wanted)))) << 32) |
      (u64(u32(i8x16.bitmask(i8x16.eq(d, wanted)))) << 48)
    )
  }

  /** Each bit toggles all bits from itself on. */
  @inline
  static spread(bits: u64): u64 {
    bits ^= bits << 1
    bits ^= bits << 2
    bits ^= bits << 4
    bits ^= bits << 8
    bits ^= bits << 16
    return bits ^ (bits << 32)
  }

  @inline
  static belowLowest(bits: u64): u64 {
    return (bits & -bits) - 1
  }
}
