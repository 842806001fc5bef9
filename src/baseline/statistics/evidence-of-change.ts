import { tQuantile, tTail } from './student-t.js'

/** One-sided, for a single line and for all of them together. */
export const LEVEL = 0.01

/** The standard normal distribution exceeds its mean by less than this nine times out of ten. */
const Z_NINE_IN_TEN = 1.28

/** How far the head is from its base, on a scale where up is worse. */
export interface Change {
  readonly delta: number
  readonly se: number
  readonly dof: number
  /** How likely so large a change is if there is none. */
  readonly p: number
  /** One-sided at 1 % on each side. */
  readonly interval: readonly [low: number, high: number]
  /** The smallest change that is found nine times out of ten. */
  readonly resolution: number
}

export function assessChange(delta: number, se: number, dof: number): Change {
  const quantile = tQuantile(1 - LEVEL, dof)
  return {
    delta,
    se,
    dof,
    // Without any spread the smallest difference is one.
    p: tTail(delta === 0 ? 0 : delta / se, dof),
    interval: [delta - quantile * se, delta + quantile * se],
    resolution: (quantile + Z_NINE_IN_TEN) * se
  }
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
