import type { BothFigures, FiguresDocument, MetricsDocument } from '../contract/verdict.js'
import type { Figures, Measurements, Scope } from '../analysis/results/figures/measurements.js'
import { factsOf, figureOf, METRIC_WORDS, metricNamed } from '../analysis/thresholds/metrics.js'

const NAMES = [...METRIC_WORDS, 'p90', 'p95', 'p99'] as const

/** JSON has neither undefined nor infinity. */
export function nulls<T extends object>(fields: T) {
  const isUnknown = (value: unknown): boolean =>
    value === undefined || (typeof value === 'number' && !Number.isFinite(value))
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isUnknown(value) ? null : (value as unknown)])
  ) as { readonly [K in keyof T]: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] }
}

/** Labels with the most samples come first, so that truncation keeps what matters most. */
export function metricsDocument(
  measurements: Measurements | undefined,
  targetMs: number | undefined
): MetricsDocument {
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
export function figuresDocument(figures: Figures, targetMs: number | undefined): FiguresDocument {
  return Object.fromEntries(
    NAMES.map((name) => [name, figureOf(name, figures, targetMs) ?? null])
  ) as unknown as FiguresDocument
}

/** With the same for users who arrived at any moment, at best, if that is known. */
function bothFigures(figures: Figures, targetMs: number | undefined): BothFigures {
  const overTime = figures.overTime()
  const bySamples = figuresDocument(figures, targetMs)
  const entries = NAMES.flatMap((name): [string, number | null][] => {
    const line = metricNamed(name)
    const { readOverTime } = line ? factsOf(line) : {}
    return typeof overTime === 'object' && readOverTime
      ? [[name, readOverTime(overTime, { ...line, targetMs }) ?? null]]
      : []
  })
  return {
    ...bySamples,
    ...(typeof overTime === 'object' && {
      over_time: Object.fromEntries(entries) as unknown as BothFigures['over_time'] & object
    })
  }
}
