import { parseThresholds } from '../../thresholds/grammar/grammar.js'
import type { Parsed } from '../../values/setting-values.js'

/** Thresholds on lines of their own, or separated by commas; commas within braces belong to a selector. */
export function readThresholds(text: string): Parsed<readonly string[]> {
  const lines = text
    .split(/\n|,(?![^{]*\})/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const { problems } = parseThresholds(lines.join('\n'))
  if (lines.length > 0 && problems.length === 0) return { ok: true, value: lines }
  const why = problems.length === 0 ? '' : ` (${problems.join('; ')})`
  return { ok: false, accepted: `one or more thresholds such as error_rate < 1%, p95 < 800ms${why}` }
}
