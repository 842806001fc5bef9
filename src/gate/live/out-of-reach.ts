import type { Figures } from '../../results/figures/measurements.js'
import { compareToLimit, holds } from '../../thresholds/judge/compare.js'
import { readFigure } from '../../thresholds/judge/evidence.js'
import { findScopes } from '../../thresholds/judge/scopes.js'
import { formatActual, formatLimit, formatValue } from '../../thresholds/format.js'
import type { AbsoluteThreshold, Metric } from '../../thresholds/grammar/threshold.js'
import { describeScope } from '../../thresholds/quoting.js'
import type { Breach } from './early-judgement.js'
import type { LiveEvidence } from './live-evidence.js'

/** Fewer say little, and a run that is this short is not worth stopping. */
const LEAST_SAMPLES = 20
/** A run with a shorter span does not count as the run that was requested. */
const LEAST_SHARE = 0.8

/** Between these the figure of the whole run will be, whatever the rest brings. */
interface Reach {
  readonly lowest: number
  readonly highest: number
}

/** A line whose figure cannot get to its limit any more, even if the rest of the run is perfect and long. */
export function findOutOfReach(threshold: AbsoluteThreshold, evidence: LiveEvidence): Breach | undefined {
  const { total, hasTransactions } = evidence
  if ((total.figures({})?.samples ?? 0) < LEAST_SAMPLES) return undefined
  // Later rows may show that a transaction does not count in the overall figures.
  if (hasTransactions && threshold.selector.label === undefined) return undefined
  for (const { scope, figures } of findScopes(threshold.selector, total)) {
    const reach = figures && reachOf(threshold, figures, evidence)
    if (reach === undefined || canHold(threshold, reach)) continue
    const reading = readFigure(threshold, figures, { apdex: undefined, measurements: total })
    if (!('actual' in reading)) continue
    const subject = `${threshold.name}${describeScope(scope)}`
    const words = `${subject} ${describe(threshold, { reach, actual: reading.actual, evidence })}`
    return { threshold, scope, actual: reading.actual, words }
  }
  return undefined
}

function canHold(threshold: AbsoluteThreshold, { lowest, highest }: Reach): boolean {
  if (threshold.operator === '==')
    return compareToLimit(lowest, threshold.value) <= 0 && compareToLimit(highest, threshold.value) >= 0
  const best = threshold.operator.startsWith('<') ? lowest : highest
  return best === Infinity || holds(best, threshold)
}

/** Undefined for figures that are not judged this way, or that the CSVs do not have. */
function reachOf(threshold: AbsoluteThreshold, figures: Figures, evidence: LiveEvidence): Reach | undefined {
  const { samples, failures, meanMs, minMs, maxMs } = figures
  const { mostMore } = evidence
  const most = samples + mostMore
  switch (threshold.metric) {
    case 'samples':
      return { lowest: samples, highest: most }
    case 'failures':
      return { lowest: failures, highest: failures + mostMore }
    case 'max':
      return maxMs === undefined ? undefined : { lowest: maxMs, highest: Infinity }
    case 'min':
      return minMs === undefined ? undefined : { lowest: 0, highest: minMs }
    case 'error_rate':
      return { lowest: failures / most, highest: 1 - (samples - failures) / most }
    case 'mean':
      return meanMs === undefined ? undefined : { lowest: (meanMs * samples) / most, highest: Infinity }
    case 'median':
    case 'percentile':
      return reachOfPercentile(threshold.percentile, figures, mostMore)
    case 'throughput':
      return { lowest: 0, highest: most / shortestSpanSeconds(evidence) }
    case 'apdex':
    case 'concurrency':
      return undefined
  }
}

/** The lowest if all further samples take no time, the highest if they never end. */
function reachOfPercentile(
  percent: number | undefined,
  figures: Figures,
  mostMore: number
): Reach | undefined {
  const { samples } = figures
  if (percent === undefined || figures.percentileMs(percent) === undefined) return undefined
  if (!Number.isFinite(mostMore)) return { lowest: 0, highest: Infinity }
  // Rounding must not raise a rank: the bounds would be too tight.
  const exact = (percent / 100) * (samples + mostMore)
  const lowestRank = Math.ceil(exact - 1e-6) - mostMore
  const highestRank = Math.ceil(exact + 1e-6)
  return {
    lowest: lowestRank < 1 ? 0 : valueAt(figures, lowestRank),
    highest: highestRank > samples ? Infinity : valueAt(figures, highestRank)
  }
}

/** By nearest rank. */
function valueAt(figures: Figures, rank: number): number {
  return figures.percentileMs((100 * (rank - 0.5)) / figures.samples) ?? 0
}

/** Of the samples that count. */
function shortestSpanSeconds({ elapsedMs, durationMs, countedAfterMs }: LiveEvidence): number {
  return Math.max(0, Math.max(elapsedMs, LEAST_SHARE * durationMs) - countedAfterMs) / 1000
}

/** The rest of the run can only move these away from the limit. */
const ONE_WAY: readonly Metric[] = ['samples', 'failures', 'max', 'min']

function describe(
  threshold: AbsoluteThreshold,
  { reach, actual, evidence }: { reach: Reach; actual: number; evidence: LiveEvidence }
): string {
  const must = `must be ${threshold.operator} ${formatLimit(threshold)}`
  const now = formatActual({ threshold, actual })
  const isTooHigh = compareToLimit(reach.lowest, threshold.value) >= 0
  if (ONE_WAY.includes(threshold.metric) && (isTooHigh || threshold.metric === 'min'))
    return `${must} and is already ${now}`
  const best = formatValue(threshold.metric, isTooHigh ? reach.lowest : reach.highest)
  const more = evidence.mostMore.toLocaleString('en-US')
  return (
    `${must} and cannot get there any more: it is ${now} so far and would be ${best} even after ${more} perfect samples ` +
    '(more than the rest of the run can have)'
  )
}
