import { holds } from '../../thresholds/judge/compare.js'
import { readFigure } from '../../thresholds/judge/evidence.js'
import { findScopes } from '../../thresholds/judge/scopes.js'
import { formatActual, formatLimit } from '../../thresholds/format.js'
import type { AbsoluteThreshold, Metric } from '../../thresholds/grammar/threshold.js'
import { describeScope } from '../../thresholds/quoting.js'
import type { Breach } from './early-judgement.js'
import type { LiveEvidence } from './live-evidence.js'

/** Fewer say little, and a run that is this short is not worth stopping. */
const LEAST_SAMPLES = 20

/** A line that is broken for good: its figure only ever moves away from the limit, whatever the rest of the run brings. */
export function findOutOfReach(
  threshold: AbsoluteThreshold,
  { total, hasTransactions }: LiveEvidence
): Breach | undefined {
  if ((total.figures({})?.samples ?? 0) < LEAST_SAMPLES) return undefined
  // Later rows may show that a transaction does not count in the overall figures.
  if (hasTransactions && threshold.selector.label === undefined) return undefined
  for (const { scope, figures } of findScopes(threshold.selector, total)) {
    const reading = readFigure(threshold, figures, { apdex: undefined, measurements: total })
    if (!('actual' in reading) || !isBeyond(reading.actual, threshold)) continue
    const { actual } = reading
    const must = `must be ${threshold.operator} ${formatLimit(threshold)}`
    const now = formatActual({ threshold, actual })
    const words = `${threshold.name}${describeScope(scope)} ${must} and is already ${now}`
    return { threshold, scope, actual, words, isFinal: true }
  }
  return undefined
}

const RISING: readonly Metric[] = ['samples', 'failures', 'max']
const FALLING: readonly Metric[] = ['min']

/** Whether the limit is behind the figure: what only rises breaks upper limits for good, and what only falls lower ones. */
function isBeyond(actual: number, threshold: AbsoluteThreshold): boolean {
  const { metric, operator, value } = threshold
  const isOver = operator === '==' ? actual > value : operator.startsWith('<')
  return (isOver ? RISING : FALLING).includes(metric) && !holds(actual, threshold)
}
