import { factsOf, isWorse } from '../analysis/thresholds/metrics.js'
import type { Stall } from '../analysis/results/stalls/find-stalls.js'
import type { OverTime } from '../analysis/results/stalls/over-time.js'
import { formatActual, writeNumber, formatWait, formatMoment } from '../analysis/thresholds/format.js'
import { asAbsolute, type Judgement } from '../analysis/thresholds/judge/judgement.js'
import type { Outcome } from '../analysis/outcome.js'
import { findOrigin } from './page/numbers.js'
import { formatTime } from './sentences.js'

const MOST_STALLS = 20

type Measured = Partial<Pick<Outcome, 'measurements' | 'warmUp'>>

/** The longest times in which users waited and nothing was answered, from the run's first start; null if they are not known. */
export function stallsDocument(outcome: Measured) {
  const stalls = overTimeOf(outcome)?.stalls
  const { startMs: runMs } = outcome.warmUp?.whole ?? outcome.measurements ?? {}
  if (stalls === undefined || runMs === undefined) return null
  const longest = inOrder(longestFirst(stalls).slice(0, MOST_STALLS))
  return {
    count: stalls.length,
    longest: longest.map(({ startMs, ms, waiting }) => ({ atMs: startMs - runMs, ms, waiting }))
  }
}

function overTimeOf({ measurements }: Measured): OverTime | undefined {
  const overTime = measurements?.figures({})?.overTime()
  return typeof overTime === 'object' ? overTime : undefined
}

function longestFirst(stalls: readonly Stall[]): Stall[] {
  return [...stalls].sort((one, other) => other.ms - one.ms)
}

/**
 * A line's two figures, `174 ms by samples` (the requests sent) and `at least 4.6 s over time` (those that might have come at any moment).
 * Undefined where the figure over time, which is only a bound, says no more than the one by samples.
 */
export function overTimeCells(judgement: Judgement) {
  const { overTime, threshold, actual } = judgement
  if (overTime === undefined || actual === undefined || 'isToolLine' in threshold) return undefined
  const { value, bySamples } = overTime
  if (!isWorse(threshold, value, bySamples)) return undefined
  const { isTime, better } = factsOf(threshold)
  const limit = asAbsolute(judgement)?.value
  const write = (figure: number): string =>
    isTime ? formatWait(figure, limit) : formatActual({ ...judgement, actual: figure })
  return {
    bySamples: `${write(bySamples)} by samples`,
    overTime: `at ${better === 'higher' ? 'most' : 'least'} ${write(value)} over time`
  }
}

/** A stall on the axis of a series. */
export type StallBand = readonly [atMs: number, ms: number]

type Told = Partial<Pick<Outcome, 'measurements' | 'warmUp'>> & Pick<Outcome, 'judgements'>

const EXPLANATION = {
  words:
    'Users who wait send nothing, so few samples show that the server, the network or the load generator stalled. Over time means: for a request that arrives at any moment of the run.',
  link: 'How it is computed',
  url: 'https://github.com/loadgate/loadgate/blob/main/docs/verdicts.md#over-time'
}

/** More would only blur. */
const MOST_BANDS = 200
const LEAST_MS = 1_000
const LEAST_SHARE = 0.01

/**
 * Most runs have a few short ones; they matter if one took a second, all took a hundredth of the time, or a threshold has another figure by
 * them. The longest ones as rows, in order of time, and how many others there were, none of them longer.
 */
export function describeStalls(outcome: Told, mostRows = MOST_STALLS) {
  const found = findStalls(outcome)
  if (found === undefined) return undefined
  const ranked = longestFirst(found.stalls)
  const [longest] = ranked
  if (longest === undefined) return undefined
  const rowOf = createRows(outcome)
  const shown = inOrder(ranked.slice(0, mostRows))
  return {
    sentence: describe(rowOf(longest), found),
    rows: shown.map(rowOf),
    others: ranked.length - shown.length,
    explanation: EXPLANATION
  }
}

/** The same on the axis of the series of these measurements, in order of time; none if they are several runs'. */
export function placeStalls(outcome: Told, shown: Outcome['measurements']): StallBand[] {
  const originMs = shown && findOrigin(shown)
  if (originMs === undefined) return []
  const longest = longestFirst(findStalls(outcome)?.stalls ?? []).slice(0, MOST_BANDS)
  return inOrder(longest).map(({ startMs, ms }) => [startMs - originMs, ms])
}

function findStalls(outcome: Told): OverTime | undefined {
  const found = overTimeOf(outcome)
  if (found === undefined) return undefined
  const matters =
    found.stalls.some(({ ms }) => ms >= LEAST_MS) ||
    found.shareAbove(0) >= LEAST_SHARE ||
    outcome.judgements.some((judgement) => overTimeCells(judgement) !== undefined)
  return matters ? found : undefined
}

function inOrder(stalls: readonly Stall[]): Stall[] {
  return [...stalls].sort((one, other) => one.startMs - other.startMs)
}

/** Times are from the start of the axis of the page's charts, the warm-up included. */
function createRows({ measurements, warmUp }: Told) {
  const whole = warmUp?.whole ?? measurements
  const originMs = whole && findOrigin(whole)
  return ({ startMs, ms, waiting }: Stall) => {
    // In UTC, to look for in the logs of the server; so is when it was, if there were several runs.
    const clock = formatTime(startMs)
    const when = originMs === undefined ? clock : formatMoment(startMs - originMs)
    return { when, clock, howLong: formatWait(ms), waiting }
  }
}

export type StallRow = ReturnType<ReturnType<typeof createRows>>

function describe({ when, howLong, waiting }: StallRow, { stalls }: OverTime): string {
  const users = `${writeNumber(waiting, 0)} users waited`
  if (stalls.length === 1) return `At ${when} nothing was answered for ${howLong} while ${users}.`
  const inAll = formatWait(stalls.reduce((sum, { ms }) => sum + ms, 0))
  return `Nothing was answered ${writeNumber(stalls.length, 0)} times, for ${inAll} in all; the longest time was ${howLong} at ${when}, while ${users}.`
}
