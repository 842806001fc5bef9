import type { TimeSeries } from '../../../src/analysis/results/figures/measurements.js'

export interface SeriesShape {
  readonly points: number
  readonly bucketMs?: number
  readonly throughput?: (index: number) => number
  readonly failures?: (index: number) => number
  /** p50 is half of it. */
  readonly p95Ms?: (index: number) => number | null
}

/** A run's course from functions of the bucket's number; without failures unless they are given. */
export function makeSeries(shape: SeriesShape): TimeSeries {
  const { points, bucketMs = 1000, throughput = () => 10, failures = () => 0, p95Ms = () => 400 } = shape
  const each = <T>(value: (index: number) => T): T[] =>
    Array.from({ length: points }, (_, index) => value(index))
  return {
    bucketMs,
    atMs: each((index) => index * bucketMs),
    throughput: each(throughput),
    failures: each(failures),
    p50Ms: each((index) => {
      const value = p95Ms(index)
      return value === null ? null : value / 2
    }),
    p95Ms: each(p95Ms),
    p99Ms: each(p95Ms),
    activeThreads: each(() => null)
  }
}
