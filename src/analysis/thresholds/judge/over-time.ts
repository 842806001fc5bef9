import { overTimeOf, type Figures, type Measurements } from '../../results/figures/measurements.js'
import type { Stall } from '../../results/stalls/find-stalls.js'
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
  figures: Figures | undefined,
  targetMs: number | undefined
): { readonly value: number; readonly longest: Stall; readonly isFew: boolean } | undefined {
  const overTime = overTimeOf(figures)
  const [longest] = [...(overTime?.stalls ?? [])].sort((one, other) => other.ms - one.ms)
  if (overTime === undefined || longest === undefined) return undefined
  const value = factsOf(line).readOverTime?.(overTime, { percentile: line.percentile, targetMs })
  return value === undefined ? undefined : { value, longest, isFew: overTime.isFew }
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
  figures: Figures | undefined,
  evidence: Evidence
): Reading {
  if (!('actual' in reading) || !hasOverTime(threshold)) return reading
  const found = readOverTime(threshold, figures, evidence.apdex?.targetMs)
  if (found === undefined) return reading
  const { actual: bySamples } = reading
  const { value, longest, isFew } = found
  const isFelt = canBreak(threshold) && isWorse(threshold, value, bySamples)
  const isBroken = isFelt && holds(bySamples, threshold) && !holds(value, threshold)
  const { onStall = 'fail' } = evidence
  const does = effectOf(onStall, isFew)
  const figure: OverTimeFigure = { value, bySamples, longest, effect: isBroken ? does : 'none' }
  const runStartMs = evidence.warmUp?.whole.startMs ?? evidence.measurements?.startMs
  const isJudged = isFelt && does === 'fails'
  const limit = factsOf(threshold).isTime ? formatWaitLimit(threshold.value) : formatLimit(threshold)
  const told = `${writeFigures(threshold, figure, runStartMs)}; must be ${threshold.operator} ${limit}`
  const words = isFelt && does !== 'ignored' ? told : ''
  return {
    ...reading,
    actual: isJudged ? value : bySamples,
    overTime: { figure, isJudged, words: onStall === 'fail' && isFew ? words + ONLY_TWO : words }
  }
}

const ONLY_TWO = '. There were two users in all, so this may be two slow requests: it is a warning only'

/** `174 ms for the requests that were sent, but at least 4.6 s over time: at 0:08 nothing was answered …` */
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
      // Without times, a line on them says so itself.
      const { isTime, read } = factsOf(threshold)
      const lack = figures && (!isTime || read(figures, threshold) !== undefined) && figures.overTime()
      if (typeof lack === 'string')
        return [
          `\`${threshold.text}\` is judged by the requests that were sent alone: ${lack}, so times in which users waited and nothing was answered cannot be found.`
        ]
    }
  return []
}
