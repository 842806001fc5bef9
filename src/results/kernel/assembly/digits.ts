/** Eight digits in eight bytes at once, the first in the lowest byte; fewer digits have zeros in front. */
export class Digits {
  /** The digits of up to eight bytes as numbers; none at all is not allowed. */
  @inline
  static read(start: u32, length: u32): u64 {
    return (load<u64>(start) ^ 0x3030303030303030) << (64 - (u64(length) << 3))
  }

  /** Sets the highest bit of bytes that are no digits; what the other bits are does not matter. */
  @inline
  static faults(digits: u64): u64 {
    return digits | (digits + 0x7676767676767676)
  }

  /** Neighbours are joined to two, four and eight digits by one multiplication each. */
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
