import { parseThresholds } from '../thresholds/grammar/grammar.js'
import { isBaselineThreshold, type BaselineThreshold } from '../thresholds/grammar/threshold.js'

/** What is compared and shown, never judged, where no line names `baseline`. */
export const SHOWN_LINES = readLines([
  'warn: p95 <= baseline + 10%',
  'warn: throughput >= baseline - 10%',
  'warn: error_rate <= baseline + 0.5pp'
])

export function readLines(lines: readonly string[]): readonly BaselineThreshold[] {
  return parseThresholds(lines.join('\n')).thresholds.filter(isBaselineThreshold)
}
