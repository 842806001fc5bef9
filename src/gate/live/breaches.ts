import type { Scope } from '../../analysis/results/figures/measurements.js'
import { formatActual, formatLimit } from '../../analysis/thresholds/format.js'
import {
  type AbsoluteThreshold,
  isAbsoluteThreshold,
  type Threshold
} from '../../analysis/thresholds/grammar/threshold.js'
import { readFigure } from '../../analysis/thresholds/judge/evidence.js'
import {
  compareToLimit,
  holds,
  measureRoom,
  type Judgement
} from '../../analysis/thresholds/judge/judgement.js'
import { findScopes } from '../../analysis/thresholds/judge/scopes.js'
import { namedScope, shareOfLimit } from '../../analysis/thresholds/judge/judge.js'
import { factsOf } from '../../analysis/thresholds/metrics.js'
import { describeScope } from '../../analysis/thresholds/quoting.js'
import { type LiveEvidence, WINDOWS } from './live-evidence.js'
import { WINDOW_MS } from './live-grid.js'

/** A line that ends the run, in one scope. */
export interface Breach {
  readonly threshold: AbsoluteThreshold
  readonly scope: Scope
  readonly actual: number
  readonly words: string
  /** Whether the line stays broken whatever the rest of the run brings. */
  readonly isFinal: boolean
}

function* findBroken(
  threshold: AbsoluteThreshold,
  { total }: LiveEvidence
): Generator<{ readonly scope: Scope; readonly actual: number }> {
  for (const { scope, figures } of findScopes(threshold.selector, total)) {
    const reading = readFigure(threshold, figures, { apdex: undefined, measurements: total })
    if ('actual' in reading && !holds(reading.actual, threshold)) yield { scope, actual: reading.actual }
  }
}

export function judgementOf({ threshold, scope, actual }: Breach, reason: string): Judgement {
  return {
    threshold,
    verdict: 'failed',
    actual,
    margin: shareOfLimit(measureRoom(actual, threshold), threshold.value),
    ...namedScope(scope),
    scopesChecked: 1,
    reason
  }
}

/** The lines that can end a run: a warning never fails, and a comparison needs the whole run. */
export function decisiveLines(thresholds: readonly Threshold[]): AbsoluteThreshold[] {
  return thresholds.filter(isAbsoluteThreshold).filter(({ level }) => level === 'fail')
}

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
export function findOutOfReach(threshold: AbsoluteThreshold, evidence: LiveEvidence): Breach | undefined {
  if ((evidence.total.figures({})?.samples ?? 0) < LEAST_SAMPLES) return undefined
  // Later rows may show that a transaction does not count in the overall figures.
  if (evidence.hasTransactions && threshold.selector.label === undefined) return undefined
  for (const { scope, actual } of findBroken(threshold, evidence)) {
    if (!isBeyond(actual, threshold)) continue
    const must = `must be ${threshold.operator} ${formatLimit(threshold)}`
    const now = formatActual({ threshold, actual })
    const words = `${threshold.name}${describeScope(scope)} ${must} and is already ${now}`
    return { threshold, scope, actual, words, isFinal: true }
  }
  return undefined
}

/** Whether the limit is behind the figure: what only rises breaks upper limits for good, and what only falls lower ones. */
function isBeyond(actual: number, threshold: AbsoluteThreshold): boolean {
  const { operator, value } = threshold
  const isOver = operator === '==' ? actual > value : operator.startsWith('<')
  return factsOf(threshold).onlyMoves === (isOver ? 'up' : 'down')
}

const WINDOW_SECONDS = WINDOW_MS / 1000

/** A line that is broken so far, and was in every one of the last windows, in the same scope. It might recover, but mostly does not. */
function findBrokenWindows(threshold: AbsoluteThreshold, evidence: LiveEvidence): Breach | undefined {
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
