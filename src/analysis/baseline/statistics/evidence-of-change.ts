import jstat from 'jstat'

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

const quantiles = new Map<string, number>()

/** The value that Student's t does not exceed with the given probability. */
export function tQuantile(probability: number, dof: number): number {
  if (probability === 0.5) return 0
  const key = `${probability} ${dof}`
  const known = quantiles.get(key) ?? jstat.studentt.inv(probability, dof)
  // Few levels and few degrees of freedom are used, but thousands of times.
  if (quantiles.size < 10_000) quantiles.set(key, known)
  return known
}

/** P(T > t). By the tail itself: one minus the rest would lose the digits of a small probability. */
export function tTail(t: number, dof: number): number {
  const beyond = t === 0 ? 0.5 : jstat.ibeta(dof / (dof + t * t), dof / 2, 0.5) / 2
  return t < 0 ? 1 - beyond : beyond
}

/**
 * Which of several findings are significant, so that on average at most a share of `level` of those called so are chance
 * (Benjamini and Hochberg, 1995). In the order given.
 */
export function benjaminiHochberg(ps: readonly number[], level: number): boolean[] {
  const sorted = [...ps].sort((a, b) => a - b)
  const last = sorted.findLastIndex((p, index) => p <= ((index + 1) / ps.length) * level)
  const most = sorted[last]
  return ps.map((p) => most !== undefined && p <= most)
}
