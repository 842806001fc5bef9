import { isAbsoluteThreshold } from '../../thresholds/grammar/threshold.js'
import type { AbsoluteThreshold, Metric, Threshold } from '../../thresholds/grammar/threshold.js'
import { findBrokenWindows } from './broken-windows.js'
import type { Breach } from './early-judgement.js'
import type { LiveEvidence } from './live-evidence.js'
import { holds } from '../../thresholds/judge/compare.js'
import { readFigure } from '../../thresholds/judge/evidence.js'
import { findScopes } from '../../thresholds/judge/scopes.js'
import { formatActual, formatLimit } from '../../thresholds/format.js'
import { describeScope } from '../../thresholds/quoting.js'

/** The lines that can end a run: a warning never fails, and a comparison needs the whole run. */
export function decisiveLines(thresholds: readonly Threshold[]): AbsoluteThreshold[] {
  return thresholds.filter(isAbsoluteThreshold).filter(({ level }) => level === 'fail')
}

/** The first line that is reason enough to stop the run. */
export function findBreach(
  thresholds: readonly AbsoluteThreshold[],
  evidence: LiveEvidence
): Breach | undefined {
  for (const threshold of thresholds) {
    const breach = findOutOfReach(threshold, evidence) ?? findBrokenWindows(threshold, evidence)
    if (breach !== undefined) return breach
  }
  return undefined
}

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
