import type { Measurements, Scope } from '../../results/figures/measurements.js'
import type { AbsoluteThreshold } from '../grammar/threshold.js'
import { describeGaps, readFigure, readServiceApdex, doubtFailed, failsForFailures } from './evidence.js'
import type { Evidence, Reading, OverTimeReading } from './evidence.js'
import { factsOf } from '../metrics.js'
import { leaveUndecided, type Judgement, holds, measureRoom } from './judgement.js'
import { addOverTime } from './over-time.js'
import { describeUnmatched, findScopes } from './scopes.js'
import { formatActual, formatLimit, formatMargin } from '../format.js'
import { describeScope } from '../quoting.js'

/** Where more than half of the samples failed, times, throughput and apdex cannot satisfy a threshold, unless the failures break one. */
export function judgeThresholds(thresholds: readonly AbsoluteThreshold[], evidence: Evidence): Judgement[] {
  const trusting = thresholds.map((threshold) => judgeThreshold(threshold, evidence, true))
  const isFailed = failsForFailures(trusting)
  return trusting.map((judgement, i) => {
    const threshold = thresholds[i]
    if (threshold === undefined || !factsOf(threshold).needsSuccess) return judgement
    const doubting = judgeThreshold(threshold, evidence, false)
    if (!isFailed) return doubting
    const isDoubtful = judgement.verdict === 'passed' && doubting.verdict !== 'passed'
    return isDoubtful ? { ...judgement, doubt: doubting.reason } : judgement
  })
}

function judgeThreshold(threshold: AbsoluteThreshold, evidence: Evidence, isTrusting: boolean): Judgement {
  // The grammar rejects such a limit; one created otherwise would hold by accident.
  if (!Number.isFinite(threshold.value)) return leaveUndecided(threshold, 'the limit is not a number')
  const gaps = describeGaps(evidence)
  if (threshold.metric === 'apdex' && Object.keys(threshold.selector).length === 0) {
    // Rows that are missing may have been the answers.
    const figures = gaps === undefined ? evidence.measurements?.figures({}) : undefined
    const own = addOverTime(readServiceApdex(evidence), threshold, figures, evidence)
    const reading = isTrusting ? own : withDoubt(threshold, own, evidence, {})
    return weighReadings(threshold, [{ scope: {}, reading }])
  }
  if (!evidence.measurements) return leaveUndecided(threshold, `${threshold.name} is unknown: ${gaps ?? ''}`)

  const judgement = judgeMeasured(threshold, evidence.measurements, evidence, isTrusting)
  if (gaps === undefined) return judgement
  // Not even a breach is trusted here: the missing rows might reverse it.
  const reason = `${threshold.name} cannot be judged: ${gaps}; in what could be read, ${judgement.reason}`
  return { ...leaveUndecided(threshold, reason), scopesChecked: judgement.scopesChecked }
}

function judgeMeasured(
  threshold: AbsoluteThreshold,
  measurements: Measurements,
  evidence: Evidence,
  isTrusting: boolean
): Judgement {
  if (!measurements.figures({}))
    return leaveUndecided(threshold, `${threshold.name} is unknown: there are no samples`)
  const unmatched = describeUnmatched(threshold.selector, measurements)
  const judgement =
    unmatched === undefined ? weighReadings(threshold, readScopes()) : leaveUndecided(threshold, unmatched)
  const { warmUp } = evidence
  const isEarly = judgement.scopesChecked === 0 && warmUp !== undefined && hasSamples(threshold, warmUp.whole)
  return isEarly
    ? { ...judgement, reason: `${judgement.reason}; all samples that match start within the warm-up` }
    : judgement

  function* readScopes(): Generator<ScopeReading> {
    const { metric, selector } = threshold
    for (const { scope, figures } of findScopes(selector, measurements)) {
      // `{label="*"}` is about the load.
      const isOutside = figures?.isAside === true && figures.throughput === undefined
      if (metric === 'throughput' && isOutside && selector.label?.text !== scope.label) continue
      const own = addOverTime(readFigure(threshold, figures, evidence), threshold, figures, evidence)
      yield { scope, reading: isTrusting ? own : withDoubt(threshold, own, evidence, scope) }
    }
  }
}

/** A number that was made by failures, with the doubts that there were. */
function withDoubt(
  threshold: AbsoluteThreshold,
  reading: Reading,
  { measurements }: Evidence,
  scope: Scope
): Reading {
  if ('missing' in reading || measurements === undefined) return reading
  const doubts = [reading.doubt, doubtFailed(threshold, measurements, scope)].filter(
    (doubt) => doubt !== undefined
  )
  return doubts.length === 0 ? reading : { ...reading, doubt: doubts.join('; ') }
}

function hasSamples({ selector }: AbsoluteThreshold, measurements: Measurements): boolean {
  for (const { figures } of findScopes(selector, measurements)) if (figures !== undefined) return true
  return false
}

/** A broken threshold outweighs an inconclusive one; `warn:` lines never count. What could not be compared counts if settings say so. */
export function overallVerdict(judgements: readonly Judgement[]): Judgement['verdict'] {
  const verdicts = new Set(judgements.filter(isDecisive).map(({ verdict }) => verdict))
  if (verdicts.has('failed')) return 'failed'
  return verdicts.has('inconclusive') ? 'inconclusive' : 'passed'
}

export function isDecisive(judgement: Judgement): boolean {
  if (judgement.threshold.level !== 'fail') return false
  return !isNotJudged(judgement) || judgement.comparison?.ifNotJudged === 'fail'
}

/** Whether a line names `baseline` and could not be compared with it: too little to tell, no baseline, or another kind of run. */
export function isNotJudged({ verdict, comparison }: Judgement): boolean {
  return verdict === 'inconclusive' && comparison !== undefined
}

interface ScopeReading {
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
function weighReadings(threshold: AbsoluteThreshold, readings: Iterable<ScopeReading>): Judgement {
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
      ...(overTime && { overTime: overTime.figure }),
      ...(overTime?.figure.effect === 'warns' && {
        warning: `${threshold.name}${describeScope(scope)} is ${overTime.words}.`
      })
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

export function shareOfLimit(room: number, limit: number): number | undefined {
  if (limit === 0) return room === 0 ? 0 : undefined
  return room / limit
}

export function namedScope(scope: Scope): { scope?: Scope } {
  return Object.keys(scope).length > 0 ? { scope } : {}
}
