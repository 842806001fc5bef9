const CR: u8 = 13

/** A column begins after the place that ends the previous one, which may be the end of the previous row. */
export class Field {
  @inline
  static start(place: u32, column: i32): u32 {
    return load<u32>(place + ((column - 1) << 2)) + 1
  }

  @inline
  static end<Order>(place: u32, column: i32): u32 {
    const end = load<u32>(place + (column << 2))
    if (column != changetype<Order>(0).last) return end
    const isCr = end > Field.start(place, column) && load<u8>(end - 1) == CR
    return end - u32(isCr)
  }
}
