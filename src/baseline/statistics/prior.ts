import type { Scale } from './scale.js'

/** Error rates differ from run to run by this even where requests are many. */
const LEAST_ERROR_RATE_SPREAD = 0.002
const APDEX_SPREAD = 0.01

/** What is assumed of the spread from run to run until enough runs are known. */
export function assumeSpread(
  kind: Scale['kind'],
  { noise, base }: { readonly noise: number; readonly base: readonly Counted[] }
): number {
  switch (kind) {
    case 'time':
    case 'throughput':
      return noise
    case 'apdex':
      return APDEX_SPREAD
    case 'error_rate':
      return Math.sqrt(binomialVariance(base) + LEAST_ERROR_RATE_SPREAD ** 2)
  }
}

export interface Counted {
  readonly samples: number
  readonly failures: number
}

/** p(1 − p)/n, with p of all base runs and n of one. */
function binomialVariance(base: readonly Counted[]): number {
  const samples = base.reduce((sum, run) => sum + run.samples, 0)
  if (samples === 0) return 0
  const rate = base.reduce((sum, run) => sum + run.failures, 0) / samples
  return (rate * (1 - rate)) / (samples / base.length)
}
