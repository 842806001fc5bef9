import type { Figures } from '../results/figures/measurements.js'
import type { OverTime } from '../results/stalls/over-time.js'

/** A unit as written; empty for plain numbers. */
export type Unit = 'ms' | 's' | '%' | '/s' | '/min' | ''

/** A unit of what follows `baseline`; empty for plain numbers. */
export type AllowanceUnit = Unit | 'pp'

/** What a figure is asked for besides its metric. */
interface Asked {
  /** Set for `percentile` and `median`; above 0, at most 100. */
  readonly percentile?: number | undefined
  /** That of the apdex, if it is known. */
  readonly targetMs?: number | undefined
}

/** Everything that is particular to a metric. */
interface MetricFacts {
  /** In base units: ms, a ratio from 0 to 1, per second, or plain. Undefined if the results do not have it. */
  readonly read: (figures: Figures, asked: Asked) => number | undefined
  /** The same for users who arrived at any moment of the run, at best. */
  readonly readOverTime?: (overTime: OverTime, asked: Asked) => number | undefined
  readonly better: 'lower' | 'higher'
  /** A response time, or made of response times. */
  readonly isTime?: true
  /** Accepted units, the base unit first; empty for plain numbers. */
  readonly units: readonly Exclude<Unit, ''>[]
  /** A limit to show in messages. */
  readonly example: string
  /** Its largest possible value, in base units: a limit beyond it would check nothing. */
  readonly largest?: number
  /** With its article, where that is not just its name. */
  readonly called?: string
  /** The percentile that it is another name of. */
  readonly percentile?: number
  /** Always shown with so many decimals. */
  readonly decimals?: number
  /** Figures of failed requests say nothing about it: a fast failure is not a fast response, nor work done. */
  readonly needsSuccess?: true
  /** A broken limit on it says that requests fail. */
  readonly showsFailures?: true
  /** In which direction it can move at all while a run goes on. */
  readonly onlyMoves?: 'up' | 'down'
  /** Whether a window of 10 s of the run has the figure too: `count` if that is the number of samples in it. */
  readonly inWindows?: 'figure' | 'count'
  /** How it is compared with earlier runs; or why it is not, and what to write instead. */
  readonly baseline: BaselineRule | string
  /** Other tools' names for it; suggested, not accepted. */
  readonly synonyms?: readonly string[]
}

/** How a metric is compared with its baseline. Only getting worse can break a line. */
export interface BaselineRule {
  /** How its figures vary from run to run. */
  readonly scale: 'time' | 'throughput' | 'error_rate' | 'apdex'
  readonly units: readonly AllowanceUnit[]
  readonly example: string
  /** Both kinds at once, if the metric has two. */
  readonly largerOfTwo?: string
  /** An allowance of all there is, in the first unit, or more would check nothing. */
  readonly all?: string
  /** How many samples a run needs; for percentiles, that follows from the percentile. */
  readonly leastSamples?: number
}

const TIME = {
  better: 'lower',
  isTime: true,
  units: ['ms', 's'],
  example: '800ms',
  needsSuccess: true
} as const

const COMPARED_TIME = {
  scale: 'time',
  units: ['%', 'ms', 's'],
  example: '10%',
  largerOfTwo: 'max(10%, 20ms)'
} as const satisfies BaselineRule

const COUNT = { units: [], example: '100' } as const

