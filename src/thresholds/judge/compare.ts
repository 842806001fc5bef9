import type { AbsoluteThreshold, Operator } from '../grammar/threshold.js'

/** Averages and rates have rounding noise in their last bits; real differences are far larger than this. */
const NOISE = 1e-12

/** Negative if the value is below the limit, 0 if they are equal except for rounding noise. */
export function compareToLimit(value: number, limit: number): number {
  const difference = value - limit
  const isNoise = Math.abs(difference) <= NOISE * Math.max(Math.abs(value), Math.abs(limit))
  return isNoise ? 0 : difference
}

/** Whether the value meets the threshold. Anything but a number never does. */
export function holds(
  value: number,
  { operator, value: limit }: Pick<AbsoluteThreshold, 'operator' | 'value'>
): boolean {
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

/** Distance to the limit in base units: positive if it holds, negative if it is exceeded. */
export function measureRoom(value: number, { operator, value: limit }: AbsoluteThreshold): number {
  const difference = compareToLimit(value, limit)
  if (operator === '==') return difference === 0 ? 0 : -Math.abs(difference)
  const room = operator === '<' || operator === '<=' ? -difference : difference
  return room === 0 ? 0 : room
}
