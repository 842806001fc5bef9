import { shorten, when } from '../contract/text.js'
import type { Outcome, Verdict } from '../analysis/outcome.js'
import type { Figures, Measurements } from '../analysis/results/figures/measurements.js'
import { formatFigure, formatValue } from '../analysis/thresholds/format.js'
import {
  baselineSentences,
  describeVerdict,
  explainEarlyStop,
  reasonBelowHeading,
  rehearsalMark,
  warmUpSentence,
  listWarnings
} from '../report/sentences.js'
import { errorRows, judgementRows, shownRows, slowestLabels } from '../report/rows.js'
import type { ComparisonCells, ShownRow } from '../report/rows.js'
import { LABEL_CHANGE_HEADINGS, labelChangeTable } from '../report/label-changes.js'
import { describeStalls } from '../report/stalls.js'
import { plain, table, shortenMiddle } from './screen.js'

/** The outcome for people: what was measured, what failed, the thresholds, and last the verdict, with where its files are. */
export function describeOutcome(
  outcome: Outcome,
  { place, width }: { place: string; width: number | undefined }
): string {
  const { errors, rows, ...lines } = terminalLines(outcome)
  return [
    '',
    ...paragraph(lines.words),
    ...paragraph(lines.coverage),
    ...labelTable(outcome.measurements, width),
    ...when(errors.length > 0, table(ERROR_HEADINGS, errors, { width, long: [2, 3] }), ''),
    ...when(rows.length > 0, table(['verdict', 'threshold', 'actual', 'margin'], rows), ''),
    ...paragraph([...lines.stalls, ...lines.baseline, ...lines.warnings]),
    // The verdict is what people see first, so this stands next to it.
    ...labelChangeLines(outcome, width),
    plain(lines.headline),
    ...lines.advice,
    place,
    ''
  ].join('\n')
}

function paragraph(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [...lines.map(plain), '']
}

/** More than that is read in the report. */
const MOST_LABELS = 20
/** The longest label to show, if lines may be of any length. */
const MOST_LABEL = 200
const ERROR_HEADINGS = ['failed', 'code', 'message', 'label']
// With units in the heading rather than in each cell, a table of nine columns fits into 80.
const COLUMNS = ['samples', 'error_rate', 'throughput', 'mean', 'median', 'p95', 'p99', 'max']
const HEADINGS = ['times in ms', ...COLUMNS.map((name) => (name === 'error_rate' ? 'errors' : name))]

/** The figures of all samples, then of each label, the slowest first, followed by a blank line; nothing without samples. */
function labelTable(measurements: Measurements | undefined, width?: number): string[] {
  const overall = measurements?.figures({})
  if (measurements === undefined || overall === undefined) return []
  const labels = slowestLabels(measurements)
  const shown = labels.slice(0, MOST_LABELS)
  const rows = [
    rowOf('all samples', overall),
    ...shown.map(({ label, figures }) => rowOf(shortenMiddle(label, MOST_LABEL), figures))
  ]
  const count = labels.length - shown.length
  const more = count === 0 ? [] : [`${count} more ${count === 1 ? 'label' : 'labels'} in the report`]
  return [table(HEADINGS, rows, { areNumbers: true, width, long: [0] }), ...more, '']
}

function rowOf(name: string, figures: Figures): string[] {
  return [name, ...COLUMNS.map((column) => formatFigure(column, figures).replace(/ ms$/, ''))]
}

const MOST_LABEL_CHANGES = 5

/** Which requests got slower, where a line that names `baseline` is broken. */
function labelChangeLines(outcome: Outcome, width?: number): string[] {
  const changes = labelChangeTable(outcome)
  if (!changes?.isFirst) return []
  const hasErrors = changes.hasErrors(MOST_LABEL_CHANGES)
  const { label, base, head, change, errors, finding } = LABEL_CHANGE_HEADINGS
  const headings = [label, base, head, change, ...(hasErrors ? [errors] : []), finding]
  const rows = changes.rows
    .slice(0, MOST_LABEL_CHANGES)
    .map((row) => [
      shortenMiddle(row.label, MOST_LABEL),
      ...[row.base, row.head, row.change],
      ...(hasErrors ? [row.errors] : []),
      row.outcome
    ])
  const title = `${changes.title}${rehearsalMark(outcome.rehearsal)}: ${changes.sentence}`
  const others = changes.describeOthers(MOST_LABEL_CHANGES)
  return [
    title,
    table(
      headings.map((heading) => heading.toLowerCase()),
      rows,
      { width, long: [0] }
    ),
    ...when(others !== '', others),
    ''
  ]
}