/** What a threshold can check; any `pNN` is a `percentile`. Add a new metric here, in docs/thresholds.md and src/contract/verdict.ts. */
export const METRICS = {
  apdex: {
    read: (figures, { targetMs }) => (targetMs === undefined ? undefined : figures.apdex(targetMs)),
    readOverTime: (overTime, { targetMs }) => (targetMs === undefined ? undefined : overTime.apdex(targetMs)),
    ...{ better: 'higher', units: [], example: '0.85', largest: 1, called: 'an apdex', decimals: 3 },
    ...{ needsSuccess: true, showsFailures: true },
    baseline: { scale: 'apdex', units: [''], example: '0.02', all: '1' }
  },
  error_rate: {
    read: ({ errorRate }) => errorRate,
    ...{ better: 'lower', units: ['%'], example: '1%', largest: 1, called: 'an error rate' },
    ...{ showsFailures: true, inWindows: 'figure' },
    baseline: { scale: 'error_rate', units: ['pp'], example: '0.5pp', all: '100pp' }
  },
  throughput: {
    read: ({ throughput }) => throughput,
    ...{ better: 'higher', units: ['/s', '/min'], example: '50/s', needsSuccess: true, inWindows: 'count' },
    baseline: {
      ...{ scale: 'throughput', units: ['%', '/s', '/min'], example: '5%' },
      ...{ largerOfTwo: 'max(5%, 2/s)', all: '100%' }
    },
    synonyms: ['rps']
  },
  mean: {
    ...TIME,
    read: ({ meanMs }) => meanMs,
    inWindows: 'figure',
    // A few slow samples move it.
    baseline: { ...COMPARED_TIME, leastSamples: 100 },
    synonyms: ['avg', 'average']
  },
  median: {
    ...TIME,
    percentile: 50,
    read: (figures) => figures.percentileMs(50),
    readOverTime: (overTime) => overTime.percentileMs(50),
    inWindows: 'figure',
    baseline: COMPARED_TIME
  },
  percentile: {
    ...TIME,
    read: (figures, { percentile = 50 }) => figures.percentileMs(percentile),
    readOverTime: (overTime, { percentile = 50 }) => overTime.percentileMs(percentile),
    inWindows: 'figure',
    baseline: COMPARED_TIME
  },
  min: {
    ...TIME,
    read: ({ minMs }) => minMs,
    onlyMoves: 'down',
    baseline: 'min is the time of a single sample, which proves nothing about a run: compare median or p95',
    synonyms: ['p0']
  },
  max: {
    ...TIME,
    read: ({ maxMs }) => maxMs,
    onlyMoves: 'up',
    baseline: 'max is the time of a single sample, which proves nothing about a run: compare p95 or p99'
  },
  samples: {
    ...COUNT,
    read: ({ samples }) => samples,
    ...{ better: 'higher', onlyMoves: 'up' },
    baseline: 'samples depends on how long the run lasts: compare throughput',
    synonyms: ['count', 'requests']
  },
  failures: {
    ...COUNT,
    read: ({ failures }) => failures,
    ...{ better: 'lower', onlyMoves: 'up', showsFailures: true },
    baseline: 'failures depends on how many samples there are: compare error_rate',
    synonyms: ['errors', 'failed']
  },
  concurrency: {
    ...COUNT,
    read: ({ concurrency }) => concurrency,
    better: 'higher',
    baseline:
      'concurrency is set by the plan and not a result: give it an absolute limit, such as concurrency >= 50',
    synonyms: ['users']
  }
} as const satisfies Readonly<Record<string, MetricFacts>>

export type Metric = keyof typeof METRICS

/** A threshold's left-hand side without its selector. */
export interface NamedMetric {
  readonly metric: Metric
  /** As written: `p99.9`, `error_rate`. */
  readonly name: string
  /** Set for `percentile` and `median`; above 0, at most 100. */
  readonly percentile?: number
}

export function factsOf({ metric }: { readonly metric: Metric }): MetricFacts {
  return METRICS[metric]
}

/** Every metric written as a word; percentiles are written `pNN`. */
export const METRIC_WORDS = (Object.keys(METRICS) as Metric[]).filter((metric) => metric !== 'percentile')

export const PERCENTILE = /^p((?:0|[1-9]\d{0,5})(?:\.\d{1,6})?)$/u

/** Undefined if there is no such metric. */
export function metricNamed(name: string): NamedMetric | undefined {
  const metric = METRIC_WORDS.find((word) => word === name)
  if (metric !== undefined) {
    const { percentile } = factsOf({ metric })
    return { metric, name, ...(percentile !== undefined && { percentile }) }
  }
  const percentile = Number(PERCENTILE.exec(name)?.[1])
  return percentile > 0 && percentile <= 100 ? { metric: 'percentile', name, percentile } : undefined
}

/** The figure of a metric by its name: `error_rate`, `p95`. */
export function figureOf(name: string, figures: Figures, targetMs?: number): number | undefined {
  const line = metricNamed(name)
  return line && factsOf(line).read(figures, { percentile: line.percentile, targetMs })
}

export function isWorse({ metric }: { readonly metric: Metric }, value: number, than: number): boolean {
  return factsOf({ metric }).better === 'lower' ? value > than : value < than
}

/** The rule, or why the metric cannot be compared. */
export function baselineRuleOf({ metric, name, percentile }: NamedMetric): BaselineRule | string {
  return metric === 'percentile' && percentile === 100
    ? `${name} is the time of a single sample, which proves nothing about a run: compare p95 or p99`
    : factsOf({ metric }).baseline
}
