import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { isAbsoluteThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import type { AbsoluteThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'

/** Lines with limits of their own; one that names a baseline is a mistake of the test. */
export function parseAbsolute(text: string): { thresholds: AbsoluteThreshold[]; problems: string[] } {
  const { thresholds, problems } = parseThresholds(text)
  const absolute = thresholds.filter(isAbsoluteThreshold)
  if (absolute.length < thresholds.length) throw new Error(`a line names a baseline: ${text}`)
  return { thresholds: absolute, problems }
}
