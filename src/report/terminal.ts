import { formatValue } from '../thresholds/format.js'
import { errorRows } from './error-rows.js'
import { judgementRows } from './judgement-rows.js'
import { REHEARSAL } from './outcome.js'
import type { Outcome } from './outcome.js'
import { listWarnings } from './warnings.js'

const MOST_ERRORS = 5
const MOST_TEXT = 100

export interface TerminalLines {
  readonly headline: string
  readonly rows: readonly string[][]
  /** Count, code, message and label. */
  readonly errors: readonly string[][]
  readonly warnings: readonly string[]
  readonly words: readonly string[]
}

/** The outcome in a few lines for a terminal or a log; the caller handles control characters. */
export function terminalLines(outcome: Outcome): TerminalLines {
  const { verdict, reason, rehearsal, judgements, summary, measurements } = outcome
  return {
    headline: `${verdict.toUpperCase()}${rehearsal ? ` (${REHEARSAL})` : ''}: ${reason}`,
    rows: judgementRows(judgements).map((row) => [row.verdict, row.threshold, row.actual, row.margin]),
    errors: errorRows(measurements, MOST_ERRORS).map((row) => [
      formatValue('failures', row.count),
      row.code,
      shorten(row.message),
      shorten(row.label)
    ]),
    warnings: listWarnings(outcome).map((line) => `Warning: ${line}`),
    words: summary === undefined ? [] : summary.trim().split(/\r\n|\r|\n/)
  }
}

function shorten(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text
}
