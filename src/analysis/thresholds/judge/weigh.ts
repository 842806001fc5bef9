import type { Scope } from '../../results/figures/measurements.js'
import { holds, measureRoom, leaveUndecided, type Judgement } from './judgement.js'
import type { OverTimeReading, Reading } from './evidence.js'
import { formatActual, formatLimit, formatMargin } from '../format.js'
import type { AbsoluteThreshold } from '../grammar/threshold.js'
import { describeScope } from '../quoting.js'

export interface ScopeReading {
  readonly scope: Scope
  readonly reading: Reading
}

interface Worst {
  readonly scope: Scope
  readonly actual: number
  readonly isBroken: boolean
  /** That of the worse figure, where stalls are a warning too. */
  readonly room: number
  readonly overTime: OverTimeReading | undefined
}

interface Tally {
  checked: number
  broken: number
  missing: number
  worst: Worst | undefined
  /** What to say about the scope: that its number is unknown, or why it is doubtful. */
  firstMissing: { readonly scope: Scope; readonly words: string } | undefined
}

/** A threshold must hold in every scope: a broken one decides, then one without a number, and the worst is named. */
export function weighReadings(threshold: AbsoluteThreshold, readings: Iterable<ScopeReading>): Judgement {
  const tally = countReadings(threshold, readings)
  const { worst, firstMissing } = tally
  if (worst && (tally.broken > 0 || !firstMissing)) {
    const { actual, scope, overTime } = worst
    return {
      threshold,
      verdict: tally.broken > 0 ? 'failed' : 'passed',
      actual,
      margin: shareOfLimit(measureRoom(actual, threshold), threshold.value),
      ...namedScope(scope),
      scopesChecked: tally.checked,
      reason: explainVerdict(threshold, tally, worst),
      ...(overTime && { overTime: overTime.figure, ...warningOf(threshold, scope, overTime) })
    }
  }
  if (!firstMissing)
    return leaveUndecided(
      threshold,
      `${threshold.name} is unknown: there are no samples in any such combination`
    )
  const others = tally.missing > 1 ? `; the same in ${tally.missing} of ${tally.checked} scopes` : ''
  return {
    ...leaveUndecided(
      threshold,
      `${threshold.name}${describeScope(firstMissing.scope)} ${firstMissing.words}${others}`
    ),
    ...namedScope(firstMissing.scope),
    scopesChecked: tally.checked
  }
}

/** Keeps only the worst scope: there may be very many. */
function countReadings(threshold: AbsoluteThreshold, readings: Iterable<ScopeReading>): Tally {
  const tally: Tally = { checked: 0, broken: 0, missing: 0, worst: undefined, firstMissing: undefined }
  for (const { scope, reading } of readings) {
    tally.checked++
    if ('missing' in reading) {
      tally.missing++
      tally.firstMissing ??= { scope, words: `is unknown: ${reading.missing}` }
      continue
    }
    const { actual, doubt, overTime } = reading
    if (doubt !== undefined && holds(actual, threshold)) {
      tally.missing++
      tally.firstMissing ??= { scope, words: `is ${formatActual({ threshold, actual })}, but ${doubt}` }
      continue
    }
    const isBroken = !holds(actual, threshold)
    const figure = overTime?.figure
    const room = measureRoom(figure?.effect === 'warns' ? figure.value : actual, threshold)
    if (isBroken) tally.broken++
    const { worst } = tally
    const isWorse = !worst || (isBroken === worst.isBroken ? room < worst.room : isBroken)
    if (isWorse) tally.worst = { scope, actual, isBroken, room, overTime }
  }
  return tally
}

function explainVerdict(
  threshold: AbsoluteThreshold,
  { checked, broken, missing }: Tally,
  { scope, actual, overTime }: Worst
): string {
  const judged = { threshold, actual }
  const subject = threshold.name + describeScope(scope)
  const others =
    checked === 1
      ? ''
      : broken > 0
        ? `; broken in ${broken} of ${checked} scopes`
        : `; the closest of ${checked} scopes`
  const unknown = missing > 0 ? `, unknown in ${missing}` : ''
  if (overTime?.isJudged) return `${subject} is ${overTime.words}${others}${unknown}`
  const limit = `must be ${threshold.operator} ${formatLimit(threshold)}`
  return `${subject} is ${formatActual(judged)}, ${limit}: ${formatMargin(judged)}${others}${unknown}`
}

function warningOf(
  threshold: AbsoluteThreshold,
  scope: Scope,
  { figure, words }: OverTimeReading
): Pick<Judgement, 'warning'> {
  return figure.effect === 'warns' ? { warning: `${threshold.name}${describeScope(scope)} is ${words}.` } : {}
}

export function shareOfLimit(room: number, limit: number): number | undefined {
  if (limit === 0) return room === 0 ? 0 : undefined
  return room / limit
}

export function namedScope(scope: Scope): { scope?: Scope } {
  return Object.keys(scope).length > 0 ? { scope } : {}
}
