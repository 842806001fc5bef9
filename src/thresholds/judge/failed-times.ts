import type { Figures, Measurements, Scope } from '../../results/figures/measurements.js'
import type { Judgement } from './judgement.js'
import type { Metric } from '../grammar/threshold.js'
import { quote } from '../quoting.js'

const TIMES: readonly Metric[] = ['mean', 'median', 'percentile', 'min', 'max']
const FAILURES: readonly Metric[] = ['error_rate', 'failures', 'apdex']

export function isTime(metric: Metric): boolean {
  return TIMES.includes(metric)
}

/** Whether the gate already fails because of its failures, so that nothing depends on meaningless times. */
export function failsForFailures(judgements: readonly Judgement[]): boolean {
  return judgements.some(
    ({ verdict, threshold }) =>
      verdict === 'failed' && threshold.level === 'fail' && FAILURES.includes(threshold.metric)
  )
}

/** Why the times of a scope prove nothing: failed requests are fast or slow for other reasons. Undefined if they are fine. */
export function doubtTimes(
  { samples, failures }: Pick<Figures, 'samples' | 'failures'>,
  measurements: Pick<Measurements, 'errors'>,
  scope: Scope
): string | undefined {
  if (failures * 2 <= samples) return undefined
  const [first] = measurements.errors(scope)
  const words = first && [first.code, first.message].filter((text) => text.trim() !== '').map(quote)
  const most = words === undefined || words.length === 0 ? '' : `, most often with ${words.join(' ')}`
  return `${failures} of ${samples} samples failed${most}, so response times say little`
}
