import type { Figures, Measurements, Scope } from '../analysis/results/figures/measurements.js'

/** JSON has neither undefined nor infinity. */
export function nulls<T extends object>(fields: T) {
  const isUnknown = (value: unknown): boolean =>
    value === undefined || (typeof value === 'number' && !Number.isFinite(value))
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isUnknown(value) ? null : (value as unknown)])
  ) as { readonly [K in keyof T]: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] }
}

export type FiguresDocument = ReturnType<typeof figuresDocument>

/** Labels with the most samples come first, so that truncation keeps what matters most. */
export function metricsDocument(measurements: Measurements | undefined, targetMs: number | undefined) {
  const scoped = (scopes: readonly Scope[] = []) =>
    scopes.flatMap((scope) => {
      const figures = measurements?.figures(scope)
      return figures === undefined ? [] : [{ ...scope, ...bothFigures(figures, targetMs) }]
    })
  return {
    overall: scoped([{}])[0] ?? null,
    labels: scoped(measurements?.labels.map((label) => ({ label }))).sort((a, b) => b.samples - a.samples),
    regions: scoped(measurements?.regions.map((region) => ({ region }))),
    grids: scoped(measurements?.grids.map((grid) => ({ grid })))
  }
}

/** One scope's figures; null for what the CSVs do not contain. */
export function figuresDocument(figures: Figures, targetMs: number | undefined) {
  return nulls({
    samples: figures.samples,
    failures: figures.failures,
    error_rate: figures.errorRate,
    throughput: figures.throughput,
    mean: figures.meanMs,
    min: figures.minMs,
    max: figures.maxMs,
    ...percentiles(figures, targetMs),
    concurrency: figures.concurrency
  })
}

/** With the same for users who arrived at any moment, at best, if that is known. */
function bothFigures(figures: Figures, targetMs: number | undefined) {
  const overTime = figures.overTime()
  const bySamples = figuresDocument(figures, targetMs)
  return {
    ...bySamples,
    ...(typeof overTime === 'object' && { over_time: nulls(percentiles(overTime, targetMs)) })
  }
}

function percentiles(
  figures: { percentileMs(percent: number): number | undefined; apdex(ms: number): number | undefined },
  targetMs: number | undefined
) {
  return {
    median: figures.percentileMs(50),
    p90: figures.percentileMs(90),
    p95: figures.percentileMs(95),
    p99: figures.percentileMs(99),
    apdex: targetMs === undefined ? undefined : figures.apdex(targetMs)
  }
}
