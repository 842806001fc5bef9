/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into the list is in range by construction */

/** The first index from `from` to below `to` of an ascending list whose number is above `limit`, or `to`. */
export function firstAbove(
  list: Float64Array | Uint32Array | Uint16Array,
  from: number,
  to: number,
  limit: number
): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! > limit) high = middle
    else low = middle + 1
  }
  return low
}

/** The longer list, with the numbers of the other one. */
export function grow<
  List extends Int8Array | Uint8Array | Int16Array | Int32Array | Uint32Array | Float64Array
>(from: List, to: List): List {
  to.set(from)
  return to
}
