/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { Distribution, type Run } from '../counts/distribution.js'
import { orZero, samplesOf } from './tidy-figures.js'
import { MAX_BUCKETS } from '../counts/time-line.js'
import type { TimeSeries } from './measurements.js'
import type { TidyBucket, TimeLineScan } from '../counts/scan-result.js'

interface Point {
  samples: number
  failures: number
  threads: number | null
  readonly times: Run[]
}

export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** A sample counts where it ended. Threads are a bucket's most, summed over the grids; a list in `grids` has one grid's stretches. */
export function drawSamples(grids: readonly (readonly TimeLineScan[])[], span: Span): TimeSeries | undefined {
  const axis = axisOf(grids.flat(), span)
  if (axis === undefined) return undefined
  const { bucketMs, first } = axis
  const points = makePoints(bucketMs, span)
  for (const grid of grids) {
    const threads = new Map<number, number>()
    for (const line of grid)
      line.buckets.forEach((bucket, i) => {
        const at = Math.floor((bucket * line.bucketMs) / bucketMs) - first
        const point = points[at]!
        point.samples += line.samples[i]!
        point.failures += line.failures[i]!
        point.times.push({ runs: line.times, index: i })
        if (line.threads[i]! >= 0) threads.set(at, Math.max(threads.get(at) ?? 0, line.threads[i]!))
      })
    for (const [at, most] of threads) points[at]!.threads = (points[at]!.threads ?? 0) + most
  }
  return toSeries(points, bucketMs)
}

/** The buckets of the series of these lines: their width, the number of the first one, and how many there are; undefined without samples. */
export function axisOf(lines: readonly TimeLineScan[], span: Span) {
  if (!lines.some(({ buckets }) => buckets.length > 0)) return undefined
  const bucketMs = fitWidth(Math.max(...lines.map((line) => line.bucketMs)), span)
  const first = Math.floor(span.startMs / bucketMs)
  return { bucketMs, first, buckets: Math.floor(span.endMs / bucketMs) - first + 1 }
}

/** The series of tidy CSVs: they have no percentiles, and their users are shown as threads. */
export function drawTidy(
  buckets: readonly TidyBucket[],
  bucketMs: number,
  span: Span
): TimeSeries | undefined {
  if (buckets.length === 0) return undefined
  const widthMs = fitWidth(bucketMs, span)
  const points = makePoints(widthMs, span)
  const first = Math.floor(span.startMs / widthMs)
  const users = new Map<number, Map<number, number>>()
  for (const bucket of buckets) {
    const at = Math.floor(bucket.atMs / widthMs) - first
    points[at]!.samples += samplesOf(bucket)
    points[at]!.failures += orZero(bucket.failed)
    if (Number.isNaN(bucket.users)) continue
    const byTime = users.get(at) ?? new Map<number, number>()
    users.set(at, byTime.set(bucket.atMs, (byTime.get(bucket.atMs) ?? 0) + bucket.users))
  }
  for (const [at, byTime] of users) points[at]!.threads = Math.max(...byTime.values())
  return toSeries(points, widthMs)
}

function fitWidth(widthMs: number, span: Span): number {
  let fitting = widthMs
  while (Math.floor(span.endMs / fitting) - Math.floor(span.startMs / fitting) >= MAX_BUCKETS) fitting *= 2
  return fitting
}

function makePoints(bucketMs: number, { startMs, endMs }: Span): Point[] {
  const length = Math.floor(endMs / bucketMs) - Math.floor(startMs / bucketMs) + 1
  return Array.from({ length }, () => ({ samples: 0, failures: 0, threads: null, times: [] }))
}

function toSeries(points: readonly Point[], bucketMs: number): TimeSeries {
  const times = points.map((point) => new Distribution(point.times))
  const percentiles = (percent: number) => times.map((all) => all.percentile(percent) ?? null)
  return {
    bucketMs,
    atMs: points.map((_, i) => i * bucketMs),
    throughput: points.map(({ samples }) => (samples * 1000) / bucketMs),
    failures: points.map(({ failures }) => failures),
    p50Ms: percentiles(50),
    p95Ms: percentiles(95),
    p99Ms: percentiles(99),
    activeThreads: points.map(({ threads }) => threads)
  }
}
