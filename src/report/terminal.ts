import { judgementRows } from './judgement-rows.js'
import { REHEARSAL } from './outcome.js'
import type { Outcome } from './outcome.js'
import { listWarnings } from './warnings.js'

export interface TerminalLines {
  readonly headline: string
  readonly rows: string[][]
  readonly warnings: string[]
  readonly words: string[]
}

/** The outcome in a few lines for a terminal or a log; the caller takes care of control characters. */
export function terminalLines(outcome: Outcome): TerminalLines {
  const { verdict, reason, rehearsal, judgements, summary } = outcome
  return {
    headline: `${verdict.toUpperCase()}${rehearsal ? ` (${REHEARSAL})` : ''}: ${reason}`,
    rows: judgementRows(judgements).map((row) => [row.verdict, row.threshold, row.actual, row.margin]),
    warnings: listWarnings(outcome).map((line) => `Warning: ${line}`),
    words: summary === undefined ? [] : summary.trim().split(/\r\n|\r|\n/)
  }
}
