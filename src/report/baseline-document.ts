import type { BaselineFacts } from '../analysis/outcome.js'
import type { Band, Trend } from '../analysis/baseline/trend.js'
import type { BaselineFactsDocument, ComparisonDocument, TrendDocument } from '../contract/verdict.js'
import type { Comparison } from '../analysis/thresholds/judge/judgement.js'

export function comparisonDocument(comparison: Comparison): ComparisonDocument {
  const { outcome, base, baseRuns, changePct, interval, resolutionPct, p } = comparison
  return {
    outcome,
    base: known(base),
    baseRuns,
    changePct: known(changePct),
    interval: interval?.every(Number.isFinite) === true ? interval : null,
    resolutionPct: known(resolutionPct),
    p: known(p)
  }
}

export function baselineFactsDocument(facts: BaselineFacts): BaselineFactsDocument {
  return {
    state: facts.state,
    kind: facts.kind,
    branch: facts.branch ?? null,
    commit: facts.commit ?? null,
    runs: facts.runs,
    reason: facts.reason ?? null,
    notes: facts.notes,
    fingerprint: facts.fingerprint ?? null
  }
}

export function trendDocument(trend: Trend | undefined): TrendDocument | null {
  if (trend === undefined) return null
  const { branch, points, bands } = trend
  return {
    branch,
    points: points.map((point) => ({
      atMs: point.atMs,
      commit: point.commit,
      runId: point.runId,
      unusable: point.unusable ?? null,
      isHead: point.isHead,
      isAfterChange: point.isAfterChange,
      p95Ms: known(point.p95Ms),
      throughput: known(point.throughput),
      errorRate: known(point.errorRate)
    })),
    bands: {
      p95Ms: bandDocument(bands.p95Ms),
      throughput: bandDocument(bands.throughput),
      errorRate: bandDocument(bands.errorRate)
    }
  }
}

function bandDocument(band: Band | undefined): Band | null {
  return band !== undefined && [band.low, band.centre, band.high].every(Number.isFinite) ? band : null
}

/** JSON has no infinity. */
function known(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null
}
