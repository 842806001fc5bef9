import type { Scope } from '../results/figures/measurements.js'
import type { BaselineThreshold } from '../thresholds/grammar/threshold.js'
import {
  benjaminiHochberg,
  LEVEL,
  meanOf,
  type Change,
  tQuantile,
  compareRecorded,
  differenceVariance,
  medianOf,
  compareSideBySide,
  isDrifting,
  Random,
  upperBoundOfSpread
} from './statistics/evidence-of-change.js'
import { mostResolutionFor, samplesNeeded, assumeSpread, leastSpread } from './statistics/classify.js'
import type { Counted } from './statistics/classify.js'
import { type ComparedRun, listScopes } from './judge/sides.js'
import { readLines, SHOWN_LINES } from './judge-lines.js'
import { mostlyFailed } from '../thresholds/judge/evidence.js'
import { limitWithFloor } from './judge/judge-scope.js'
import { readRun } from './judge/read-run.js'
import { asChangePct, fromScale, scaleOf } from './statistics/scale.js'

const LEAST_RUNS = 3
const RECORDED_RUNS = [1, 5, 10] as const
const ROUNDS = [5, 10, 20] as const
const SIZES = RECORDED_RUNS.length + ROUNDS.length
const POWER = 0.9
/** Together these bound the time that the simulations take to less than a second. */
const MOST_COMPARISONS = 12_000
const MOST_TESTS = 200
const MOST_PAIRS = 2000
const LEAST_NOISE = 0.01

/** What repeated runs of the same plan against the same server say about comparing with a baseline. */
export interface Calibration {
  readonly runs: number
  /** One sentence: why nothing follows from these runs. Then there are no lines and no advice. */
  readonly problem?: string
  /** Figures of the whole run: p95, mean, throughput and error rate, as far as they are known. */
  readonly figures: readonly FigureNoise[]
  /** For each line, what it can find; by the lines that are only shown if there are none. */
  readonly lines: readonly LineCalibration[]
  /** The lines that match nothing in these runs, or whose figure they do not have. */
  readonly unmatched: readonly string[]
  /** The share of runs without any change in which a line would break nevertheless. */
  readonly falseAlarms: readonly { readonly recordedRuns: number; readonly share: number }[]
  /** What to set `noise` to (0.04 for `4%`): rather too much, as few runs say little. Undefined if neither time nor throughput is known. */
  readonly suggestedNoise: number | undefined
  /** Even ten recorded runs find only changes that are far beyond the limit of a line. */
  readonly isTooNoisy: boolean
}

export interface FigureNoise {
  readonly name: string
  /** In base units. */
  readonly typical: number
  /** The standard deviation from run to run: relative, or of the rate itself for `error_rate`. */
  readonly noise: number
  /** Neighbouring runs are more alike than others: something warms up, fills up, or changed in between. */
  readonly isDrifting: boolean
  readonly runs: number
}

export interface LineCalibration {
  readonly threshold: BaselineThreshold
  /** Its noisiest scope, which the rest is about; or the one with the fewest samples, if these are too few. */
  readonly scope: Scope
  readonly noise: number
  /** The smallest change found nine times out of ten, as in `Comparison.changePct`, if a segment varies as much as a whole run. */
  readonly recorded: readonly { readonly runs: number; readonly changePct: number }[]
  readonly sideBySide: readonly { readonly rounds: number; readonly changePct: number }[]
  readonly isTooNoisy: boolean
  /** A scope of it has too few samples, so that the line is always unsure. */
  readonly neverJudged: boolean
  /** What a run needs, and what it has; only where the line is never judged. */
  readonly needsSamples?: number
  readonly samples?: number
}

interface CalibrationOptions {
  readonly thresholds: readonly BaselineThreshold[]
  readonly noise: number
  readonly seed?: number
  /** How many to simulate for each answer: it bounds the time. */
  readonly comparisons?: number
}

