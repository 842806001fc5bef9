import type { Figures, Measurements, Scope } from '../analysis/results/figures/measurements.js'
import { factsOf, figureOf, METRIC_WORDS, metricNamed } from '../analysis/thresholds/metrics.js'

const NAMES = [...METRIC_WORDS, 'p90', 'p95', 'p99'] as const

/** One scope's figures, machine-readable; null for what the CSVs do not contain. */
export type FiguresDocument = Readonly<Record<(typeof NAMES)[number], number | null>> &
  Readonly<Record<'samples' | 'failures', number>>

interface BothFigures extends FiguresDocument {
  /** The same for users who arrived at any moment, at best; absent if that is not known. */
  readonly over_time?: Readonly<Partial<Record<(typeof NAMES)[number], number | null>>>
}

export type ScopedFigures = Scope & BothFigures

export interface MetricsDocument {
  readonly overall: BothFigures | null
  readonly labels: readonly ScopedFigures[]
  readonly regions: readonly ScopedFigures[]
  readonly grids: readonly ScopedFigures[]
}

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
  return Object.fromEntries(
    NAMES.map((name) => [name, figureOf(name, figures, targetMs) ?? null])
  ) as FiguresDocument
}

function bothFigures(figures: Figures, targetMs: number | undefined): BothFigures {
  const overTime = figures.overTime()
  const bySamples = figuresDocument(figures, targetMs)
  if (typeof overTime === 'string') return bySamples
  const entries = NAMES.flatMap((name) => {
    const line = metricNamed(name)
    const { readOverTime } = line ? factsOf(line) : {}
    return readOverTime ? [[name, readOverTime(overTime, { ...line, targetMs }) ?? null]] : []
  })
  return { ...bySamples, over_time: Object.fromEntries(entries) as BothFigures['over_time'] & object }
}
