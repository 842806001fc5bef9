import type { Operator, Threshold } from '../grammar/threshold.js'

/** Averages and rates carry the noise of their last binary digits; real differences are far larger than this. */
const NOISE = 1e-12

/** Negative when the value is below the limit, 0 when they are equal but for the noise of arithmetic. */
export function compareToLimit(value: number, limit: number): number {
  const difference = value - limit
  const isNoise = Math.abs(difference) <= NOISE * Math.max(Math.abs(value), Math.abs(limit))
  return isNoise ? 0 : difference
}

/** Says whether the value keeps to the threshold. Anything but a number never does. */
export function holds(value: number, { operator, value: limit }: Threshold): boolean {
  const difference = compareToLimit(value, limit)
  const isHeld: Record<Operator, boolean> = {
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
    '==': difference === 0
  }
  return isHeld[operator]
}

/** Distance to the limit in base units: positive is room left, negative is overstepped. */
export function measureRoom(value: number, { operator, value: limit }: Threshold): number {
  const difference = compareToLimit(value, limit)
  if (operator === '==') return difference === 0 ? 0 : -Math.abs(difference)
  const room = operator === '<' || operator === '<=' ? -difference : difference
  return room === 0 ? 0 : room
}
