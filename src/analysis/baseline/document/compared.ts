import type { Figures, Scope } from '../../results/figures/measurements.js'
import { OverTime } from '../../results/stalls/over-time.js'
import type { ComparedRun } from '../compared-run.js'
import { scopeKey } from '../../../contract/baseline.js'
import type { RecordedOverTime, RecordedRun, RecordedScope } from '../../../contract/baseline.js'
import { apdexOf, percentileOf } from './histogram.js'

/** A recorded run as one to compare with. */
export function asComparedRun(run: RecordedRun): ComparedRun {
  const byScope = new Map(run.scopes.map((scope) => [scopeKey(scope), scope]))
  const regions = listOf(run.scopes.map(({ region }) => region))
  const find = ({ label, region, grid }: Scope): RecordedScope | undefined => {
    // Grids are not recorded: their ids change.
    if (grid !== undefined) return undefined
    const exact = byScope.get(scopeKey({ label, region }))
    // With a single region, each label is recorded once.
    const isOnlyRegion = regions.length === 1 && regions[0] === region
    return exact ?? (isOnlyRegion ? byScope.get(scopeKey({ label })) : undefined)
  }
  return {
    apdex: run.apdex ?? undefined,
    labels: listOf(run.scopes.map(({ label }) => label)),
    regions,
    figures(scope) {
      const found = find(scope)
      return found === undefined || found.samples === 0 ? undefined : figuresOf(found, run.apdex?.targetMs)
    }
  }
}

function figuresOf(scope: RecordedScope, recordedTargetMs: number | undefined): Figures {
  const { samples, failures, histogram, percentilesMs, overTime } = scope
  const stored = new Map(Object.entries(percentilesMs))
  return {
    samples,
    failures,
    errorRate: failures / samples,
    throughput: scope.throughput ?? undefined,
    meanMs: scope.meanMs ?? undefined,
    minMs: undefined,
    maxMs: undefined,
    concurrency: undefined,
    percentileMs: (percent) => stored.get(String(percent)) ?? (histogram && percentileOf(histogram, percent)),
    apdex: (targetMs) => {
      const known = targetMs === recordedTargetMs ? scope.apdex : null
      return known ?? (histogram && apdexOf(histogram, targetMs))
    },
    countTimes: () =>
      histogram && { ...histogram, failed: histogram.failed ?? histogram.counts.map(() => 0) },
    overTime: () => (overTime ? asOverTime(overTime) : 'it was recorded without figures over time')
  }
}

/** When they were is not recorded. */
function asOverTime({ spanMs, stallsMs }: RecordedOverTime): OverTime {
  const stalls = stallsMs.map((ms) => ({ startMs: 0, ms, waiting: 0 }))
  return new OverTime({ stalls, silences: [], spanMs, threads: undefined })
}

function listOf(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}
