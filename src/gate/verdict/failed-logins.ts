import type { Details } from '../../analysis/outcome.js'
import type { Measurements } from '../../analysis/results/figures/measurements.js'
import type { Threshold } from '../../analysis/thresholds/grammar/threshold.js'
import { mostlyFailed } from '../../analysis/thresholds/judge/evidence.js'
import { matchesPattern } from '../../analysis/thresholds/judge/scopes.js'
import type { ToolLine } from '../../analysis/thresholds/judge/tool-lines.js'
import { quote } from '../../analysis/thresholds/quoting.js'
import { joinWords } from '../../contract/text.js'

const REFUSED = /^40[13]$/
/** Fewer failures have little to do with what the figures say. */
const LEAST_ERROR_RATE = 0.1
const SHOWN = 3
const CHECK = 'check: '

/** Where failures are mostly 401 and 403: which request was refused first, and what to look at. */
export function describeRefused(
  measurements: Measurements | undefined,
  details: Details | undefined,
  variables: readonly string[]
): string[] {
  const { errorRate = 0, failures = 0 } = measurements?.figures({}) ?? {}
  const refused = (measurements?.errors({}) ?? []).filter(({ code }) => REFUSED.test(code))
  const count = refused.reduce((sum, error) => sum + error.count, 0)
  if (errorRate < LEAST_ERROR_RATE || count * 2 <= failures) return []
  const { label = '', code } =
    details?.failures.find((sample) => REFUSED.test(sample.code)) ?? refused[0] ?? {}
  const advice = variables.length > 0 ? joinWords(variables) : 'that the plan logs in, and with what'
  return [`${quote(label)} was refused (${code}): the requests are not logged in. Check ${advice}.`]
}

/** Checks of k6 that failed in most of their calls: they count for nothing but themselves, so the gate passes unless a line names them. */
export function describeFailedChecks(
  measurements: Measurements | undefined,
  thresholds: readonly Threshold[],
  toolLines: readonly ToolLine[] = []
): string[] {
  if (measurements === undefined || toolLines.some(({ text }) => /^k6: checks\b/.test(text))) return []
  const isNamed = (label: string): boolean =>
    thresholds.some(
      ({ metric, selector }) =>
        /^(?:error_rate|failures)$/.test(metric) && selector.label && matchesPattern(selector.label, label)
    )
  const failed = measurements.labels.flatMap((label) => {
    const figures = label.startsWith(CHECK) ? measurements.figures({ label }) : undefined
    if (figures === undefined || !mostlyFailed(figures) || isNamed(label)) return []
    return [`${quote(label.slice(CHECK.length))} failed in ${figures.failures} of ${figures.samples} calls`]
  })
  if (failed.length === 0) return []
  const which = failed.length === 1 ? 'The check' : 'The checks'
  const them = failed.length === 1 ? 'it' : 'them'
  return [
    `${which} ${joinWords(failed, SHOWN)}, and no threshold names ${them}. Add error_rate{label="${CHECK}*"} < 1%.`
  ]
}
