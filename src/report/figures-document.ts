import type { BothFigures, FiguresDocument, MetricsDocument, ScopedFigures } from '../contract/verdict.js'
import type { Figures, Measurements, Scope } from '../analysis/results/figures/measurements.js'

/** Labels with the most samples come first, so that truncation keeps what matters most. */
export function metricsDocument(
  measurements: Measurements | undefined,
  targetMs: number | undefined
): MetricsDocument {
  if (measurements === undefined) return { overall: null, labels: [], regions: [], grids: [] }
  const scoped = (scopes: readonly Scope[]): ScopedFigures[] =>
    scopes.flatMap((scope) => {
      const figures = measurements.figures(scope)
      return figures === undefined ? [] : [{ ...scope, ...bothFigures(figures, targetMs) }]
    })
  const overall = measurements.figures({})
  return {
    overall: overall === undefined ? null : bothFigures(overall, targetMs),
    labels: scoped(measurements.labels.map((label) => ({ label }))).sort((a, b) => b.samples - a.samples),
    regions: scoped(measurements.regions.map((region) => ({ region }))),
    grids: scoped(measurements.grids.map((grid) => ({ grid })))
  }
}

/** The figures of one scope as a document. */
export function figuresDocument(figures: Figures, targetMs: number | undefined): FiguresDocument {
  return {
    samples: figures.samples,
    failures: figures.failures,
    error_rate: figures.errorRate ?? null,
    throughput: figures.throughput ?? null,
    mean: figures.meanMs ?? null,
    min: figures.minMs ?? null,
    max: figures.maxMs ?? null,
    median: figures.percentileMs(50) ?? null,
    p90: figures.percentileMs(90) ?? null,
    p95: figures.percentileMs(95) ?? null,
    p99: figures.percentileMs(99) ?? null,
    apdex: targetMs === undefined ? null : (figures.apdex(targetMs) ?? null),
    concurrency: figures.concurrency ?? null
  }
}

function bothFigures(figures: Figures, targetMs: number | undefined): BothFigures {
  const overTime = figures.overTime()
  const bySamples = figuresDocument(figures, targetMs)
  if (typeof overTime === 'string') return bySamples
  return {
    ...bySamples,
    over_time: {
      median: overTime.percentileMs(50),
      p90: overTime.percentileMs(90),
      p95: overTime.percentileMs(95),
      p99: overTime.percentileMs(99),
      apdex: targetMs === undefined ? null : overTime.apdex(targetMs)
    }
  }
}
