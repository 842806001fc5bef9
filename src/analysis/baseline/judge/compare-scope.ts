import { joinWords } from '../../../contract/text.js'
import type { Scope } from '../../results/figures/measurements.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { formatValue } from '../../thresholds/format.js'
import { mostlyFailed, sayLittle } from '../../thresholds/judge/evidence.js'
import { factsOf } from '../../thresholds/metrics.js'
import { addUp, samplesNeeded, assumeSpread, leastSpread } from '../statistics/classify.js'
import {
  meanOf,
  type Change,
  compareRecorded,
  MOST_CENTRE_RUNS,
  compareSideBySide
} from '../statistics/evidence-of-change.js'
import { allowsAnything, fromScale, limitFor, scaleOf, type Scale } from '../statistics/scale.js'
import {
  describeLeftOut,
  describeUneven,
  doubtHead,
  isNoBase,
  readRun,
  type Reading,
  hasSamples
} from './read-run.js'
import type { Sides } from './sides.js'

const LEAST_ROUNDS = 2
const LEAST_SHARE_OF_ROUNDS = 0.8

/** A line in one of its scopes: compared, or why it could not be. */
export type ScopeFinding = ComparedScope | (Problem & { readonly scope: Scope })

interface Problem {
  readonly outcome: 'no baseline' | 'not comparable'
  /** What to say after the name of the figure. */
  readonly words: string
  /** There was a base to compare with, but it is made of failures: never green, whatever is missing may be. */
  readonly isDoubtful?: boolean
}

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
  /** The first of the runs that the base is the mean of. */
  readonly since?: Reading['recorded']
  readonly headRuns: number
  readonly isPaired: boolean
  /** The samples of the side that has fewer: of its shortest run, or side by side of all its segments. */
  readonly samples: number
  readonly samplesNeeded: number
  /** Why the head's figure says little; it can break a line but not hold it. */
  readonly doubt: string | undefined
  /** The same where the head fails more often than the base: its times are those of other requests. */
  readonly unevenFailures: string | undefined
  /** What else there would be to compare with, had not more of its samples failed. */
  readonly leftOut: string | undefined
  /** The newest run is worse than those before it, and no second one confirms it: what these say. */
  readonly beforeStep: BeforeStep | undefined
}

interface BeforeStep {
  readonly change: Change
  /** The figure that those before expect, in base units. */
  readonly base: number
  readonly runs: number
  /** How much worse the newest run is, on the scale. */
  readonly size: number
  readonly branch: string | undefined
}

export function compareScope(
  line: BaselineThreshold,
  scope: Scope,
  sides: Sides,
  noise: number
): ScopeFinding {
  const finding = checkSides(line, scope, sides) ?? compareReadings(line, scope, sides, noise)
  return { scope, ...finding }
}

type Compared = Omit<ComparedScope, 'scope'>

function compareReadings(
  line: BaselineThreshold,
  scope: Scope,
  sides: Sides,
  noise: number
): Compared | Problem {
  const targetMs = sides.head.find(({ apdex }) => apdex !== undefined)?.apdex?.targetMs
  const read = (runs: Sides['base']) => runs.map((run) => readRun(line, run, scope, targetMs))
  const [base, head] = [read(sides.base), read(sides.head)]
  const finding = sides.isPaired
    ? compareRounds(line, base, head, sides.rounds)
    : compareRuns(line, base, head, noise, sides.branch)
  return 'change' in finding ? (checkLimit(line, finding.base) ?? finding) : finding
}

function checkLimit({ metric, name, text, allowance }: BaselineThreshold, base: number): Problem | undefined {
  const scale = scaleOf(metric)
  if (!allowsAnything(scale, limitFor(scale, base, allowance))) return undefined
  const words = `cannot be compared: the baseline is ${formatValue(metric, base)}, so that \`${text}\` allows for any ${name}; allow for less`
  return notComparable(words)
}

type Readings = readonly (Reading | undefined)[]

