import { bucketWidthMs } from '../results/counts/bucket-width.js'
import type { ScanResult } from '../results/counts/scan-result.js'

interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** From the first start to the last end of each grid's samples, if its CSV has times: several CSVs of one grid count as one. */
export function spansOf(scans: readonly ScanResult[]): Map<string, number> {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return new Map(
    grids.flatMap((grid): [string, number][] => {
      const spans = scans.filter((scan) => scan.grid === grid).map(spanOf)
      if (spans.includes(undefined)) return []
      const known = spans.filter((span) => span !== undefined)
      const startMs = Math.min(...known.map((span) => span.startMs))
      const endMs = Math.max(...known.map((span) => span.endMs))
      return [[grid, endMs - startMs]]
    })
  )
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
