import type { Figures, Measurements } from '../../results/figures/measurements.js'
import type { Stall } from '../../results/stalls/find-stalls.js'
import type { OverTime } from '../../results/stalls/over-time.js'
import { formatActual, formatLimit, describeStall, formatWait, formatWaitLimit } from '../format.js'
import { factsOf, isWorse, type NamedMetric } from '../metrics.js'
import { isAbsoluteThreshold, type AbsoluteThreshold, type Threshold } from '../grammar/threshold.js'
import { holds, type OnStall, type OverTimeFigure } from './judgement.js'
import type { Evidence, Reading } from './evidence.js'
import { findScopes } from './scopes.js'

/** Whether it has a figure over time: what users who arrived at any moment would have seen at best. */
export function hasOverTime(line: Pick<NamedMetric, 'metric'>): boolean {
  return factsOf(line).readOverTime !== undefined
}

/** The labels that have to be followed for these lines, as the literal pieces between the `*` of their patterns. */
export function listStallLabels(thresholds: readonly Threshold[]): (readonly string[])[] {
  return thresholds.filter(hasOverTime).flatMap(({ selector: { label } }) => (label ? [label.pieces] : []))
}

/** Whether stalls can break the line: they make waits longer, never shorter. */
export function canBreak(threshold: Pick<Threshold, 'metric' | 'operator'>): boolean {
  return threshold.operator.startsWith(factsOf(threshold).better === 'higher' ? '>' : '<')
}

/** A figure over time of the scope, in base units; undefined without stalls. */
export function readOverTime(
  line: NamedMetric,
  overTime: OverTime | string | undefined,
  targetMs: number | undefined
): { readonly value: number; readonly longest: Stall } | undefined {
  if (overTime === undefined || typeof overTime === 'string') return undefined
  const [first, ...others] = overTime.stalls
  if (first === undefined) return undefined
  const longest = others.reduce((one, other) => (other.ms > one.ms ? other : one), first)
  const value = factsOf(line).readOverTime?.(overTime, { percentile: line.percentile, targetMs })
  return value === undefined ? undefined : { value, longest }
}

/** With two users in all, one slow request and its neighbour look like a stall. */
export function effectOf(onStall: OnStall, isFew: boolean): 'fails' | 'warns' | 'ignored' {
  if (onStall === 'ignore') return 'ignored'
  return onStall === 'warn' || isFew ? 'warns' : 'fails'
}

/** Judges the figure of a scope by the worse of the two, by samples and over time, as far as `on-stall` says so. */
export function addOverTime(
  reading: Reading,
  threshold: AbsoluteThreshold,
  { figures, evidence }: { readonly figures: Figures | undefined; readonly evidence: Evidence }
): Reading {
  if (!('actual' in reading) || figures === undefined || !hasOverTime(threshold)) return reading
  const overTime = figures.overTime()
  const found = readOverTime(threshold, overTime, evidence.apdex?.targetMs)
  if (found === undefined || typeof overTime === 'string') return reading
  const { actual: bySamples } = reading
  const { value, longest } = found
  const isFelt = canBreak(threshold) && isWorse(threshold, value, bySamples)
  const isBroken = isFelt && holds(bySamples, threshold) && !holds(value, threshold)
  const { onStall = 'fail' } = evidence
  const does = effectOf(onStall, overTime.isFew)
  const figure: OverTimeFigure = { value, bySamples, longest, effect: isBroken ? does : 'none' }
  const runStartMs = evidence.warmUp?.whole.startMs ?? evidence.measurements?.startMs
  const isJudged = isFelt && does === 'fails'
  const words = isFelt && does !== 'ignored' ? explainFigures(threshold, figure, runStartMs) : ''
  return {
    ...reading,
    actual: isJudged ? value : bySamples,
    overTime: { figure, isJudged, words: onStall === 'fail' && overTime.isFew ? words + ONLY_TWO : words }
  }
}

const ONLY_TWO = '. There were two users in all, so this may be two slow requests: it is a warning only'

/** `174 ms for the requests that were sent, but at least 4.6 s over time: at 0:08 nothing was answered …; must be < 1 s` */
function explainFigures(
  threshold: AbsoluteThreshold,
  figure: OverTimeFigure,
  runStartMs: number | undefined
): string {
  const limit = factsOf(threshold).isTime ? formatWaitLimit(threshold.value) : formatLimit(threshold)
  return `${writeFigures(threshold, figure, runStartMs)}; must be ${threshold.operator} ${limit}`
}

/** The same without the limit. */
export function writeFigures(
  threshold: Threshold,
  { value, bySamples, longest, effect }: OverTimeFigure,
  runStartMs: number | undefined
): string {
  const { isTime, better } = factsOf(threshold)
  const limitMs = isAbsoluteThreshold(threshold) ? threshold.value : undefined
  const [sent, felt] = [bySamples, value].map((actual) =>
    isTime ? formatWait(actual, limitMs) : formatActual({ threshold, actual })
  )
  const bound = `${effect === 'none' ? 'and' : 'but'} at ${better === 'higher' ? 'most' : 'least'}`
  return `${sent ?? ''} for the requests that were sent, ${bound} ${felt ?? ''} over time: ${describeStall(longest, runStartMs)}`
}

/** Why stalls could not be looked for in a scope that a line needs them for, in a sentence; the first such scope stands for all. */
export function describeNoOverTime(
  thresholds: readonly Threshold[],
  { measurements, onStall }: { readonly measurements: Measurements | undefined; readonly onStall: OnStall }
): string[] {
  if (measurements === undefined || onStall === 'ignore') return []
  for (const threshold of thresholds.filter((one) => hasOverTime(one) && canBreak(one)))
    for (const { figures } of findScopes(threshold.selector, measurements)) {
      const lack = figures && hasTimes(threshold, figures) ? figures.overTime() : undefined
      if (typeof lack === 'string')
        return [
          `\`${threshold.text}\` is judged by the requests that were sent alone: ${lack}, so times in which users waited and nothing was answered cannot be found.`
        ]
    }
  return []
}

/** Without them, a line on times says so itself. */
function hasTimes(threshold: Threshold, figures: Figures): boolean {
  return !factsOf(threshold).isTime || factsOf(threshold).read(figures, threshold) !== undefined
}
