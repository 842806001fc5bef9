import type { Outcome } from '../analysis/outcome.js'
import { terminalLines } from '../report/terminal.js'
import type { Figures, Measurements } from '../analysis/results/figures/measurements.js'
import { formatFigure } from '../analysis/thresholds/format.js'
import { errorTable, plain, table, shortenMiddle } from './screen.js'

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

/** More than that is read in the report. */
const MOST_LABELS = 20
/** Of a label, where lines may be of any length. */
const MOST_LABEL = 200
// With units in the heading rather than in each cell, a table of nine columns fits into 80.
const COLUMNS = ['samples', 'error_rate', 'throughput', 'mean', 'median', 'p95', 'p99', 'max']
const HEADINGS = ['times in ms', ...COLUMNS.map((name) => (name === 'error_rate' ? 'errors' : name))]

/** The figures of all samples, then of each label, the slowest first, followed by a blank line; nothing without samples. */
function labelTable(measurements: Measurements | undefined, width?: number): string[] {
  const overall = measurements?.figures({})
  if (measurements === undefined || overall === undefined) return []
  const labels = measurements.labels
    .map((label) => ({ label, figures: measurements.figures({ label }) }))
    .sort((a, b) => slowness(b.figures) - slowness(a.figures))
  const shown = labels.slice(0, MOST_LABELS)
  const rows = [
    rowOf('all samples', overall),
    ...shown.map(({ label, figures }) => rowOf(shortenMiddle(label || '(no name)', MOST_LABEL), figures))
  ]
  const count = labels.length - shown.length
  const more = count === 0 ? [] : [`${count} more ${count === 1 ? 'label' : 'labels'} in the report`]
  return [table(HEADINGS, rows, { areNumbers: true, width, long: [0] }), ...more, '']
}

/** Some CSVs have no individual response times. */
function slowness(figures: Figures | undefined): number {
  return figures?.percentileMs(95) ?? figures?.meanMs ?? 0
}

function rowOf(name: string, figures: Figures | undefined): string[] {
  return [name, ...COLUMNS.map((column) => formatFigure(column, figures).replace(/ ms$/, ''))]
}
