import type { RowProblem } from '../counts/scan-result.js'
import type { Row } from '../csv/row-splitter.js'

const KEPT = 5
const QUOTED_LENGTH = 40

/** Collects what could not be read: the first few in words, the rest as a count. */
export class RowProblems {
  readonly kept: RowProblem[] = []
  count = 0

  add(row: number, text: string): void {
    this.count++
    if (this.kept.length < KEPT) this.kept.push({ row, text })
  }
}

export function explainRow(row: Row, columns: number): string {
  if (row.fault === 'unclosed-quote') return 'a quote is never closed'
  if (row.fault === 'text-after-quote') return 'text follows a closing quote'
  if (row.fault === 'nul-byte') return 'it contains a NUL byte'
  const found = `it has ${row.columns} of ${columns} columns`
  return row.isUnended && row.columns < columns ? `the file ends in the middle of it: ${found}` : found
}

/** The bytes as text for a message: short, on one line, in quotes. */
export function quoteBytes(buffer: Uint8Array, start: number, end: number): string {
  const cut = Math.min(end, start + QUOTED_LENGTH)
  const text = new TextDecoder().decode(buffer.subarray(start, cut))
  return JSON.stringify(end > cut ? `${text}…` : text)
}

/** Merges the problems of several stretches as if they had been read in one go. */
export function joinProblems(
  stretches: readonly { rows: number; problems: readonly RowProblem[] }[]
): RowProblem[] {
  const all: RowProblem[] = []
  let rowsBefore = 0
  for (const { rows, problems } of stretches) {
    for (const problem of problems) all.push({ ...problem, row: problem.row + rowsBefore })
    rowsBefore += rows
  }
  return all.slice(0, KEPT)
}
