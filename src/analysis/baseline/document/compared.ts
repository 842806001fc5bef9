/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is in range: the lists are equally long */
import type { Figures, Scope, CountedTimes } from '../../results/figures/measurements.js'
import { OverTime } from '../../results/stalls/over-time.js'
import type { ComparedRun } from '../judge/sides.js'
import {
  scopeKey,
  type RecordedOverTime,
  type RecordedRun,
  type RecordedScope,
  type RecordedHistogram
} from '../../../contract/baseline.js'
import { rankOf } from '../../results/counts/distribution.js'
import { bucketOf, valueOf } from '../../results/counts/histogram.js'

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
    recorded: { commit: run.commit, atMs: run.atMs },
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
  return new OverTime(stalls, [], spanMs, undefined)
}

function listOf(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

/** Times below 256 ms are exact, longer ones at most 2^-8 = 0.4 % off. */
const BITS = 8
const LONGEST_MS = 2 ** 32 - 1

/** Counts in buckets whose width grows with the time, so that a label takes a few hundred numbers whatever its samples. */
export function makeHistogram({ valuesMs, counts, failed }: CountedTimes): RecordedHistogram | undefined {
  const middles: number[] = []
  const sums: number[] = []
  const failures: number[] = []
  valuesMs.forEach((value, i) => {
    const middle = middleOf(value)
    if (middles.at(-1) !== middle) {
      middles.push(middle)
      sums.push(0)
      failures.push(0)
    }
    sums[sums.length - 1]! += counts[i]!
    failures[failures.length - 1]! += failed[i]!
  })
  if (middles.length === 0) return undefined
  const hasFailures = failures.some((count) => count > 0)
  return { valuesMs: middles, counts: sums, ...(hasFailures && { failed: failures }) }
}

function middleOf(valueMs: number): number {
  const bucket = bucketOf(Math.min(Math.max(0, Math.round(valueMs)), LONGEST_MS), BITS)
  const width = valueOf(bucket + 1, BITS) - valueOf(bucket, BITS)
  return valueOf(bucket, BITS) + Math.floor(width / 2)
}

/** Nearest rank, as with all samples. */
function percentileOf({ valuesMs, counts }: RecordedHistogram, percent: number): number | undefined {
  const rank = rankOf(
    percent,
    counts.reduce((sum, count) => sum + count, 0)
  )
  let upTo = 0
  return valuesMs.find((_, i) => (upTo += counts[i]!) >= rank) ?? valuesMs.at(-1)
}

/** Satisfied up to the target, tolerating up to four times the target, failed samples frustrated. */
function apdexOf({ valuesMs, counts, failed }: RecordedHistogram, targetMs: number): number | undefined {
  let [total, score] = [0, 0]
  valuesMs.forEach((value, i) => {
    const passed = counts[i]! - (failed?.[i] ?? 0)
    total += counts[i]!
    score += value <= targetMs ? passed : value <= 4 * targetMs ? passed / 2 : 0
  })
  return total === 0 ? undefined : score / total
}
