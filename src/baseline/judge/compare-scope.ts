import type { Scope } from '../../results/figures/measurements.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { doubtTimes, isTime } from '../../thresholds/judge/failed-times.js'
import { samplesNeeded } from '../statistics/classify.js'
import { meanOf, type Change } from '../statistics/evidence-of-change.js'
import { assumeSpread, leastSpread, type Counted } from '../statistics/prior.js'
import { compareRecorded } from '../statistics/recorded-runs.js'
import { fromScale, scaleOf } from '../statistics/scale.js'
import { compareSideBySide } from '../statistics/side-by-side.js'
import { checkSides } from './check-sides.js'
import { readRun, type Reading } from './read-run.js'
import type { Sides } from './sides.js'

const LEAST_ROUNDS = 2
const LEAST_SHARE_OF_ROUNDS = 0.8

/** A line in one of its scopes: compared, or why it could not be. */
export type ScopeFinding = ComparedScope | UncomparedScope

export interface ComparedScope {
  readonly scope: Scope
  readonly change: Change
  /** Figures in base units. */
  readonly base: number
  readonly head: number
  /** Runs, or rounds. */
  readonly baseRuns: number
  readonly headRuns: number
  readonly isPaired: boolean
  /** The samples of the side that has fewer: of its shortest run, or side by side of all its segments. */
  readonly samples: number
  readonly samplesNeeded: number
  /** Why the head's times say little; they can break a line but not hold it. */
  readonly doubt: string | undefined
}

export interface UncomparedScope {
  readonly scope: Scope
  readonly outcome: 'no baseline' | 'not comparable'
  /** What to say after the name of the figure. */
  readonly words: string
}

export function compareScope(
  threshold: BaselineThreshold,
  scope: Scope,
  { sides, noise }: { readonly sides: Sides; readonly noise: number }
): ScopeFinding {
  const problem = checkSides(threshold, scope, sides)
  if (problem !== undefined) return { scope, ...problem }
  const targetMs = sides.head.find(({ apdex }) => apdex !== undefined)?.apdex?.targetMs
  const read = (runs: Sides['base']) => runs.map((run) => readRun(threshold, run, { scope, targetMs }))
  const readings = { base: read(sides.base), head: read(sides.head) }
  return sides.isPaired
    ? compareRounds(threshold, scope, readings)
    : compareRuns(threshold, scope, { ...readings, noise })
}

interface Readings {
  readonly base: readonly (Reading | undefined)[]
  readonly head: readonly (Reading | undefined)[]
}

function compareRuns(
  threshold: BaselineThreshold,
  scope: Scope,
  { noise, ...readings }: Readings & { readonly noise: number }
): ScopeFinding {
  const scale = scaleOf(threshold.metric)
  const needed = samplesNeeded(threshold.percentile)
  const head = readings.head.filter((reading) => reading !== undefined)
  const known = readings.base.filter((reading) => reading !== undefined)
  const trusted = known.filter((reading) => !isTime(threshold.metric) || !mostlyFailed(reading))
  if (head.length === 0) return { scope, ...unknownHere(readings.head.length) }
  if (trusted.length === 0) return { scope, ...unknownInBase(readings.base.length, known.length) }

  // A run that was too small for the figure does not spoil those that were not.
  const large = trusted.filter(({ samples }) => samples >= needed)
  const base = large.length > 0 ? large : trusted
  const change = compareRecorded({
    base: base.map(({ y }) => y),
    head: head.map(({ y }) => y),
    sigma0: assumeSpread(scale.kind, { noise, base, head }),
    leastSpread: leastSpread(scale.kind, { base, head })
  })
  return {
    scope,
    change,
    base: fromScale(scale, change.centre),
    head: fromScale(scale, meanOf(head.map(({ y }) => y))),
    baseRuns: base.length,
    headRuns: head.length,
    isPaired: false,
    samples: Math.min(...[...base.slice(-change.centreRuns), ...head].map(({ samples }) => samples)),
    samplesNeeded: needed,
    doubt: doubtHead(threshold, scope, head)
  }
}

function compareRounds(threshold: BaselineThreshold, scope: Scope, { base, head }: Readings): ScopeFinding {
  const scale = scaleOf(threshold.metric)
  const rounds = base.flatMap((one, i) => {
    const other = head[i]
    return one === undefined || other === undefined ? [] : [{ base: one, head: other }]
  })
  if (rounds.length < LEAST_ROUNDS || rounds.length < LEAST_SHARE_OF_ROUNDS * base.length) {
    const words = `can be read on both sides in ${rounds.length} of ${base.length} rounds only; run more or longer segments`
    return { scope, outcome: 'not comparable', words }
  }
  const sides = { base: rounds.map((round) => round.base), head: rounds.map((round) => round.head) }
  if (isTime(threshold.metric) && mostlyFailed(addUp(sides.base))) {
    return { scope, ...unknownInBase(base.length, rounds.length) }
  }
  const change = compareSideBySide(
    rounds.map((round) => round.head.y - round.base.y),
    scale.floor
  )
  return {
    scope,
    change,
    base: fromScale(scale, meanOf(sides.base.map(({ y }) => y))),
    head: fromScale(scale, meanOf(sides.head.map(({ y }) => y))),
    baseRuns: rounds.length,
    headRuns: rounds.length,
    isPaired: true,
    // Segments are short by design, and how much their figures vary is measured.
    samples: Math.min(addUp(sides.base).samples, addUp(sides.head).samples),
    samplesNeeded: samplesNeeded(threshold.percentile),
    doubt: doubtHead(threshold, scope, sides.head)
  }
}

function unknownHere(runs: number): Omit<UncomparedScope, 'scope'> {
  const words = `is unknown in ${runs === 1 ? 'this run' : 'these runs'}: not available in its CSVs`
  return { outcome: 'not comparable', words }
}

function unknownInBase(runs: number, known: number): Omit<UncomparedScope, 'scope'> {
  const words =
    known > 0
      ? 'cannot be compared: most samples of the baseline failed, so its response times say little'
      : `cannot be compared: none of the ${runs} base runs recorded this figure; runs recorded from now on will`
  return { outcome: 'not comparable', words }
}

function doubtHead(
  { metric }: BaselineThreshold,
  scope: Scope,
  readings: readonly Reading[]
): string | undefined {
  return isTime(metric) ? doubtTimes(addUp(readings), { errors: () => [] }, scope) : undefined
}

function mostlyFailed({ samples, failures }: Counted): boolean {
  return failures * 2 > samples
}

function addUp(readings: readonly Counted[]): Counted {
  return {
    samples: readings.reduce((sum, { samples }) => sum + samples, 0),
    failures: readings.reduce((sum, { failures }) => sum + failures, 0)
  }
}
