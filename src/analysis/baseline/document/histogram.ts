/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is in range: the lists are equally long */
import { rankOf } from '../../results/counts/distribution.js'
import { bucketOf, valueOf } from '../../results/counts/histogram.js'
import type { CountedTimes } from '../../results/figures/measurements.js'
import type { RecordedHistogram } from '../../../contract/baseline.js'

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
export function percentileOf({ valuesMs, counts }: RecordedHistogram, percent: number): number | undefined {
  const rank = rankOf(
    percent,
    counts.reduce((sum, count) => sum + count, 0)
  )
  let upTo = 0
  return valuesMs.find((_, i) => (upTo += counts[i]!) >= rank) ?? valuesMs.at(-1)
}

/** Satisfied up to the target, tolerating up to four times the target, failed samples frustrated. */
export function apdexOf(
  { valuesMs, counts, failed }: RecordedHistogram,
  targetMs: number
): number | undefined {
  let [total, score] = [0, 0]
  valuesMs.forEach((value, i) => {
    const passed = counts[i]! - (failed?.[i] ?? 0)
    total += counts[i]!
    score += value <= targetMs ? passed : value <= 4 * targetMs ? passed / 2 : 0
  })
  return total === 0 ? undefined : score / total
}
