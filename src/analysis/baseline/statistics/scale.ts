import type { Allowance } from '../../thresholds/grammar/threshold.js'
import { factsOf, type BaselineRule, type Metric } from '../../thresholds/metrics.js'

/** Tools write whole milliseconds, so a time of 0 ms is one of less than half of it. */
const LEAST_MS = 0.5

/** How a figure is turned into a number that noise is added to, where up is worse. */
export interface Scale {
  readonly kind: BaselineRule['scale']
  /** Relative figures are compared by their logarithm. */
  readonly isRelative: boolean
  /** Whether a larger figure is worse (1) or better (-1). */
  readonly sign: 1 | -1
  /** Side by side, smaller differences between two servers do not count. */
  readonly floor: number
}

export const SCALES = {
  time: { kind: 'time', isRelative: true, sign: 1, floor: 0.01 },
  throughput: { kind: 'throughput', isRelative: true, sign: -1, floor: 0.01 },
  error_rate: { kind: 'error_rate', isRelative: false, sign: 1, floor: 0.001 },
  apdex: { kind: 'apdex', isRelative: false, sign: -1, floor: 0.005 }
} as const satisfies Record<Scale['kind'], Scale>

export function scaleOf(metric: Metric): Scale {
  const { baseline } = factsOf({ metric })
  return SCALES[typeof baseline === 'string' ? 'time' : baseline.scale]
}

/** Undefined for what cannot be a figure: there is no throughput of 0 with samples. */
export function toScale({ kind, isRelative, sign }: Scale, figure: number | undefined): number | undefined {
  if (figure === undefined || !Number.isFinite(figure) || figure < 0) return undefined
  if (!isRelative) return sign * figure
  if (kind === 'time') return Math.log(Math.max(figure, LEAST_MS))
  return figure > 0 ? sign * Math.log(figure) : undefined
}

export function fromScale({ isRelative, sign }: Scale, y: number): number {
  return isRelative ? Math.exp(sign * y) : sign * y
}

export function limitFor({ sign }: Scale, base: number, { ratio = 0, amount = 0 }: Allowance): number {
  return base + sign * Math.max(ratio * base, amount)
}

export function allowsAnything({ kind }: Scale, limit: number): boolean {
  if (kind === 'time') return false
  return kind === 'error_rate' ? limit >= 1 : limit <= 0
}

/** How far the limit is from the base on the scale; infinite if no figure is that bad. */
export function limitOnScale(scale: Scale, base: number, allowance: Allowance): number {
  const from = scale.kind === 'time' ? Math.max(base, LEAST_MS) : base
  const limit = limitFor(scale, from, allowance)
  if (!scale.isRelative) return scale.sign * (limit - from)
  return limit > 0 ? scale.sign * Math.log(limit / from) : Infinity
}

/** A change on the scale as people read it, with the sign of the figure: percent, percentage points, or hundredths. */
export function asChangePct({ isRelative, sign }: Scale, delta: number): number {
  return (isRelative ? Math.expm1(sign * delta) : sign * delta) * 100
}
