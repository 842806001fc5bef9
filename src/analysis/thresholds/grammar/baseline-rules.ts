import type { Metric, NamedMetric, Operator } from './threshold.js'

export type BaselineOperator = Exclude<Operator, '=='>

/** A unit of what follows `baseline`; empty for plain numbers. */
export type AllowanceUnit = '%' | 'ms' | 's' | '/s' | '/min' | 'pp' | ''

/** How a metric is compared with its baseline. Only getting worse can break a line. */
export interface BaselineRule {
  /** The operators that allow it to get better without limit; the usual one first. */
  readonly operators: readonly [BaselineOperator, BaselineOperator]
  /** The direction in which it gets worse. */
  readonly sign: '+' | '-'
  readonly better: 'lower' | 'higher'
  readonly units: readonly AllowanceUnit[]
  readonly example: string
  /** Both kinds at once, if the metric has two. */
  readonly largerOfTwo?: string
  /** An allowance from here on would check nothing, in base units. */
  readonly tooMuch?: { readonly of: 'ratio' | 'amount'; readonly from: number; readonly words: string }
}

const LOWER_IS_BETTER = { operators: ['<=', '<'], sign: '+', better: 'lower' } as const
const HIGHER_IS_BETTER = { operators: ['>=', '>'], sign: '-', better: 'higher' } as const

const TIME: BaselineRule = {
  ...LOWER_IS_BETTER,
  units: ['%', 'ms', 's'],
  example: '10%',
  largerOfTwo: 'max(10%, 20ms)'
}

const RULES: Readonly<Partial<Record<Metric, BaselineRule>>> = {
  mean: TIME,
  median: TIME,
  percentile: TIME,
  throughput: {
    ...HIGHER_IS_BETTER,
    units: ['%', '/s', '/min'],
    example: '5%',
    largerOfTwo: 'max(5%, 2/s)',
    tooMuch: { of: 'ratio', from: 1, words: 'throughput cannot fall by 100% or more' }
  },
  error_rate: {
    ...LOWER_IS_BETTER,
    units: ['pp'],
    example: '0.5pp',
    tooMuch: { of: 'amount', from: 1, words: 'an error rate cannot rise by 100pp or more' }
  },
  apdex: {
    ...HIGHER_IS_BETTER,
    units: [''],
    example: '0.02',
    tooMuch: { of: 'amount', from: 1, words: 'an apdex cannot fall by 1 or more' }
  }
}

/** Why a metric is not compared with a baseline, and what to write instead. */
const REFUSED: Readonly<Partial<Record<Metric, string>>> = {
  min: 'min is the time of a single sample, which proves nothing about a run: compare median or p95',
  max: 'max is the time of a single sample, which proves nothing about a run: compare p95 or p99',
  samples: 'samples depends on how long the run lasts: compare throughput',
  failures: 'failures depends on how many samples there are: compare error_rate',
  concurrency:
    'concurrency is set by the plan and not a result: give it an absolute limit, such as concurrency >= 50'
}

/** The rule, or why the metric cannot be compared. */
export function baselineRuleOf({ metric, name, percentile }: NamedMetric): BaselineRule | string {
  if (metric === 'percentile' && percentile === 100) {
    return `${name} is the time of a single sample, which proves nothing about a run: compare p95 or p99`
  }
  return RULES[metric] ?? REFUSED[metric] ?? `${name} cannot be compared with a baseline`
}

/** `p95 <= baseline + 10%` */
export function exampleLine(name: string, { operators, sign, example }: BaselineRule): string {
  return `${name} ${operators[0]} baseline ${sign} ${example}`
}

/** Other words for the same units; suggested, not accepted. */
export const ALLOWANCE_UNIT_SYNONYMS: ReadonlyMap<string, AllowanceUnit> = new Map([
  ['p.p.', 'pp'],
  ['ppt', 'pp'],
  ['pts', 'pp'],
  ['points', 'pp'],
  ['percent', '%'],
  ['pct', '%']
])

/** What people may call the baseline; suggested, not accepted. */
export const BASELINE_SYNONYMS: readonly string[] = [
  'base',
  'main',
  'master',
  'previous',
  'prev',
  'last',
  'reference'
]
