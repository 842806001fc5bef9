import type { Figures, Scope } from '../../results/figures/measurements.js'
import { compareToLimit, holds } from '../../thresholds/judge/compare.js'
import { readFigure } from '../../thresholds/judge/evidence.js'
import { findScopes } from '../../thresholds/judge/scopes.js'
import { formatActual, formatLimit } from '../../thresholds/format.js'
import type { AbsoluteThreshold } from '../../thresholds/grammar/threshold.js'
import { describeScope } from '../../thresholds/quoting.js'
import type { Breach } from './early-judgement.js'
import { WINDOWS } from './live-evidence.js'
import type { LiveEvidence } from './live-evidence.js'
import { WINDOW_MS } from './live-grid.js'

const WINDOW_SECONDS = WINDOW_MS / 1000

/** A line that was broken in every one of the last windows, in the same scope. */
export function findBrokenWindows(threshold: AbsoluteThreshold, evidence: LiveEvidence): Breach | undefined {
  if (!isJudgedByWindows(threshold) || evidence.windows.length < WINDOWS) return undefined
  // How many samples end in a window does not depend on when they started, but how long they took does.
  if (evidence.hasEarlyInWindows && threshold.metric !== 'throughput') return undefined
  if (evidence.total.figures({}) === undefined) return undefined
  for (const { scope, figures } of findScopes(threshold.selector, evidence.total)) {
    if (hasEnough(threshold, figures, evidence)) continue
    const actuals = evidence.windows.map((window) => readWindow(threshold, scope, window))
    const broken = actuals.filter((actual) => actual !== undefined && !holds(actual, threshold))
    const latest = actuals.at(-1)
    if (broken.length < WINDOWS || latest === undefined) continue
    return { threshold, scope, actual: latest, words: describe(threshold, scope, actuals) }
  }
  return undefined
}

/** The other figures are of the run as a whole: a window has its own minimum, and fewer samples than the run. */
function isJudgedByWindows({ metric, operator, value }: AbsoluteThreshold): boolean {
  switch (metric) {
    case 'error_rate':
    case 'mean':
    case 'median':
    case 'percentile':
      return operator !== '=='
    case 'throughput':
      // Below one sample per window, a window without any says nothing.
      return operator !== '==' && value * WINDOW_SECONDS >= 1
    case 'apdex':
    case 'min':
    case 'max':
    case 'samples':
    case 'failures':
    case 'concurrency':
      return false
  }
}

/** Whether the samples so far are as many as the whole run needs: how they are spread over it does not matter then. */
function hasEnough(
  threshold: AbsoluteThreshold,
  figures: Figures | undefined,
  { durationMs, countedAfterMs }: LiveEvidence
): boolean {
  const isLowerLimit = threshold.operator.startsWith('>')
  if (threshold.metric !== 'throughput' || !isLowerLimit || figures === undefined) return false
  return holds(figures.samples / ((durationMs - countedAfterMs) / 1000), threshold)
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
  if (threshold.metric === 'throughput') return (figures?.samples ?? 0) / WINDOW_SECONDS
  const reading = readFigure(threshold, figures, { apdex: undefined, measurements: window })
  return 'actual' in reading ? reading.actual : undefined
}

function describe(
  threshold: AbsoluteThreshold,
  scope: Scope,
  actuals: readonly (number | undefined)[]
): string {
  const isUpper = threshold.operator === '<' || threshold.operator === '<='
  const isEqual = actuals.some((actual) => compareToLimit(actual ?? 0, threshold.value) === 0)
  const side = `${isEqual ? 'at or ' : ''}${isUpper ? 'above' : 'below'}`
  const latest = formatActual({ threshold, actual: actuals.at(-1) })
  return (
    `${threshold.name}${describeScope(scope)} was ${side} ${formatLimit(threshold)} in each of the last six ` +
    `${WINDOW_SECONDS}-second windows (latest ${latest})`
  )
}
