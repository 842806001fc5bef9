import type { Band } from '../trend.js'
import { LEVEL } from './evidence-of-change.js'
import { assumeSpread, leastSpread } from './prior.js'
import { describeBase } from './recorded-runs.js'
import { fromScale, SCALES, toScale } from './scale.js'
import { tQuantile } from './student-t.js'

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
