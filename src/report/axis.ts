import type { Measurements, TimeSeries } from '../results/figures/measurements.js'

/**
 * When the first bucket of the series begins. Undefined if there is no common axis of time: the series of several runs has no gaps
 * between them, so it is shorter than the time from first to last.
 */
export function findOrigin({ series, startMs, endMs = NaN }: Measurements): number | undefined {
  if (series === undefined || startMs === undefined) return undefined
  const originMs = bucketStart(startMs, series)
  return endMs <= originMs + series.atMs.length * series.bucketMs ? originMs : undefined
}

/** Buckets begin at multiples of their width. */
export function bucketStart(atMs: number, { bucketMs }: Pick<TimeSeries, 'bucketMs'>): number {
  return Math.floor(atMs / bucketMs) * bucketMs
}
