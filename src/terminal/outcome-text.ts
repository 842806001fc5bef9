import type { Outcome } from '../report/outcome.js'
import { terminalLines } from '../report/terminal.js'
import { labelTable } from './label-table.js'
import { errorTable, plain, table } from './screen.js'

/** The outcome for people: what was measured, what failed, the thresholds, and last the verdict, with where its files are. */
export function describeOutcome(
  outcome: Outcome,
  { place, width }: { place: string; width: number | undefined }
): string {
  const { headline, advice, coverage, rows, errors, warnings, words, baseline, stalls } =
    terminalLines(outcome)
  const doubts = [...stalls, ...baseline, ...warnings]
  return [
    '',
    ...paragraph(words),
    ...paragraph(coverage),
    ...labelTable(outcome.measurements, width),
    ...errorTable(errors, width),
    ...thresholdTable(rows),
    ...paragraph(doubts),
    plain(headline),
    ...advice,
    place,
    ''
  ].join('\n')
}

function thresholdTable(rows: readonly string[][]): string[] {
  if (rows.length === 0) return []
  return [table(['verdict', 'threshold', 'actual', 'margin'], rows), '']
}

function paragraph(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [...lines.map(plain), '']
}