/** Measures the noise of at least three runs of the same thing, oldest first, and simulates what follows from it. */
export function calibrate(
  runs: readonly ComparedRun[],
  { thresholds, noise, seed = 1, comparisons = MOST_COMPARISONS }: CalibrationOptions
): Calibration {
  if (runs.length < LEAST_RUNS) throw new RangeError(`Calibration needs at least ${LEAST_RUNS} runs`)
  const random = new Random(seed)
  const figures = measureFigures(runs)
  const problem = findProblem(runs)
  if (problem !== undefined) {
    const nothing = {
      lines: [],
      unmatched: [],
      falseAlarms: [],
      suggestedNoise: undefined,
      isTooNoisy: false
    }
    return { runs: runs.length, figures, problem, ...nothing }
  }
  const lines = thresholds.length > 0 ? thresholds : SHOWN_LINES
  const tests = lines.map((threshold) => measureLine(threshold, runs, noise))
  // What has too few samples is never tested.
  const all = tests.flat().filter(hasEnoughSamples)
  const pairs = Math.max(200, Math.min(1000, Math.floor(comparisons / (tests.length * SIZES))))
  const calibrated = tests.flatMap((scopes) => {
    const worst = findWorst(scopes)
    return worst ? [calibrateLine(worst, Math.max(1, all.length), pairs, random)] : []
  })
  const relative = figures.filter(({ name }) => name !== 'error_rate')
  const bounds = relative.map((figure) => upperBoundOfSpread(figure.noise, figure.runs))
  return {
    runs: runs.length,
    figures,
    lines: calibrated,
    unmatched: lines.filter((_, i) => tests[i]?.length === 0).map(({ text }) => text),
    falseAlarms: RECORDED_RUNS.map((recordedRuns) => ({
      recordedRuns,
      share: shareOfFalseAlarms(thinOut(all), recordedRuns, comparisons, random)
    })),
    suggestedNoise:
      relative.length === 0 ? undefined : Math.max(LEAST_NOISE, Math.ceil(Math.max(...bounds) * 100) / 100),
    isTooNoisy: calibrated.some((line) => line.isTooNoisy)
  }
}

/** Times and throughput of failed requests say nothing about those that work. */
function findProblem(runs: readonly ComparedRun[]): string | undefined {
  const failed = runs.flatMap((run) => run.figures({}) ?? []).filter(mostlyFailed).length
  if (failed === 0) return undefined
  return `most samples failed in ${failed} of ${runs.length} runs: find out why, and calibrate again`
}

function hasEnoughSamples({ samples, needsSamples }: Test): boolean {
  return samples >= needsSamples
}

function findWorst(scopes: readonly Test[]): Test | undefined {
  const [smallest] = scopes.filter((test) => !hasEnoughSamples(test)).sort((a, b) => a.samples - b.samples)
  return smallest ?? [...scopes].sort((a, b) => b.spread - a.spread)[0]
}

const MEASURED = [...SHOWN_LINES, ...readLines(['warn: mean <= baseline + 10%'])]

function measureFigures(runs: readonly ComparedRun[]): FigureNoise[] {
  return MEASURED.flatMap((line) => {
    const ys = readAll(line, {}, runs).map(({ y }) => y)
    if (ys.length < LEAST_RUNS) return []
    return {
      name: line.name,
      typical: fromScale(scaleOf(line.metric), meanOf(ys)),
      noise: Math.sqrt(differenceVariance(ys)),
      isDrifting: isDrifting(ys),
      runs: ys.length
    }
  })
}

/** One line in one scope, as it varies in the given runs. */
type Test = ReturnType<typeof measureLine>[number]

