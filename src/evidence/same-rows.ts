import type { ScanResult } from '../results/counts/scan-result.js'

/** What results are compared by. */
export type ComparedRows = Pick<ScanResult, 'grid' | 'shape' | 'rows' | 'firstRows' | 'buckets'>

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
export function findSameRows(
  scans: readonly ComparedRows[],
  earlier: readonly EarlierResults[] = []
): string[] {
  return scans.flatMap((scan, index) => {
    const twin = scans.slice(0, index).find((other) => areSame(scan, other))
    const before = earlier.find((results) => results.scans.some((other) => areSame(scan, other)))
    if (twin === undefined && before === undefined) return []
    const have = scan.shape === 'tidy' ? 'have' : 'begin with'
    if (twin?.grid === scan.grid) return [`two results of grid ${scan.grid} ${have} the same rows`]
    const others = twin === undefined ? `those of ${before?.name ?? ''}` : `those of grid ${twin.grid}`
    return [
      `the results of grid ${scan.grid} ${have} the same rows as ${others}, and cannot be the results of both`
    ]
  })
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
