import type { ScanResult } from '../results/counts/scan-result.js'

/** What is known of the results of an earlier run of the step. */
export interface EarlierResults {
  readonly runId: string
  /** For people: "round 3 of 10: base". */
  readonly name: string
  readonly scans: readonly Pick<ScanResult, 'rows' | 'firstRows'>[]
}

type Rows = Pick<ScanResult, 'grid' | 'rows' | 'firstRows'>

/**
 * Results that begin with the same rows as others of the step, in clauses: one of them is not what it is said to be, and its samples
 * would count twice. A file that has grown since then begins with them too.
 */
export function findSameRows(scans: readonly Rows[], earlier: readonly EarlierResults[] = []): string[] {
  return scans.flatMap((scan, index) => {
    const twin = scans.slice(0, index).find((other) => areSame(scan, other))
    const before = earlier.find((results) => results.scans.some((other) => areSame(scan, other)))
    if (twin === undefined && before === undefined) return []
    if (twin?.grid === scan.grid) return [`two results of grid ${scan.grid} begin with the same rows`]
    const others = twin === undefined ? `those of ${before?.name ?? ''}` : `those of grid ${twin.grid}`
    return [
      `the results of grid ${scan.grid} begin with the same rows as ${others}, and cannot be the results of both`
    ]
  })
}

/** Of the rows that both have, as far as they were compared. */
function areSame(one: Pick<Rows, 'rows' | 'firstRows'>, other: Pick<Rows, 'rows' | 'firstRows'>): boolean {
  const last = Math.min(one.firstRows.length, other.firstRows.length) - 1
  return one.rows > 0 && other.rows > 0 && last >= 0 && one.firstRows[last] === other.firstRows[last]
}
