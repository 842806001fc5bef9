import type { TimeSeries } from '../../results/figures/measurements.js'

/** A run over time in a few points of equal width. */
export interface ChartPoints {
  readonly widthMs: number
  /** Of the axis of time. */
  readonly unit: 'seconds' | 'minutes'
  /** Where the last point is on it. */
  readonly end: number
  readonly throughput: readonly number[]
  readonly failures: readonly number[]
  /** Undefined if no point has any. */
  readonly p50Ms: readonly number[] | undefined
  readonly p95Ms: readonly number[] | undefined
  /** True if points without samples were interpolated from their neighbours. */
  readonly hasGaps: boolean
}

/** More would only blur on a chart that is 700 pixels wide. */
const MOST_POINTS = 60
const SECOND = 1_000
const MINUTE = 60 * SECOND
const LONGEST_IN_SECONDS = 10 * MINUTE

/** Few enough points to draw; undefined if there are fewer than two, which make no line. */
export function chartPoints(series: TimeSeries): ChartPoints | undefined {
  const { bucketMs, atMs } = series
  const inMinutes = atMs.length * bucketMs > LONGEST_IN_SECONDS
  const factor = chooseFactor(atMs.length, bucketMs, inMinutes ? MINUTE / 4 : SECOND)
  const groups = groupsOf(atMs.length, factor)
  if (groups.length < 2) return undefined
  const weights = series.throughput
  const p50Ms = groups.map((group) => weightedMean(series.p50Ms, weights, group))
  const p95Ms = groups.map((group) => weightedMean(series.p95Ms, weights, group))
  return {
    widthMs: factor * bucketMs,
    unit: inMinutes ? 'minutes' : 'seconds',
    end: ((groups.length - 1) * factor * bucketMs) / (inMinutes ? MINUTE : SECOND),
    throughput: groups.map((group) => sum(series.throughput, group) / group.length),
    failures: groups.map((group) => sum(series.failures, group)),
    p50Ms: joinGaps(p50Ms),
    p95Ms: joinGaps(p95Ms),
    hasGaps: p95Ms.includes(undefined)
  }
}

/**
 * How many buckets make a point. Its width is a multiple of the grain, which has no rounding error in the axis' unit: old
 * versions of Mermaid add it up from point to point, and a sum beyond the axis' end loses the last point.
 */
function chooseFactor(count: number, bucketMs: number, grainMs: number): number {
  const least = Math.max(1, Math.ceil(count / MOST_POINTS))
  let factor = least
  while ((factor * bucketMs) % grainMs !== 0 && factor < count) factor++
  return factor < count ? factor : least
}

function groupsOf(count: number, factor: number): number[][] {
  return Array.from({ length: Math.ceil(count / factor) }, (_, group) =>
    Array.from({ length: Math.min(factor, count - group * factor) }, (_, index) => group * factor + index)
  )
}

function sum(values: readonly number[], group: readonly number[]): number {
  return group.reduce((total, index) => total + finite(values[index]), 0)
}

/** Percentiles of parts do not add up to that of the whole; their mean weighted by samples is close and hides nothing. */
function weightedMean(
  values: readonly (number | null)[],
  weights: readonly number[],
  group: readonly number[]
): number | undefined {
  const known = group.filter((index) => Number.isFinite(values[index] ?? NaN) && finite(weights[index]) > 0)
  const weight = sum(weights, known)
  if (weight === 0) return undefined
  return known.reduce((total, index) => total + finite(values[index]) * finite(weights[index]), 0) / weight
}

/** A Mermaid line has no gaps: missing points are interpolated from their neighbours. */
function joinGaps(values: readonly (number | undefined)[]): number[] | undefined {
  const known = values.flatMap((value, at) => (value === undefined ? [] : [{ at, value }]))
  const [first] = known
  if (first === undefined) return undefined
  return values.map((value, at) => {
    if (value !== undefined) return value
    const before = known.findLast((point) => point.at < at) ?? first
    const after = known.find((point) => point.at > at) ?? before
    const share = after.at === before.at ? 0 : (at - before.at) / (after.at - before.at)
    return before.value + (after.value - before.value) * Math.min(1, Math.max(0, share))
  })
}

function finite(value: number | null | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
