import type { Comparison } from '../../../src/analysis/thresholds/judge/judgement.js'

/** A comparison that found nothing to compare with. */
export function makeComparison(changes: Partial<Comparison> = {}): Comparison {
  return {
    outcome: 'no baseline',
    base: undefined,
    baseRuns: 0,
    limit: undefined,
    changePct: undefined,
    interval: undefined,
    resolutionPct: undefined,
    p: undefined,
    ifNotJudged: 'warn',
    ...changes
  }
}
