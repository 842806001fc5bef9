import type { Scale } from './scale.js'

/** Error rates differ from run to run by this even where requests are many. */
const LEAST_ERROR_RATE_SPREAD = 0.002
const APDEX_SPREAD = 0.01

/** What is assumed of the spread from run to run until enough runs are known. */
export function assumeSpread(
  kind: Scale['kind'],
  { noise, base, head = [] }: { readonly noise: number } & CountedSides
): number {
  switch (kind) {
    case 'time':
    case 'throughput':
      return noise
    case 'apdex':
      return APDEX_SPREAD
    case 'error_rate':
      return Math.max(
        Math.sqrt(binomialVariance(base) + LEAST_ERROR_RATE_SPREAD ** 2),
        leastSpread(kind, { base, head })
      )
  }
}

/**
 * What chance alone makes of the figures of two runs that do not differ, however alike the base runs happened to be: none of a
 * hundred requests failed in ten runs, and then one does. The failures of both sides and one more are pooled.
 */
export function leastSpread(kind: Scale['kind'], { base, head = [] }: CountedSides): number {
  const counted = [...base, ...head]
  const smallest = Math.min(...[base, head].filter((runs) => runs.length > 0).map(meanSamples))
  if (kind !== 'error_rate' || !Number.isFinite(smallest) || smallest <= 0) return 0
  const samples = counted.reduce((sum, run) => sum + run.samples, 0)
  const failures = counted.reduce((sum, run) => sum + run.failures, 0)
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

function meanSamples(runs: readonly Counted[]): number {
  return runs.reduce((sum, run) => sum + run.samples, 0) / runs.length
}

/** p(1 − p)/n, with p of all base runs and n of one. */
function binomialVariance(base: readonly Counted[]): number {
  const samples = base.reduce((sum, run) => sum + run.samples, 0)
  if (samples === 0) return 0
  const rate = base.reduce((sum, run) => sum + run.failures, 0) / samples
  return (rate * (1 - rate)) / (samples / base.length)
}