function compareRuns(
  line: BaselineThreshold,
  bases: Readings,
  heads: Readings,
  noise: number,
  branch: string | undefined
): Compared | Problem {
  const scale = scaleOf(line.metric)
  const needed = samplesNeeded(line)
  const head = heads.filter((reading) => reading !== undefined)
  const known = bases.filter((reading) => reading !== undefined)
  if (head.length === 0)
    return notComparable(
      `is unknown in ${heads.length === 1 ? 'this run' : 'these runs'}: not available in its CSVs`
    )
  if (known.length === 0)
    return notComparable(
      `cannot be compared: none of the ${bases.length} base runs recorded this figure; runs recorded from now on will`
    )
  const all = addUp(head)
  const left = known.filter((reading) => isNoBase(line, reading, all))
  const trusted = known.filter((reading) => !left.includes(reading))
  const pairs = left.map((base) => ({ base, head: all }))
  const leftOut = describeLeftOut(pairs, known.length, 'recorded runs')
  if (trusted.length === 0) {
    const advice = 'the next runs of the baseline branch that work are a new baseline'
    return failedInBase(line, left, `${leftOut}; ${advice}`)
  }

  // A run that was too small for the figure does not spoil those that were not.
  const large = trusted.filter(({ samples }) => samples >= needed)
  const base = large.length > 0 ? large : trusted
  const compare = (some: readonly Reading[]) =>
    compareRecorded({
      base: base.map(({ y }) => y),
      head: some.map(({ y }) => y),
      sigma0: assumeSpread(scale.kind, { noise, base, head: some }),
      leastSpread: leastSpread(scale.kind, { base, head: some })
    })
  const centre = base.slice(-compare(head).centreRuns)
  const judged = withoutFlattering(
    head,
    1,
    ({ y }) => y,
    (one) => doubtHead(line, [one], 'runs') ?? describeUneven(line, centre, [one])
  )
  const change = compare(judged)
  const { centreRuns, before } = change
  return {
    change,
    base: typicalFigure(scale, centre),
    head: typicalFigure(scale, judged),
    baseRuns: centreRuns,
    knownBaseRuns: base.length,
    before: centreRuns < MOST_CENTRE_RUNS ? base.at(-centreRuns - 1)?.figure : undefined,
    since: centre[0]?.recorded,
    headRuns: judged.length,
    isPaired: false,
    samples: Math.min(...[...centre, ...judged].map(({ samples }) => samples)),
    samplesNeeded: needed,
    doubt: doubtHead(line, head, 'runs'),
    unevenFailures: describeUneven(line, centre, head),
    leftOut: left.length === 0 ? undefined : leftOut,
    beforeStep: before && {
      change: before,
      base: fromScale(scale, before.centre),
      runs: base.length - 1,
      size: change.centre - before.centre,
      branch
    }
  }
}

interface Pair {
  readonly base: Reading
  readonly head: Reading
}

function compareRounds(
  line: BaselineThreshold,
  base: Readings,
  head: Readings,
  planned = base.length
): Compared | Problem {
  const scale = scaleOf(line.metric)
  const known = base.flatMap((one, i): Pair[] => {
    const other = head[i]
    return one === undefined || other === undefined ? [] : [{ base: one, head: other }]
  })
  const left = known.filter((pair) => isNoBase(line, pair.base, pair.head))
  const rounds = known.filter((pair) => !left.includes(pair))
  const leftOut = describeLeftOut(left, planned, 'rounds')
  const needed = Math.max(LEAST_ROUNDS, Math.ceil(LEAST_SHARE_OF_ROUNDS * planned))
  if (rounds.length < needed) {
    if (left.length === 0)
      return notComparable(
        `can be read on both sides in ${rounds.length} of ${planned} rounds only; run more or longer segments`
      )
    const bases = left.map((pair) => pair.base)
    const advice = `at least ${needed} are needed: check that the server of the base works`
    return { ...failedInBase(line, bases, `${leftOut}; ${advice}`), isDoubtful: true }
  }
  const changeOf = (pair: Pair): number => pair.head.y - pair.base.y
  const judged = withoutFlattering(rounds, LEAST_ROUNDS, changeOf, (pair) =>
    doubtHead(line, [pair.head], 'rounds')
  )
  const sides = { base: judged.map((pair) => pair.base), head: judged.map((pair) => pair.head) }
  const [bases, heads] = [rounds.map((pair) => pair.base), rounds.map((pair) => pair.head)]
  return {
    change: compareSideBySide(judged.map(changeOf), scale.floor),
    base: typicalFigure(scale, sides.base),
    head: typicalFigure(scale, sides.head),
    baseRuns: judged.length,
    knownBaseRuns: judged.length,
    before: undefined,
    headRuns: judged.length,
    isPaired: true,
    // Segments are short by design, and how much their figures vary is measured.
    samples: Math.min(addUp(sides.base).samples, addUp(sides.head).samples),
    samplesNeeded: samplesNeeded(line),
    doubt: doubtHead(line, heads, 'rounds'),
    unevenFailures: describeUneven(line, bases, [addUp(heads)]),
    leftOut: left.length === 0 ? undefined : leftOut,
    beforeStep: undefined
  }
}

