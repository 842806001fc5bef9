import type { ComparedRun } from '../../../src/analysis/baseline/judge/sides.js'
import type { Figures, Scope } from '../../../src/analysis/results/figures/measurements.js'
import type { BaselineThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import type { Metric } from '../../../src/analysis/thresholds/metrics.js'

export interface FigureValues {
  readonly samples: number
  readonly failures: number
  readonly throughput: number | undefined
  readonly meanMs: number | undefined
  /** Every percentile, or those of a few. */
  readonly percentileMs: number | Readonly<Record<number, number>> | undefined
  readonly apdex: number | undefined
}

const USUAL: FigureValues = {
  samples: 50_000,
  failures: 0,
  throughput: 100,
  meanMs: 200,
  percentileMs: 400,
  apdex: 0.9
}

function makeComparedFigures(changes: Partial<FigureValues> = {}): Figures {
  const values = { ...USUAL, ...changes }
  const { percentileMs } = values
  return {
    samples: values.samples,
    failures: values.failures,
    errorRate: values.failures / values.samples,
    throughput: values.throughput,
    meanMs: values.meanMs,
    minMs: undefined,
    maxMs: undefined,
    concurrency: undefined,
    percentileMs: (percent) => (typeof percentileMs === 'object' ? percentileMs[percent] : percentileMs),
    apdex: () => values.apdex,
    countTimes: () => undefined,
    overTime: () => 'these figures were made up'
  }
}

/** A run with these figures overall, and of each label and region. */
export function makeComparedRun({
  overall = {},
  labels = {},
  regions = {},
  apdex
}: {
  readonly overall?: Partial<FigureValues>
  readonly labels?: Readonly<Record<string, Partial<FigureValues>>>
  readonly regions?: Readonly<Record<string, Partial<FigureValues>>>
  readonly apdex?: ComparedRun['apdex']
} = {}): ComparedRun {
  const choose = ({ label, region }: Scope) => {
    if (label !== undefined) return labels[label]
    return region === undefined ? overall : regions[region]
  }
  const known = new Map<Partial<FigureValues>, Figures>()
  return {
    apdex,
    labels: Object.keys(labels),
    regions: Object.keys(regions),
    figures(scope) {
      const values = choose(scope)
      if (values === undefined) return undefined
      const figures = known.get(values) ?? makeComparedFigures(values)
      known.set(values, figures)
      return figures
    }
  }
}

const ANY_LINE = { line: 1, level: 'fail', selector: {}, operator: '<=' } as const

/** `p95 <= baseline + 10%`, with changes. */
export function makeLine(changes: Partial<BaselineThreshold> = {}): BaselineThreshold {
  return {
    ...ANY_LINE,
    text: 'p95 <= baseline + 10%',
    metric: 'percentile',
    name: 'p95',
    percentile: 95,
    allowance: { ratio: 0.1 },
    ...changes
  }
}

/** A line without a percentile. */
export function makePlainLine(
  metric: Metric,
  limit: string,
  allowance: BaselineThreshold['allowance']
): BaselineThreshold {
  const operator = metric === 'throughput' || metric === 'apdex' ? '>=' : '<='
  return { ...ANY_LINE, metric, name: metric, operator, allowance, text: `${metric} ${operator} ${limit}` }
}

/** Matches every label, or one. */
export function selectLabel(text: string): BaselineThreshold['selector'] {
  return { label: { text, pieces: text.split('*') } }
}
