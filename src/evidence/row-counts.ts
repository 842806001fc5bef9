import type { NodeFacts } from '../report/outcome.js'
import { type Results, wholeOf } from './reached-load.js'

/**
 * Grids whose results have another number of rows than their nodes had when the run ended, in clauses. A file that was cut at the end of
 * a row, or replaced by another one, looks whole; a loss in one grid must not be made up for by another.
 */
export function findOtherRows(nodes: readonly NodeFacts[] | undefined, results: Results): string[] {
  const sources = wholeOf(results)?.sources ?? []
  return [...new Set(sources.map(({ grid }) => grid))].flatMap((grid) => {
    const recorded = recordedRows(nodes, grid)
    const found = sum(sources.flatMap((source) => (source.grid === grid ? source.rows : [])))
    if (recorded === undefined || found === recorded) return []
    const what = found < recorded ? 'they are not complete' : 'they are not those of this run alone'
    return [
      `the results of grid ${grid} have ${count(found)}, and its nodes had recorded ${recorded} when the run ended: ${what}`
    ]
  })
}

/** Whether it is known of every grid how many rows its results must have. */
export function knowsRows(nodes: readonly NodeFacts[] | undefined, results: Results): boolean {
  return (wholeOf(results)?.sources ?? []).every(({ grid }) => recordedRows(nodes, grid) !== undefined)
}

/** Undefined unless each of its nodes has been counted. */
function recordedRows(nodes: readonly NodeFacts[] | undefined, grid: string): number | undefined {
  const own = (nodes ?? []).filter((node) => node.grid === grid)
  const rows = own.flatMap((node) => node.rows ?? [])
  return own.length === 0 || rows.length < own.length ? undefined : sum(rows)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function count(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`
}
