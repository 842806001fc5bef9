import type { Scope } from '../../results/figures/measurements.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { formatValue } from '../../thresholds/format.js'
import { doubtTimes, isTime } from '../../thresholds/judge/failed-times.js'
import { samplesNeeded } from '../statistics/classify.js'
import { meanOf, type Change } from '../statistics/evidence-of-change.js'
import { assumeSpread, leastSpread, type Counted } from '../statistics/prior.js'
import { compareRecorded, MOST_CENTRE_RUNS } from '../statistics/recorded-runs.js'
import { allowsAnything, fromScale, limitFor, scaleOf, type Scale } from '../statistics/scale.js'
import { compareSideBySide } from '../statistics/side-by-side.js'
import { checkSides } from './check-sides.js'
import { readRun, type Reading } from './read-run.js'
import type { Sides } from './sides.js'

const LEAST_ROUNDS = 2
const LEAST_SHARE_OF_ROUNDS = 0.8
const MOST_FURTHER_FAILURES = 0.05

/** A line in one of its scopes: compared, or why it could not be. */
export type ScopeFinding = ComparedScope | UncomparedScope

export interface ComparedScope {
  readonly scope: Scope
  readonly change: Change
  /** Figures in base units. */
  readonly base: number
  readonly head: number
  /** How many runs (the newest ones), or rounds, the base is the mean of. */
  readonly baseRuns: number
  /** How many there are. */
  readonly knownBaseRuns: number
  /** The figure of the run before those that the base is the mean of, if that is where it differs. */
  readonly before: number | undefined
  readonly headRuns: number
  readonly isPaired: boolean
  /** The samples of the side that has fewer: of its shortest run, or side by side of all its segments. */
  readonly samples: number
  readonly samplesNeeded: number
  /** Why the head's figure says little; it can break a line but not hold it. */
  readonly doubt: string | undefined
  /** The same where the head fails more often than the base: its times are those of other requests. */
  readonly unevenFailures: string | undefined
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
  const finding = sides.isPaired
    ? compareRounds(threshold, scope, readings)
    : compareRuns(threshold, scope, { ...readings, noise })
  return 'change' in finding ? (checkLimit(threshold, finding) ?? finding) : finding
}

function checkLimit(
  { metric, name, text, allowance }: BaselineThreshold,
  { scope, base }: ComparedScope
): UncomparedScope | undefined {
  const scale = scaleOf(metric)
  if (!allowsAnything(scale, limitFor(scale, base, allowance))) return undefined
  const words = `cannot be compared: the baseline is ${formatValue(metric, base)}, so that \`${text}\` allows for any ${name}; allow for less`
  return { scope, outcome: 'not comparable', words }
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
  const needed = samplesNeeded(threshold)
  const head = readings.head.filter((reading) => reading !== undefined)
  const known = readings.base.filter((reading) => reading !== undefined)
  const trusted = known.filter((reading) => saysSomething(threshold, reading))
  if (head.length === 0) return { scope, ...unknownHere(readings.head.length) }
  if (trusted.length === 0) return { scope, ...unknownInBase(threshold, readings.base.length, known.length) }

  // A run that was too small for the figure does not spoil those that were not.
  const large = trusted.filter(({ samples }) => samples >= needed)
  const base = large.length > 0 ? large : trusted
  const change = compareRecorded({
    base: base.map(({ y }) => y),
    head: head.map(({ y }) => y),
    sigma0: assumeSpread(scale.kind, { noise, base, head }),
    leastSpread: leastSpread(scale.kind, { base, head })
  })
  const { centreRuns } = change
  const centre = base.slice(-centreRuns)
  return {
    scope,
    change,
    base: typicalFigure(scale, centre),
    head: typicalFigure(scale, head),
    baseRuns: centreRuns,
    knownBaseRuns: base.length,
    before: centreRuns < MOST_CENTRE_RUNS ? base.at(-centreRuns - 1)?.figure : undefined,
    headRuns: head.length,
    isPaired: false,
    samples: Math.min(...[...centre, ...head].map(({ samples }) => samples)),
    samplesNeeded: needed,
    doubt: doubtHead(threshold, scope, head),
    unevenFailures: describeUneven(threshold, { base: centre, head })
  }
}

