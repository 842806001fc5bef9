import type { TidyBucket, TimeLineScan } from '../counts/scan-result.js'
import type { Span } from './series.js'

/** The time lines of one CSV. */
export interface GridLines {
  readonly grid: string
  readonly lines: readonly TimeLineScan[]
}

/** What the series of one run is drawn from. */
export interface TimedRun {
  readonly span: Span
  readonly lines: readonly GridLines[]
  readonly tidy: { readonly buckets: readonly TidyBucket[]; readonly bucketMs: number }
}

/** Moves every run but the first to the bucket after the end of the one before, so that a chart has no gaps. */
export function layEndToEnd(runs: readonly TimedRun[]): TimedRun[] {
  const widthMs = Math.max(
    ...runs.flatMap(({ lines, tidy }) => [
      tidy.bucketMs,
      ...lines.flatMap((grid) => grid.lines.map(({ bucketMs }) => bucketMs))
    ])
  )
  const laid: TimedRun[] = []
  for (const run of runs) {
    const before = laid.at(-1)
    const isMoved = before !== undefined && Number.isFinite(widthMs)
    laid.push(isMoved ? moveTo(run, Math.floor(before.span.endMs / widthMs) + 1, widthMs) : run)
  }
  return laid
}

/** Widths are powers of two of the narrowest: a whole number of the widest is one of every other. */
function moveTo(run: TimedRun, bucket: number, widthMs: number): TimedRun {
  const byMs = (bucket - Math.floor(run.span.startMs / widthMs)) * widthMs
  const moveLine = (line: TimeLineScan): TimeLineScan => ({
    ...line,
    buckets: line.buckets.map((number) => number + byMs / line.bucketMs)
  })
  return {
    span: { startMs: run.span.startMs + byMs, endMs: run.span.endMs + byMs },
    lines: run.lines.map(({ grid, lines }) => ({ grid, lines: lines.map(moveLine) })),
    tidy: { ...run.tidy, buckets: run.tidy.buckets.map((each) => ({ ...each, atMs: each.atMs + byMs })) }
  }
}

/** One list per grid (per CSV, if a grid has several): threads of different grids add up, those of one grid in several runs do not. */
export function joinGrids(runs: readonly (readonly GridLines[])[]): TimeLineScan[][] {
  const grids = new Map<string, TimeLineScan[]>()
  for (const run of runs) {
    const seen = new Map<string, number>()
    for (const { grid, lines } of run) {
      const nth = seen.get(grid) ?? 0
      seen.set(grid, nth + 1)
      const key = `${grid} ${nth}`
      grids.set(key, [...(grids.get(key) ?? []), ...lines])
    }
  }
  return [...grids.values()]
}