/** What to judge by, at least so many: failures may make the head look worse than the rest of it, and never better. */
function withoutFlattering<T>(
  all: readonly T[],
  least: number,
  read: (one: T) => number,
  doubt: (one: T) => string | undefined
): readonly T[] {
  const sound = all.filter((one) => doubt(one) === undefined)
  if (sound.length < least) return all
  return meanOf(sound.map(read)) > meanOf(all.map(read)) ? sound : all
}

/** Too little is left of the base without what failed. */
function failedInBase(line: BaselineThreshold, left: readonly Reading[], leftOut: string): Problem {
  const isDown = factsOf(line).needsSuccess && left.every(mostlyFailed)
  const down = isDown ? `most samples of the baseline failed, so its ${sayLittle(line)}; ` : ''
  return notComparable(`cannot be compared: ${down}${leftOut}`)
}

/** Their mean on the scale; what all of them have is left as it is. */
function typicalFigure(scale: Scale, readings: readonly Reading[]): number {
  const [first] = readings
  return first !== undefined && readings.every(({ figure }) => figure === first.figure)
    ? first.figure
    : fromScale(scale, meanOf(readings.map(({ y }) => y)))
}

function checkSides({ metric }: BaselineThreshold, scope: Scope, sides: Sides): Problem | undefined {
  // A service's apdex may come without CSVs.
  const isServiceApdex = metric === 'apdex' && Object.keys(scope).length === 0
  const problem = isServiceApdex ? undefined : checkSamples(scope, sides)
  return problem ?? (metric === 'apdex' ? checkTargets(sides) : undefined)
}

function checkSamples(scope: Scope, { head, base }: Sides): Problem | undefined {
  const isInHead = head.some((run) => hasSamples(run, scope))
  const isInBase = base.some((run) => hasSamples(run, scope))
  if (isInHead && isInBase) return undefined
  if (!isInHead && !isInBase) return notComparable('cannot be compared: there are no samples on either side')
  const part = scope.label !== undefined ? 'the label' : scope.region !== undefined ? 'the region' : undefined
  if (isInHead) {
    const words = part === undefined ? 'no base run has samples' : `${part} is new, no base run has it`
    return { outcome: 'no baseline', words: `has no baseline: ${words}` }
  }
  const words = part === undefined ? '' : `${part} is gone, `
  return notComparable(`cannot be compared: ${words}the baseline has samples of it and this run has none`)
}

function checkTargets({ head, base }: Sides): Problem | undefined {
  const targetsOf = (runs: Sides['base']) => [...new Set(runs.flatMap(({ apdex }) => apdex?.targetMs ?? []))]
  const [here, there] = [targetsOf(head), targetsOf(base)]
  const [target, ...others] = here
  if (target === undefined) return notComparable('is unknown: this run has no apdex')
  if (others.length > 0)
    return notComparable(`cannot be compared: the runs have different targets, ${list(here)}`)
  if (there.length === 0)
    return { outcome: 'no baseline', words: 'has no baseline: no base run has an apdex' }
  if (there.includes(target)) return undefined
  return notComparable(
    `cannot be compared: its target is ${list([target])} in this run and ${list(there)} in the baseline`
  )
}

function list(targets: readonly number[]): string {
  return joinWords(targets.map((target) => formatValue('mean', target)))
}

function notComparable(words: string): Problem {
  return { outcome: 'not comparable', words }
}
