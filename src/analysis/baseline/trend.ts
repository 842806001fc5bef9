import { LEVEL, tQuantile } from './statistics/evidence-of-change.js'
import { assumeSpread, leastSpread } from './statistics/classify.js'
import { describeBase } from './statistics/recorded-runs.js'
import { fromScale, SCALES, toScale } from './statistics/scale.js'

/** The last runs of the branch, and this one. */
export interface Trend {
  readonly branch: string
  /** Oldest first. */
  readonly points: readonly TrendPoint[]
  /** Where the next run is expected, per figure; absent if nothing is comparable. */
  readonly bands: { readonly p95Ms?: Band; readonly throughput?: Band; readonly errorRate?: Band }
}

export interface TrendPoint {
  readonly atMs: number
  readonly commit: string
  readonly runId: string
  /** Why the run is not part of the baseline; undefined if it is. */
  readonly unusable: string | undefined
  /** The run that was just judged. */
  readonly isHead: boolean
  /** The fingerprint differs from that of the point before: there is a gap between them. */
  readonly isAfterChange: boolean
  readonly p95Ms: number | undefined
  readonly throughput: number | undefined
  readonly errorRate: number | undefined
}

/** In base units. */
export interface Band {
  readonly low: number
  readonly centre: number
  readonly high: number
}

/**
 * Where the next run would not be called different, by the figures of earlier ones in base units, oldest first. `samples` are
 * those of one run. Undefined without figures.
 */
export function expectedBand(
  values: readonly number[],
  metric: 'time' | 'throughput' | 'error_rate',
  { noise, samples }: { readonly noise: number; readonly samples?: number }
): Band | undefined {
  const scale = SCALES[metric]
  const base = values.flatMap((value) => toScale(scale, value) ?? [])
  if (base.length === 0) return undefined
  const counted =
    samples === undefined || metric !== 'error_rate'
      ? []
      : base.map((rate) => ({ samples, failures: rate * samples }))
  const { centre, centreRuns, spread, dof } = describeBase(
    base,
    assumeSpread(metric, { noise, base: counted }),
    leastSpread(metric, { base: counted })
  )
  const reach = tQuantile(1 - LEVEL, dof) * spread * Math.sqrt(1 + 1 / centreRuns)
  const [low, high] = [centre - reach, centre + reach]
    .map((y) => clip(fromScale(scale, y), metric))
    .sort((a, b) => a - b) as [number, number]
  return { low, centre: fromScale(scale, centre), high }
}

function clip(value: number, metric: 'time' | 'throughput' | 'error_rate'): number {
  return Math.max(0, metric === 'error_rate' ? Math.min(1, value) : value)
}
