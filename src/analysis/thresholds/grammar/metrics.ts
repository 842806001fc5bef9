import type { Metric, Unit } from './threshold.js'

/** What a metric may be compared with. */
export interface MetricRule {
  /** Accepted units, the base unit first; empty for plain numbers. */
  readonly units: readonly Exclude<Unit, ''>[]
  /** Its largest possible value, in base units: a limit beyond it would check nothing. */
  readonly largest?: number
}

const TIME: MetricRule = { units: ['ms', 's'] }
const COUNT: MetricRule = { units: [] }

export const METRIC_RULES: Readonly<Record<Metric, MetricRule>> = {
  apdex: { units: [], largest: 1 },
  error_rate: { units: ['%'], largest: 1 },
  throughput: { units: ['/s', '/min'] },
  mean: TIME,
  median: TIME,
  percentile: TIME,
  min: TIME,
  max: TIME,
  samples: COUNT,
  failures: COUNT,
  concurrency: COUNT
}

/** Whether it has a figure over time: what users who arrived at any moment would have seen at best. */
export function hasOverTime({ metric }: { readonly metric: Metric }): boolean {
  return metric === 'percentile' || metric === 'median' || metric === 'apdex'
}

/** Every metric written as a word; percentiles are written `pNN`. */
export const METRIC_WORDS = Object.keys(METRIC_RULES).filter((name) => name !== 'percentile') as Exclude<
  Metric,
  'percentile'
>[]

/** Other tools' names for the same metrics; suggested, not accepted. */
export const METRIC_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['avg', 'mean'],
  ['average', 'mean'],
  ['count', 'samples'],
  ['requests', 'samples'],
  ['errors', 'failures'],
  ['failed', 'failures'],
  ['rps', 'throughput'],
  ['users', 'concurrency'],
  ['p0', 'min']
])

export const UNIT_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['sec', 's'],
  ['second', 's'],
  ['seconds', 's'],
  ['msec', 'ms'],
  ['millis', 'ms'],
  ['milliseconds', 'ms'],
  ['percent', '%'],
  ['pct', '%'],
  ['rps', '/s'],
  ['req/s', '/s'],
  ['/sec', '/s'],
  ['/m', '/min'],
  ['rpm', '/min'],
  ['req/min', '/min'],
  ['/minute', '/min']
])
