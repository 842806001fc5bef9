import type { Measurements, TimeSeries } from '../../results/figures/measurements.js'
import { bucketStart, findOrigin } from '../axis.js'
import type { WarmUpFacts } from '../outcome.js'
import type { CountedSeries } from './document.js'

interface Aligned {
  /** Where the warm-up ends on the axis of the whole run's series. */
  readonly untilMs: number
  readonly counted: CountedSeries
}

/** A series, and when its first bucket begins. */
interface Placed {
  readonly series: TimeSeries
  readonly originMs: number
}

type Percentiles = 'p50Ms' | 'p95Ms' | 'p99Ms'

/**
 * What counts of a run, in the buckets of the whole run's series. Undefined if there is no common axis of time: runs that were
 * laid end to end have a warm-up each.
 */
export function alignCounted(
  { ms, whole, startMs = whole.startMs }: WarmUpFacts,
  counted: Measurements | undefined
): Aligned | undefined {
  const all = placeSeries(whole)
  if (all === undefined || startMs === undefined) return undefined
  const untilMs = startMs + ms - all.originMs
  const part = counted && placeSeries(counted)
  if (counted === undefined || part === undefined) return { untilMs, counted: cutAt(all.series, Infinity) }
  const isFiner = all.series.bucketMs % part.series.bucketMs === 0
  const fromMs = bucketStart(counted.startMs ?? Infinity, all.series) - all.originMs
  return { untilMs, counted: isFiner ? regroup(all, part) : cutAt(all.series, fromMs) }
}

function placeSeries(measurements: Measurements): Placed | undefined {
  const { series } = measurements
  const originMs = findOrigin(measurements)
  return series === undefined || originMs === undefined ? undefined : { series, originMs }
}

/** Everything from the first bucket with anything that counts, where the buckets of both do not fit together. */
function cutAt(series: TimeSeries, fromMs: number): CountedSeries {
  const cut = (values: readonly (number | null)[]): (number | null)[] =>
    values.map((value, i) => ((series.atMs[i] ?? 0) >= fromMs ? value : null))
  return {
    throughput: cut(series.throughput),
    failures: cut(series.failures),
    p50Ms: cut(series.p50Ms),
    p95Ms: cut(series.p95Ms),
    p99Ms: cut(series.p99Ms),
    activeThreads: cut(series.activeThreads)
  }
}

function regroup(all: Placed, part: Placed): CountedSeries {
  const { series: whole } = all
  const { series } = part
  const groups = groupBuckets(all, part)
  const ratio = series.bucketMs / whole.bucketMs
  const rates = groups.map((group) => sum(series.throughput, group) * ratio)
  /** As many samples are the same samples, except for errors of rounding. */
  const isWhole = (i: number): boolean => Math.abs((rates[i] ?? 0) - (whole.throughput[i] ?? 0)) < 1e-6
  /** Percentiles of the same samples are the same; those of fewer are close to the mean of their parts. */
  const percentiles = (name: Percentiles): (number | null)[] =>
    groups.map((group, i) => (isWhole(i) ? (whole[name][i] ?? null) : weigh(series, name, group)))
  return {
    throughput: rates.map((rate, i) => {
      if (groups[i]?.length === 0) return null
      return isWhole(i) ? (whole.throughput[i] ?? null) : rate
    }),
    failures: groups.map((group) => (group.length === 0 ? null : sum(series.failures, group))),
    p50Ms: percentiles('p50Ms'),
    p95Ms: percentiles('p95Ms'),
    p99Ms: percentiles('p99Ms'),
    activeThreads: groups.map((group) => highest(group.map((i) => series.activeThreads[i] ?? null)))
  }
}

/** For each bucket of the whole run, the indexes of those within it. */
function groupBuckets(all: Placed, part: Placed): number[][] {
  const groups: number[][] = all.series.atMs.map(() => [])
  part.series.atMs.forEach((atMs, i) => {
    groups[Math.floor((part.originMs + atMs - all.originMs) / all.series.bucketMs)]?.push(i)
  })
  return groups
}

function sum(values: readonly number[], group: readonly number[]): number {
  return group.reduce((total, i) => total + (values[i] ?? 0), 0)
}

function weigh(series: TimeSeries, name: Percentiles, group: readonly number[]): number | null {
  const known = group.filter((i) => series[name][i] != null)
  const weight = sum(series.throughput, known)
  if (weight === 0) return null
  return known.reduce((total, i) => total + (series[name][i] ?? 0) * (series.throughput[i] ?? 0), 0) / weight
}

function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}
