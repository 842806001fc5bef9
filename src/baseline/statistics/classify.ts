import type { Change } from './evidence-of-change.js'
import type { Metric } from '../../thresholds/grammar/threshold.js'
import type { Scale } from './scale.js'

/** Fewer samples beyond a percentile say little about it. */
export const LEAST_SAMPLES_BEYOND = 20
/** For other figures, as many as the median needs. */
const LEAST_SAMPLES = 2 * LEAST_SAMPLES_BEYOND
/** A few slow samples move a mean. */
const LEAST_SAMPLES_OF_MEAN = 100
/** 30 %, for times and throughput alike. */
const LEAST_RELATIVE_RESOLUTION = Math.log(1.3)
const RELATIVE_LIMITS = 3
const ABSOLUTE_LIMITS = 6
const ROUNDING = 1e-9

/** Why a line is unsure. */
export type Doubt = 'few samples' | 'not significant' | 'low resolution'

export type Classification =
  { readonly outcome: 'holds' | 'broken' } | { readonly outcome: 'unsure'; readonly because: Doubt }

/** The outcome of a comparison. */
export function classify(
  { resolution }: Pick<Change, 'resolution'>,
  {
    hasEnoughSamples,
    isOver,
    isSignificant,
    mostResolution
  }: {
    readonly hasEnoughSamples: boolean
    /** The change exceeds the limit. */
    readonly isOver: boolean
    readonly isSignificant: boolean
    readonly mostResolution: number
  }
): Classification {
  if (!hasEnoughSamples) return { outcome: 'unsure', because: 'few samples' }
  if (isOver) {
    return isSignificant ? { outcome: 'broken' } : { outcome: 'unsure', because: 'not significant' }
  }
  if (resolution > mostResolution * (1 + ROUNDING)) return { outcome: 'unsure', because: 'low resolution' }
  return { outcome: 'holds' }
}

/**
 * The coarsest resolution with which a limit still means something; both on the scale. A limit that allows for no change counts as
 * the smallest difference that can be told, or no line with it could ever hold.
 */
export function mostResolutionFor(scale: Scale, limit: number): number {
  if (!scale.isRelative) return ABSOLUTE_LIMITS * Math.max(limit, scale.floor)
  return Math.max(RELATIVE_LIMITS * limit, LEAST_RELATIVE_RESOLUTION)
}

/** How many samples a run needs for the figure to be judged. */
export function samplesNeeded({
  metric,
  percentile
}: {
  readonly metric: Metric
  readonly percentile?: number
}): number {
  if (percentile === undefined) return metric === 'mean' ? LEAST_SAMPLES_OF_MEAN : LEAST_SAMPLES
  // Without the digits that 100 - 99.9 adds.
  const beyond = Number(((100 - percentile) / 100).toPrecision(12))
  return beyond <= 0 ? Infinity : Math.ceil(LEAST_SAMPLES_BEYOND / beyond - ROUNDING)
}
