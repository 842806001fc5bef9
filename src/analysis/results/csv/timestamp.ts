/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const ZERO = 48
const MAX_DATE_LENGTH = 40
const latin1 = new TextDecoder('latin1')

/** The whole number in plain digits from `start` to `end`; -1 for anything else. */
export function readDigits(buffer: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length < 10) return readShortDigits(buffer, start, end)
  if (length > 15) return -1
  // In two halves, each a small integer: one long floating-point multiplication would take twice as long.
  const high = readShortDigits(buffer, start, end - 6)
  const low = readShortDigits(buffer, end - 6, end)
  return high < 0 || low < 0 ? -1 : high * 1e6 + low
}

function readShortDigits(buffer: Uint8Array, start: number, end: number): number {
  if (start === end) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = buffer[i]! - ZERO
    if (digit < 0 || digit > 9) return -1
    value = (value * 10 + digit) | 0
  }
  return value
}

/** Epoch ms of a time stamp, in digits or as a date; -1 for anything else. */
export function readTimestamp(buffer: Uint8Array, start: number, end: number): number {
  const epochMs = readDigits(buffer, start, end)
  if (epochMs >= 0 || end - start > MAX_DATE_LENGTH) return epochMs
  return readDate(latin1.decode(buffer.subarray(start, end))) ?? -1
}

const DATE =
  /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)? ?(Z|UTC|[+-]\d{2}:?\d{2})?$/

/** Whether a time stamp is a date that does not say in which zone; undefined if it is neither date nor digits. */
export function lacksZone(buffer: Uint8Array, start: number, end: number): boolean | undefined {
  if (end - start > MAX_DATE_LENGTH) return undefined
  if (readDigits(buffer, start, end) >= 0) return false
  const found = DATE.exec(latin1.decode(buffer.subarray(start, end)))
  return found === null ? undefined : found[8] === undefined
}

/** Epoch ms of a date written year first, in UTC unless it has an offset; undefined if it is not a date. */
export function readDate(text: string): number | undefined {
  const found = DATE.exec(text)
  if (found === null) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset = 'Z'] = found
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // Date.UTC turns 31 February into a day in March.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const timeMs = Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000
  return date.getTime() + timeMs + Number(fraction.padEnd(3, '0').slice(0, 3)) - offsetMs(offset)
}

function offsetMs(offset: string): number {
  const found = /^([+-])(\d{2}):?(\d{2})$/.exec(offset)
  if (found === null) return 0
  const minutes = Number(found[2]) * 60 + Number(found[3])
  return (found[1] === '-' ? -minutes : minutes) * 60_000
}
