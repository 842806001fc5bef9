/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into the list is in range by construction */

/** The first index below `size` of an ascending list whose number is above `limit`, or `size`. */
export function firstAbove(list: Float64Array, size: number, limit: number): number {
  let low = 0
  let high = size
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
