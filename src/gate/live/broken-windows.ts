import type { Scope } from '../../analysis/results/figures/measurements.js'
import { compareToLimit, holds } from '../../analysis/thresholds/judge/judgement.js'
import { readFigure } from '../../analysis/thresholds/judge/evidence.js'
import { formatActual, formatLimit } from '../../analysis/thresholds/format.js'
import { factsOf } from '../../analysis/thresholds/metrics.js'
import type { AbsoluteThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { describeScope } from '../../analysis/thresholds/quoting.js'
import { type Breach, findBroken, WINDOWS, type LiveEvidence } from './live-evidence.js'
import { WINDOW_MS } from './live-grid.js'

const WINDOW_SECONDS = WINDOW_MS / 1000

/**
 * A line that is broken so far, and was in every one of the last windows, in the same scope. It might recover; but who waits for it mostly
 * waits for nothing.
 */
export function findBrokenWindows(threshold: AbsoluteThreshold, evidence: LiveEvidence): Breach | undefined {
  if (!isJudgedByWindows(threshold) || evidence.windows.length < WINDOWS) return undefined
  // How many samples end in a window does not depend on when they started, but how long they took does.
  if (evidence.hasEarlyInWindows && factsOf(threshold).inWindows !== 'count') return undefined
  if (evidence.total.figures({}) === undefined) return undefined
  for (const { scope, actual } of findBroken(threshold, evidence)) {
    const actuals = evidence.windows.map((window) => readWindow(threshold, scope, window))
    if (actuals.some((each) => each === undefined || holds(each, threshold))) continue
    const words = describe(threshold, scope, { actual, actuals })
    return { threshold, scope, actual, words, isFinal: false }
  }
  return undefined
}

/** The other figures are of the run as a whole: a window has its own minimum, and fewer samples than the run. */
function isJudgedByWindows(threshold: AbsoluteThreshold): boolean {
  const { inWindows } = factsOf(threshold)
  if (inWindows === undefined || threshold.operator === '==') return false
  // Below one sample per window, a window without any says nothing.
  return inWindows === 'figure' || threshold.value * WINDOW_SECONDS >= 1
}

function readWindow(
  threshold: AbsoluteThreshold,
  scope: Scope,
  window: LiveEvidence['total']
): number | undefined {
  const figures = window.figures(scope)
  // A part of the plan may have its time, and is not broken before or after it; the run as a whole always has samples.
  const isPart = Object.keys(scope).length > 0
  if (figures === undefined && isPart) return undefined
  if (factsOf(threshold).inWindows === 'count') return (figures?.samples ?? 0) / WINDOW_SECONDS
  const reading = readFigure(threshold, figures, { apdex: undefined, measurements: window })
  return 'actual' in reading ? reading.actual : undefined
}

function describe(
  threshold: AbsoluteThreshold,
  scope: Scope,
  { actual, actuals }: { actual: number; actuals: readonly (number | undefined)[] }
): string {
  const isUpper = threshold.operator === '<' || threshold.operator === '<='
  const isEqual = actuals.some((each) => compareToLimit(each ?? 0, threshold.value) === 0)
  const side = `${isEqual ? 'at or ' : ''}${isUpper ? 'above' : 'below'}`
  const format = (value: number | undefined): string => formatActual({ threshold, actual: value })
  return (
    `${threshold.name}${describeScope(scope)} is ${format(actual)} so far, and was ${side} ${formatLimit(threshold)} in each of the ` +
    `last six ${WINDOW_SECONDS}-second windows (latest ${format(actuals.at(-1))})`
  )
}