const MOST_ERRORS = 5
const MOST_TEXT = 100
/** JMeter's words for an exception, which leave no room for the exception itself. */
const JMETER_CODE = /^Non HTTP response code: (?:[\w$]+\.)*/
const JMETER_MESSAGE = /^Non HTTP response message: /
const QUOTED = 80

/** The outcome in lines with control characters; without a line that names `baseline`, also how the run compares. */
export function terminalLines(outcome: Outcome) {
  const { rehearsal, judgements, summary, measurements, baseline, stoppedEarly } = outcome
  return {
    headline: `${headingOf(outcome)}${rehearsalMark(rehearsal)}: ${reasonBelowHeading(outcome)}`,
    advice: [adviceFor(outcome) ?? []].flat(),
    coverage: [...partOfRun(outcome), ...[warmUpSentence(outcome) ?? []].flat()],
    rows: judgementRows(judgements, baseline).map((row) => [
      row.verdict,
      row.threshold,
      row.overTime === undefined ? row.actual : `${row.overTime.overTime}, ${row.overTime.bySamples}`,
      row.comparison === undefined ? row.margin : changeOf(row.comparison)
    ]),
    baseline: [
      ...(stoppedEarly === undefined ? [] : [explainEarlyStop(stoppedEarly)]),
      ...baselineSentences(baseline),
      ...shownRows(outcome).map(describeShown)
    ],
    errors: errorRows(measurements, MOST_ERRORS).map((row) => [
      formatValue('failures', row.count),
      row.code.replace(JMETER_CODE, ''),
      shorten(row.message.replace(JMETER_MESSAGE, ''), MOST_TEXT),
      shorten(row.label, MOST_TEXT)
    ]),
    stalls: [...[describeStalls(outcome)?.sentence ?? []].flat(), ...outcome.notes],
    warnings: listWarnings(withoutQuoted(outcome)).map((line) => `Warning: ${line}`),
    words: summary === undefined || repeatsReason(outcome) ? [] : summary.trim().split(/\r\n|\r|\n/)
  }
}

/** What the reason has already quoted is not said again. */
function withoutQuoted({ warnings, remoteErrors, reason }: Outcome) {
  return { warnings, remoteErrors: remoteErrors.filter((line) => !reason.includes(line.slice(0, QUOTED))) }
}

/** For a run without samples, a service's summary is often nothing but the error. */
function repeatsReason({ summary = '', remoteErrors, reason, measurements }: Outcome): boolean {
  if (measurements?.figures({}) !== undefined) return false
  const starts = remoteErrors.map((line) => line.slice(0, QUOTED))
  return starts.some((start) => start.trim() !== '' && reason.includes(start) && summary.includes(start))
}

function headingOf(outcome: Outcome): string {
  const { verdict } = outcome
  return verdict.toUpperCase() + describeVerdict(outcome).slice(verdict.length)
}

const UNTIL: Readonly<Partial<Record<Verdict, string>>> = {
  cancelled: 'until the run was cancelled',
  'timed-out': 'until the timeout',
  error: 'until the error below'
}

/** The figures of a run that was cut off look like those of any other. */
function partOfRun({ verdict, measurements }: Outcome): string[] {
  const until = UNTIL[verdict]
  if (until === undefined || measurements?.figures({}) === undefined) return []
  return [`Partial results, with the samples ${until}:`]
}

function changeOf({ change, base, baseFrom }: ComparisonCells): string {
  return baseFrom === '' ? change : `${change}, base ${base} (${baseFrom})`
}

function describeShown({ threshold, comparison }: ShownRow): string {
  return `For information, not judged: ${threshold}: ${comparison.head}, ${changeOf(comparison)}`
}

/** What to do about an outcome whose reason alone does not say it; undefined if it does, or if that is unknown. */
function adviceFor({ verdict, measurements, run }: Outcome): string | undefined {
  const { errorRate, failures = 0 } = measurements?.figures({}) ?? {}
  const answered = (measurements?.errors({}) ?? []).filter(({ code }) => /^\d{3}$/.test(code))
  const areAnswers = answered.reduce((sum, { count }) => sum + count, 0) * 2 > failures
  if (verdict !== 'passed' && errorRate !== undefined && errorRate > 0.5 && !areAnswers)
    return 'Most samples failed: check that the target is running and that the plan has its address. `--wait-for URL` starts the load only once the target answers.'
  if (verdict === 'timed-out' && errorRate !== undefined && run !== undefined)
    return 'The load was still running: raise --timeout if it needs longer. If the plan has no end of its own, have it read --duration, in JMeter as ${__P(duration,60)}.'
  return undefined
}
