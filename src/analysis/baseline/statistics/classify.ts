import { factsOf, type NamedMetric } from '../../thresholds/metrics.js'
import type { Change } from './evidence-of-change.js'
import type { Scale } from './scale.js'

/** Fewer samples beyond a percentile say little about it. */
export const LEAST_SAMPLES_BEYOND = 20
/** For other figures, as many as the median needs. */
const LEAST_SAMPLES = 2 * LEAST_SAMPLES_BEYOND
/** 30 %, for times and throughput alike. */
const LEAST_RELATIVE_RESOLUTION = Math.log(1.3)
const RELATIVE_LIMITS = 3
const ABSOLUTE_LIMITS = 6
const ROUNDING = 1e-9

export type Doubt = 'few samples' | 'not significant' | 'low resolution'

type Classification = { outcome: 'holds' | 'broken' } | { outcome: 'unsure'; because: Doubt }

export function classify(
  { resolution }: Pick<Change, 'resolution'>,
  facts: { hasEnoughSamples: boolean; isOver: boolean; isSignificant: boolean; mostResolution: number }
): Classification {
  const { hasEnoughSamples, isOver, isSignificant, mostResolution } = facts
  if (!hasEnoughSamples) return { outcome: 'unsure', because: 'few samples' }
  if (isOver) return isSignificant ? { outcome: 'broken' } : { outcome: 'unsure', because: 'not significant' }
  if (resolution > mostResolution * (1 + ROUNDING)) return { outcome: 'unsure', because: 'low resolution' }
  return { outcome: 'holds' }
}

/** The coarsest resolution for which a limit means something. A limit of no change counts as the smallest difference, or it never held. */
export function mostResolutionFor(scale: Scale, limit: number): number {
  if (!scale.isRelative) return ABSOLUTE_LIMITS * Math.max(limit, scale.floor)
  return Math.max(RELATIVE_LIMITS * limit, LEAST_RELATIVE_RESOLUTION)
}

export function samplesNeeded(line: Pick<NamedMetric, 'metric' | 'percentile'>): number {
  const { baseline } = factsOf(line)
  const { percentile } = line
  if (percentile === undefined)
    return (typeof baseline === 'string' ? undefined : baseline.leastSamples) ?? LEAST_SAMPLES
  // Without the digits that 100 - 99.9 adds.
  const beyond = Number(((100 - percentile) / 100).toPrecision(12))
  return beyond <= 0 ? Infinity : Math.ceil(LEAST_SAMPLES_BEYOND / beyond - ROUNDING)
}

/** Error rates differ from run to run by this even where requests are many. */
const LEAST_ERROR_RATE_SPREAD = 0.002
const APDEX_SPREAD = 0.01

/** What is assumed of the spread from run to run until enough runs are known. */
export function assumeSpread(
  kind: Scale['kind'],
  { noise, base, head = [] }: { readonly noise: number } & CountedSides
): number {
  if (kind === 'time' || kind === 'throughput') return noise
  if (kind === 'apdex') return APDEX_SPREAD
  const spread = Math.sqrt(binomialVariance(base) + LEAST_ERROR_RATE_SPREAD ** 2)
  return Math.max(spread, leastSpread(kind, { base, head }))
}

/** What chance alone makes of two equal runs, however alike the base runs were: the failures of both sides and one more, pooled. */
export function leastSpread(kind: Scale['kind'], { base, head = [] }: CountedSides): number {
  const smallest = Math.min(...[base, head].filter((runs) => runs.length > 0).map(meanSamples))
  if (kind !== 'error_rate' || !Number.isFinite(smallest) || smallest <= 0) return 0
  const { samples, failures } = addUp([...base, ...head])
  const rate = (failures + 1) / (samples + 2)
  return Math.sqrt((rate * (1 - rate)) / smallest)
}

export interface Counted {
  readonly samples: number
  readonly failures: number
}

interface CountedSides {
  readonly base: readonly Counted[]
  readonly head?: readonly Counted[]
}

export function addUp(runs: readonly Counted[]): Counted {
  return {
    samples: runs.reduce((sum, run) => sum + run.samples, 0),
    failures: runs.reduce((sum, run) => sum + run.failures, 0)
  }
}

function meanSamples(runs: readonly Counted[]): number {
  return addUp(runs).samples / runs.length
}

/** p(1 − p)/n, with p of all base runs and n of one. */
function binomialVariance(base: readonly Counted[]): number {
  const { samples, failures } = addUp(base)
  if (samples === 0) return 0
  const rate = failures / samples
  return (rate * (1 - rate)) / (samples / base.length)
}