function measureLine(threshold: BaselineThreshold, runs: readonly ComparedRun[], noise: number) {
  const scale = scaleOf(threshold.metric)
  return listScopes(threshold.selector, { isPaired: true, base: [], head: runs }).flatMap((scope) => {
    const readings = readAll(threshold, scope, runs)
    if (readings.length < LEAST_RUNS) return []
    const ys = readings.map(({ y }) => y)
    const centre = meanOf(ys)
    const limit = limitWithFloor(threshold, fromScale(scale, centre))
    return {
      ...{ threshold, scope, scale, centre, limit },
      spread: Math.sqrt(differenceVariance(ys)),
      sigma0: assumeSpread(scale.kind, { noise, base: readings }),
      leastSpread: leastSpread(scale.kind, { base: readings }),
      mostResolution: mostResolutionFor(scale, limit),
      // As in a typical run.
      samples: medianOf(readings.map(({ samples }) => samples)),
      needsSamples: samplesNeeded(threshold)
    }
  })
}

function readAll(
  threshold: BaselineThreshold,
  scope: Scope,
  runs: readonly ComparedRun[]
): (Counted & { readonly y: number })[] {
  return runs.flatMap((run) => readRun(threshold, run, scope, run.apdex?.targetMs) ?? [])
}

function calibrateLine(test: Test, tests: number, pairs: number, random: Random): LineCalibration {
  const find = (compare: () => Change) => {
    const missing = Array.from({ length: pairs }, () => shortOfBreach(test, compare(), tests))
    return missing.sort((a, b) => a - b)[Math.ceil(POWER * pairs) - 1] ?? Infinity
  }
  const recorded = RECORDED_RUNS.map((runs) => find(() => drawRecorded(test, runs, random)))
  const sideBySide = ROUNDS.map((rounds) => find(() => drawRounds(test, rounds, random)))
  const neverJudged = !hasEnoughSamples(test)
  const toPct = (found = Infinity) => asChangePct(test.scale, found)
  return {
    threshold: test.threshold,
    scope: test.scope,
    noise: test.spread,
    recorded: RECORDED_RUNS.map((runs, i) => ({ runs, changePct: toPct(recorded[i]) })),
    sideBySide: ROUNDS.map((rounds, i) => ({ rounds, changePct: toPct(sideBySide[i]) })),
    isTooNoisy: !neverJudged && (recorded.at(-1) ?? Infinity) > test.mostResolution,
    neverJudged,
    ...(neverJudged ? { needsSamples: test.needsSamples, samples: test.samples } : {})
  }
}

/** How large a change has to be for this comparison to break; a single one among all that are tested. */
function shortOfBreach({ limit }: Test, { delta, se, dof }: Change, tests: number): number {
  return Math.max(limit, tQuantile(1 - LEVEL / tests, dof) * se) - delta
}

function shareOfFalseAlarms(
  tests: readonly Test[],
  recordedRuns: number,
  comparisons: number,
  random: Random
): number {
  if (tests.length === 0) return 0
  const pairs = Math.max(50, Math.min(MOST_PAIRS, Math.floor(comparisons / tests.length)))
  let alarms = 0
  for (let pair = 0; pair < pairs; pair++) {
    const changes = tests.map((test) => drawRecorded(test, recordedRuns, random))
    const ps = changes.map(({ p }) => p)
    const isSignificant = benjaminiHochberg(ps, LEVEL)
    if (tests.some(({ limit }, i) => isSignificant[i] && (changes[i]?.delta ?? 0) > limit)) alarms++
  }
  return alarms / pairs
}

/** Evenly, so that each line keeps its share. */
function thinOut(tests: readonly Test[]): readonly Test[] {
  const step = Math.ceil(tests.length / MOST_TESTS)
  return tests.filter((_, i) => i % step === 0)
}

function drawRecorded(test: Test, runs: number, random: Random): Change {
  const base = Array.from({ length: runs }, () => draw(test, random))
  const { sigma0, leastSpread } = test
  return compareRecorded({ base, head: [draw(test, random)], sigma0, leastSpread })
}

function drawRounds(test: Test, rounds: number, random: Random): Change {
  const differences = Array.from({ length: rounds }, () => draw(test, random) - draw(test, random))
  return compareSideBySide(differences, test.scale.floor)
}

function draw({ scale, centre, spread }: Test, random: Random): number {
  const y = centre + spread * random.normal()
  // There are no negative error rates.
  return scale.kind === 'error_rate' ? Math.max(0, y) : y
}
