import { bucketWidthMs } from '../results/counts/bucket-width.js'
import type { ScanResult } from '../results/counts/scan-result.js'
import { findCore } from './stray-rows.js'

interface Span {
  readonly startMs: number
  readonly endMs: number
}

/**
 * From the first start to the last end of each grid's samples, if its CSV has times: several CSVs of one grid count as one. Rows that
 * are apart from all others do not make it longer.
 */
export function spansOf(scans: readonly ScanResult[]): Map<string, number> {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return new Map(
    grids.flatMap((grid): [string, number][] => {
      const own = scans.filter((scan) => scan.grid === grid)
      const spans = own.map(spanOf)
      if (spans.includes(undefined)) return []
      const known = spans.filter((span) => span !== undefined)
      const startMs = Math.min(...known.map((span) => span.startMs))
      const endMs = Math.max(...known.map((span) => span.endMs))
      return [[grid, endMs - startMs - strayMs(own, { startMs, endMs })]]
    })
  )
}

/**
 * By how much rows that are apart make it longer. At the start, a plan may well do something before its load; it does not wait for half
 * of its time.
 */
function strayMs(scans: readonly ScanResult[], { startMs, endMs }: Span): number {
  const core = findCore(scans)
  if (core === undefined) return 0
  const isLate = core.pauseBeforeMs > (endMs - startMs) / 2
  return (isLate ? core.fromMs - startMs : 0) + (core.pauseAfterMs > 0 ? endMs - core.toMs : 0)
}

function spanOf({ shape, rows, parts, buckets }: ScanResult): Span | undefined {
  if (shape === 'tidy' && buckets.length > 0) return spanOfBuckets(buckets.map(({ atMs }) => atMs))
  if (shape !== 'samples' || rows === 0 || !parts.every(({ hasTimes }) => hasTimes)) return undefined
  const startMs = Math.min(...parts.map((part) => part.startMs))
  const endMs = Math.max(...parts.map((part) => part.endMs))
  return startMs <= endMs ? { startMs, endMs } : undefined
}

/** The samples are anywhere within the buckets, and the first and the last bucket may be missing: add one as slack. */
function spanOfBuckets(timesMs: readonly number[]): Span {
  const startMs = timesMs.reduce((one, other) => Math.min(one, other), Infinity)
  const endMs = timesMs.reduce((one, other) => Math.max(one, other), -Infinity)
  return { startMs, endMs: endMs + 2 * bucketWidthMs(timesMs) }
}