function compareRounds(threshold: BaselineThreshold, scope: Scope, { base, head }: Readings): ScopeFinding {
  const scale = scaleOf(threshold.metric)
  const known = base.flatMap((one, i) => {
    const other = head[i]
    return one === undefined || other === undefined ? [] : [{ base: one, head: other }]
  })
  const rounds = known.filter((round) => saysSomething(threshold, round.base))
  if (rounds.length === 0 && known.length > 0) {
    return { scope, ...unknownInBase(threshold, base.length, known.length) }
  }
  if (rounds.length < LEAST_ROUNDS || rounds.length < LEAST_SHARE_OF_ROUNDS * base.length) {
    const words = `can be read on both sides in ${rounds.length} of ${base.length} rounds only; run more or longer segments`
    return { scope, outcome: 'not comparable', words }
  }
  const sides = { base: rounds.map((round) => round.base), head: rounds.map((round) => round.head) }
  const change = compareSideBySide(
    rounds.map((round) => round.head.y - round.base.y),
    scale.floor
  )
  return {
    scope,
    change,
    base: typicalFigure(scale, sides.base),
    head: typicalFigure(scale, sides.head),
    baseRuns: rounds.length,
    knownBaseRuns: rounds.length,
    before: undefined,
    headRuns: rounds.length,
    isPaired: true,
    // Segments are short by design, and how much their figures vary is measured.
    samples: Math.min(addUp(sides.base).samples, addUp(sides.head).samples),
    samplesNeeded: samplesNeeded(threshold),
    doubt: doubtHead(threshold, scope, sides.head),
    unevenFailures: describeUneven(threshold, sides)
  }
}

function unknownHere(runs: number): Omit<UncomparedScope, 'scope'> {
  const words = `is unknown in ${runs === 1 ? 'this run' : 'these runs'}: not available in its CSVs`
  return { outcome: 'not comparable', words }
}

function unknownInBase(
  { metric, name }: BaselineThreshold,
  runs: number,
  known: number
): Omit<UncomparedScope, 'scope'> {
  const words =
    known > 0
      ? `cannot be compared: most samples of the baseline failed, so its ${isTime(metric) ? 'response times say' : `${name} says`} little`
      : `cannot be compared: none of the ${runs} base runs recorded this figure; runs recorded from now on will`
  return { outcome: 'not comparable', words }
}

function doubtHead(
  { metric, name }: BaselineThreshold,
  scope: Scope,
  readings: readonly Reading[]
): string | undefined {
  const all = addUp(readings)
  if (isTime(metric)) return doubtTimes(all, { errors: () => [] }, scope)
  if (metric === 'error_rate' || !mostlyFailed(all)) return undefined
  return `${all.failures} of ${all.samples} samples failed, so ${name} says little`
}

/** Requests that fail at once make up for others that got slower. */
function describeUneven(
  { metric }: BaselineThreshold,
  { base, head }: { readonly base: readonly Reading[]; readonly head: readonly Reading[] }
): string | undefined {
  const [before, now] = [addUp(base), addUp(head)].map(({ samples, failures }) => failures / samples)
  if (!isTime(metric) || before === undefined || now === undefined || now - before <= MOST_FURTHER_FAILURES)
    return undefined
  const rate = (share: number): string => formatValue('error_rate', share)
  return `${rate(now)} of the samples failed and ${rate(before)} of the baseline's, so response times say little`
}

/** Requests that fail at once make a high throughput; only the error rate is about failures. */
function saysSomething({ metric }: BaselineThreshold, reading: Reading): boolean {
  return metric === 'error_rate' || !mostlyFailed(reading)
}

/** Their mean on the scale; what all of them have is left as it is. */
function typicalFigure(scale: Scale, readings: readonly Reading[]): number {
  const [first] = readings
  return first !== undefined && readings.every(({ figure }) => figure === first.figure)
    ? first.figure
    : fromScale(scale, meanOf(readings.map(({ y }) => y)))
}

export function mostlyFailed({ samples, failures }: Counted): boolean {
  return failures * 2 > samples
}

function addUp(readings: readonly Counted[]): Counted {
  return {
    samples: readings.reduce((sum, { samples }) => sum + samples, 0),
    failures: readings.reduce((sum, { failures }) => sum + failures, 0)
  }
}
