/** Eight digits in eight bytes at once, the first in the lowest byte; fewer digits are padded with zeros in front. */
export class Digits {
  /** The digits of one to eight bytes as numbers. */
  @inline
  static read(start: u32, length: u32): u64 {
    return (load<u64>(start) ^ 0x3030303030303030) << (64 - (u64(length) << 3))
  }

  /** Sets the highest bit of bytes that are not digits; the other bits are arbitrary. */
  @inline
  static faults(digits: u64): u64 {
    return digits | (digits + 0x7676767676767676)
  }

  /** Joins neighbours to two, four and eight digits with one multiplication each. */
  @inline
  static join(digits: u64): u32 {
    const two = ((digits * 2561) >> 8) & 0x00ff00ff00ff00ff
    const four = ((two * 6553601) >> 16) & 0x0000ffff0000ffff
    return u32((four * 42949672960001) >> 32)
  }

  @inline
  static isFaulty(faults: u64): bool {
    return (faults & 0x8080808080808080) != 0
  }
}
