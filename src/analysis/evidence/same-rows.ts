import type { ScanResult } from '../results/counts/scan-result.js'
import { type GridRows, rowsOf } from './own-rows.js'

/** What results are compared by. */
export interface ComparedRows extends Pick<ScanResult, 'grid' | 'shape' | 'rows' | 'firstRows' | 'buckets'> {
  /** Undefined if it has no times. */
  readonly starts: Pick<GridRows, 'firstMs' | 'lastStartMs'> | undefined
}

export function toCompare(scan: ScanResult): ComparedRows {
  const { grid, shape, rows, firstRows, buckets } = scan
  return { grid, shape, rows, firstRows, buckets, starts: rowsOf([scan]) }
}

/** What is known of the results of an earlier run of the step. */
export interface EarlierResults {
  readonly runId: string
  /** For people: "round 3 of 10: base". */
  readonly name: string
  readonly scans: readonly ComparedRows[]
}

/**
 * Results that begin with the same rows as others of the step, in clauses: one of them is not what it is said to be, and its samples
 * would count twice. A file that has grown since then begins with them too.
 */
export function findSameRows(all: readonly ScanResult[], earlier: readonly EarlierResults[] = []): string[] {
  const scans = all.map(toCompare)
  return scans.flatMap((scan, index) => {
    const twin = scans.slice(0, index).find((other) => areSame(scan, other))
    const before = earlier.find((results) => results.scans.some((other) => areSame(scan, other)))
    if (twin === undefined && before === undefined) return describeOverlap(scan, earlier)
    const have = scan.shape === 'tidy' ? 'have' : 'begin with'
    if (twin?.grid === scan.grid) return [`two results of grid ${scan.grid} ${have} the same rows`]
    const others = twin === undefined ? `those of ${before?.name ?? ''}` : `those of grid ${twin.grid}`
    return [
      `the results of grid ${scan.grid} ${have} the same rows as ${others}, and cannot be the results of both`
    ]
  })
}

/** A grid has one clock, and does one run after the other. */
function describeOverlap(scan: ComparedRows, earlier: readonly EarlierResults[]): string[] {
  const before = earlier.find((results) => results.scans.some((other) => overlap(scan, other)))
  if (before === undefined) return []
  return [
    `the results of grid ${scan.grid} overlap in time with those of ${before.name} on the same grid: rows of one run are in the results of the other`
  ]
}

function overlap(one: ComparedRows, other: ComparedRows): boolean {
  if (one.grid !== other.grid || one.starts === undefined || other.starts === undefined) return false
  return one.starts.firstMs < other.starts.lastStartMs && other.starts.firstMs < one.starts.lastStartMs
}

/** Of the rows that both have, as far as they were compared. */
function areSame(one: ComparedRows, other: ComparedRows): boolean {
  if (one.rows === 0 || other.rows === 0) return false
  // Many begin alike, before the load: only all of them together tell two apart.
  if (one.shape === 'tidy' && other.shape === 'tidy')
    return JSON.stringify(one.buckets) === JSON.stringify(other.buckets)
  const last = Math.min(one.firstRows.length, other.firstRows.length) - 1
  return last >= 0 && one.firstRows[last] === other.firstRows[last]
}
