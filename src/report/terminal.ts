import { shorten } from '../contract/text.js'
import { formatValue } from '../analysis/thresholds/format.js'
import { errorRows, judgementRows } from './rows.js'
import { baselineSentences } from './baseline-sentences.js'
import type { ComparisonCells } from './comparison-cells.js'
import { describeVerdict, explainEarlyStop, reasonBelowHeading } from './headline.js'
import { REHEARSAL, type Outcome, type Verdict } from '../analysis/outcome.js'
import { describeStalls } from './stalls.js'
import { warmUpSentence, listWarnings } from './warm-up.js'

const MOST_ERRORS = 5
const MOST_TEXT = 100
/** JMeter's words for an exception, which leave no room for the exception itself. */
const JMETER_CODE = /^Non HTTP response code: (?:[\w$]+\.)*/
const JMETER_MESSAGE = /^Non HTTP response message: /
const QUOTED = 80

export interface TerminalLines {
  readonly headline: string
  /** What to do about it, if there is more to say. */
  readonly advice: readonly string[]
  /** What the figures do not cover. */
  readonly coverage: readonly string[]
  /** Verdict, threshold, actual value, and margin or change. */
  readonly rows: readonly string[][]
  /** What the run was compared with; without a line that names `baseline`, also how it compares. */
  readonly baseline: readonly string[]
  /** Count, code, message and label. */
  readonly errors: readonly string[][]
  /** When users waited and nothing was answered, and why that is not known. */
  readonly stalls: readonly string[]
  readonly warnings: readonly string[]
  readonly words: readonly string[]
}

/** The outcome in a few lines for a terminal or a log; the caller handles control characters. */
export function terminalLines(outcome: Outcome): TerminalLines {
  const { rehearsal, judgements, summary, measurements, baseline } = outcome
  return {
    headline: `${headingOf(outcome)}${rehearsal ? ` (${REHEARSAL})` : ''}: ${reasonBelowHeading(outcome)}`,
    advice: [adviceFor(outcome) ?? []].flat(),
    coverage: [...partOfRun(outcome), ...[warmUpSentence(outcome) ?? []].flat()],
    rows: judgementRows(judgements, baseline).map((row) => [
      row.verdict,
      row.threshold,
      row.overTime === undefined ? row.actual : `${row.overTime.overTime}, ${row.overTime.bySamples}`,
      row.comparison === undefined ? row.margin : changeOf(row.comparison)
    ]),
    baseline: [...earlyStop(outcome), ...baselineSentences(baseline), ...informationLines(outcome)],
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
function withoutQuoted({
  warnings,
  remoteErrors,
  reason
}: Outcome): Pick<Outcome, 'warnings' | 'remoteErrors'> {
  return { warnings, remoteErrors: remoteErrors.filter((line) => !reason.includes(line.slice(0, QUOTED))) }
}

/** Of a run without samples, a service often has nothing to say but the error. */
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

function earlyStop({ stoppedEarly }: Outcome): string[] {
  return stoppedEarly === undefined ? [] : [explainEarlyStop(stoppedEarly)]
}

function changeOf({ change, base, baseFrom }: ComparisonCells): string {
  return baseFrom === '' ? change : `${change}, base ${base} (${baseFrom})`
}

function informationLines({ shownComparisons = [], judgements, baseline }: Outcome): string[] {
  if (judgements.some(({ comparison }) => comparison !== undefined)) return []
  return judgementRows(shownComparisons, baseline).flatMap(({ comparison, threshold }) =>
    comparison === undefined || comparison.baseFrom === ''
      ? []
      : [`For information, not judged: ${threshold}: ${comparison.head}, ${changeOf(comparison)}`]
  )
}

/** What to do about an outcome whose reason alone does not say it; undefined if it does, or nobody knows. */
function adviceFor({ verdict, measurements, run }: Outcome): string | undefined {
  const { errorRate } = measurements?.figures({}) ?? {}
  if (verdict !== 'passed' && errorRate !== undefined && errorRate > 0.5)
    return 'Most samples failed: check that the target is running and that the plan has its address. `--wait-for URL` starts the load only once the target answers.'
  if (verdict === 'timed-out' && errorRate !== undefined && run !== undefined)
    return 'The load was still running: raise --timeout if it needs longer. If the plan has no end of its own, have it read --duration, in JMeter as ${__P(duration,60)}.'
  return undefined
}
