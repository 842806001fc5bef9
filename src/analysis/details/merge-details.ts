/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { MOST_CODES, MOST_SAMPLES_AN_ERROR } from '../../contract/verdict/limits.js'
import type { DetailSeries } from '../../contract/verdict.js'
import type { Details } from '../outcome.js'
import { Distribution } from '../results/counts/distribution.js'
import type { ScanResult } from '../results/counts/scan-result.js'
import type { DetailLineScan, WantedError } from '../results/details/detail-scan.js'
import { roundTo } from '../thresholds/format.js'
import type { ChosenLabel } from './choose-labels.js'

/** What was looked for in the scans. */
export interface Wanted {
  readonly bucketMs: number
  readonly buckets: number
  readonly bucketsALabelBucket: number
  readonly labels: readonly ChosenLabel[]
  readonly errors: readonly WantedError[]
}

type Sum = Exclude<keyof DetailLineScan, 'times' | 'codes'>

/** Adds up what second readings of the CSVs of one or several runs have found: all have the same axis. */
export function mergeDetails(scans: readonly ScanResult[], wanted: Wanted): Details {
  const partsOf = ({ parts }: ScanResult) =>
    parts.flatMap(({ counts, isAside, details }) => (details ? [{ counts, isAside, details }] : []))
  const parts = scans.flatMap(partsOf)
  const counting = parts.filter(({ counts }) => counts)
  // With a CSV that does not have it, the total traffic would look smaller than it was.
  const hasAll = (name: 'received' | 'sent'): boolean =>
    scans.every(
      (scan) =>
        totalOf(
          partsOf(scan).map(({ details }) => details.overall),
          name
        ) > 0
    )
  const traffic = { hasReceived: hasAll('received'), hasSent: hasAll('sent') }
  const { bucketMs, buckets, bucketsALabelBucket } = wanted
  const wide = {
    bucketMs: bucketMs * bucketsALabelBucket,
    buckets: Math.ceil(buckets / bucketsALabelBucket)
  }
  return {
    overall: drawLines(
      counting.map(({ details }) => details.overall),
      { bucketMs, buckets, ...traffic }
    ),
    labels: wanted.labels.flatMap(({ label, why }, i) => {
      const lines = parts.flatMap(({ isAside, details }) => (isAside ? [] : (details.labels[i] ?? [])))
      return lines.length === 0 ? [] : [{ label, why, series: drawLines(lines, { ...wide, ...traffic }) }]
    }),
    failures: wanted.errors
      .flatMap(({ label, code, message }, i) =>
        parts
          .filter(({ counts, isAside }) => counts || isAside)
          .flatMap(({ details }) => details.failures[i] ?? [])
          .sort((one, other) => one.atMs - other.atMs)
          .slice(0, MOST_SAMPLES_AN_ERROR)
          .map((sample) => ({ label, code, message, ...sample }))
      )
      .sort((one, other) => one.atMs - other.atMs)
  }
}

interface Drawing {
  readonly bucketMs: number
  readonly buckets: number
  readonly hasReceived: boolean
  readonly hasSent: boolean
}

function drawLines(lines: readonly DetailLineScan[], drawing: Drawing): DetailSeries {
  const { bucketMs, buckets } = drawing
  const each = <T>(valueOf: (at: number) => T): T[] => Array.from({ length: buckets }, (_, at) => valueOf(at))
  const sum = (name: Sum): number[] => each((at) => lines.reduce((total, line) => total + line[name][at]!, 0))
  const perSecond = (name: Sum, decimals: number): number[] =>
    sum(name).map((total) => roundTo((total * 1000) / bucketMs, decimals))
  const times = each((at) => new Distribution(lines.map((line) => ({ runs: line.times, index: at }))))
  const percentiles = (percent: number) => times.map((all) => all.percentile(percent) ?? null)
  const timed = sum('timed')
  const means = (name: Sum): (number | null)[] =>
    sum(name).map((total, at) => (timed[at] === 0 ? null : roundTo(total / timed[at]!, 2)))
  return {
    bucketMs,
    atMs: each((at) => at * bucketMs),
    throughput: perSecond('samples', 3),
    failures: sum('failures'),
    ...{ p50Ms: percentiles(50), p95Ms: percentiles(95), p99Ms: percentiles(99) },
    codes: sumCodes(lines, buckets),
    // Tools that do not measure them write zeros.
    ...(totalOf(lines, 'connectMs') + totalOf(lines, 'ttfbMs') > 0 && {
      ...{ connectMs: means('connectMs'), ttfbMs: means('ttfbMs'), downloadMs: means('downloadMs') }
    }),
    ...(drawing.hasReceived && { receivedPerSecond: perSecond('received', 0) }),
    ...(drawing.hasSent && { sentPerSecond: perSecond('sent', 0) })
  }
}

function sumCodes(lines: readonly DetailLineScan[], buckets: number): DetailSeries['codes'] {
  const known = new Map<string | undefined, number[]>()
  for (const { code, counts } of lines.flatMap(({ codes }) => codes)) {
    const sums = known.get(code) ?? new Array<number>(buckets).fill(0)
    known.set(code, sums)
    counts.forEach((count, at) => (sums[at]! += count))
  }
  const rest = known.get(undefined)
  known.delete(undefined)
  const named = [...known].flatMap(([code, counts]) =>
    code === undefined ? [] : [{ code, counts, total: counts.reduce((all, one) => all + one, 0) }]
  )
  // Equally frequent ones are sorted by code.
  named.sort((one, other) => other.total - one.total || (one.code < other.code ? -1 : 1))
  const others = [...named.slice(MOST_CODES).map(({ counts }) => counts), ...(rest ? [rest] : [])]
  const shown = named.slice(0, MOST_CODES).map(({ code, counts }) => ({ code, counts }))
  if (others.length === 0) return shown
  const counts = Array.from({ length: buckets }, (_, at) => others.reduce((all, one) => all + one[at]!, 0))
  return [...shown, { code: 'other', counts }]
}

function totalOf(lines: readonly DetailLineScan[], name: Sum): number {
  return lines.reduce((all, line) => all + line[name].reduce((sum, one) => sum + one, 0), 0)
}
