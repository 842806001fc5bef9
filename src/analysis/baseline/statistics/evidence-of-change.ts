import jstat from 'jstat'

/** One-sided, for a single line and for all of them together. */
export const LEVEL = 0.01

/** The standard normal distribution exceeds its mean by less than this nine times out of ten. */
const Z_NINE_IN_TEN = 1.28

/** How far the head is from its base, on a scale where up is worse. */
export interface Change {
  readonly delta: number
  readonly se: number
  readonly dof: number
  /** How likely so large a change is if there is none. */
  readonly p: number
  /** One-sided at 1 % on each side. */
  readonly interval: readonly [low: number, high: number]
  /** The smallest change that is found nine times out of ten. */
  readonly resolution: number
}

function assessChange(delta: number, se: number, dof: number): Change {
  const quantile = tQuantile(1 - LEVEL, dof)
  return {
    delta,
    se,
    dof,
    // Without any spread the smallest difference is one.
    p: tTail(delta === 0 ? 0 : delta / se, dof),
    interval: [delta - quantile * se, delta + quantile * se],
    resolution: (quantile + Z_NINE_IN_TEN) * se
  }
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const quantiles = new Map<string, number>()

export function tQuantile(probability: number, dof: number): number {
  if (probability === 0.5) return 0
  const key = `${probability} ${dof}`
  const known = quantiles.get(key) ?? jstat.studentt.inv(probability, dof)
  // Few levels and few degrees of freedom are used, but thousands of times.
  if (quantiles.size < 10_000) quantiles.set(key, known)
  return known
}

/** P(T > t). By the tail itself: one minus the rest would lose the digits of a small probability. */
export function tTail(t: number, dof: number): number {
  const beyond = t === 0 ? 0.5 : jstat.ibeta(dof / (dof + t * t), dof / 2, 0.5) / 2
  return t < 0 ? 1 - beyond : beyond
}

/** Which findings are significant, so that at most a share of `level` of those is chance on average (Benjamini and Hochberg, 1995). */
export function benjaminiHochberg(ps: readonly number[], level: number): boolean[] {
  const sorted = [...ps].sort((a, b) => a - b)
  const last = sorted.findLastIndex((p, index) => p <= ((index + 1) / ps.length) * level)
  const most = sorted[last]
  return ps.map((p) => most !== undefined && p <= most)
}

/** How many runs the assumed spread counts for. */
const PRIOR_DOF = 4
/** From so many runs on, single differences that stand out are cut. */
const LEAST_RUNS_TO_CUT = 6
const CUT_DEVIATIONS = 3
/** The standard deviation of normal values is this many times their median distance. */
const DEVIATIONS_PER_MEDIAN = 1.4826
/** How many of the newest runs are the base at most. */
export const MOST_CENTRE_RUNS = 5
const CENTRE_DEVIATIONS = 1.5
/** With fewer runs it is unclear which of two is the outlier. */
const LEAST_RUNS_OF_STEP = 3

interface RecordedChange extends Change {
  readonly centre: number
  /** How many of the newest runs the centre is the mean of. */
  readonly centreRuns: number
  /** The same without the newest run, where that is worse and no second one confirms it: a step on the branch, or one bad run. */
  readonly before?: Omit<RecordedChange, 'before'>
}

/** Compares runs with recorded ones: `base` and `head` are figures on a scale where up is worse, `base` oldest first. */
export function compareRecorded({
  base,
  head,
  sigma0,
  leastSpread = 0
}: {
  readonly base: readonly number[]
  readonly head: readonly number[]
  readonly sigma0: number
  /** Runs are never taken to be more alike than this. */
  readonly leastSpread?: number
}): RecordedChange {
  const compare = (runs: readonly number[]): RecordedChange => {
    const { centre, centreRuns, spread, dof } = describeBase(runs, sigma0, leastSpread)
    const se = spread * Math.sqrt(1 / head.length + 1 / centreRuns)
    return { ...assessChange(meanOf(head) - centre, se, dof), centre, centreRuns }
  }
  const change = compare(base)
  if (change.centreRuns > 1 || base.length < LEAST_RUNS_OF_STEP) return change
  const before = compare(base.slice(0, -1))
  return change.centre > before.centre ? { ...change, before } : change
}

/** Where the next run is expected and how far runs lie apart, by the figures of earlier ones, oldest first. */
export function describeBase(
  base: readonly number[],
  sigma0: number,
  leastSpread = 0
): { centre: number; centreRuns: number; spread: number; dof: number } {
  const differences = base.length - 1
  const dof = PRIOR_DOF + differences
  const measured = Math.sqrt((PRIOR_DOF * sigma0 ** 2 + differences * differenceVariance(base)) / dof)
  const spread = Math.max(measured, leastSpread)
  const centreRuns = countCentreRuns(base, spread)
  return { centre: meanOf(base.slice(-centreRuns)), centreRuns, spread, dof }
}

/** The variance from run to run by successive differences: a step on the branch counts once, and a slow drift hardly at all. */
export function differenceVariance(base: readonly number[]): number {
  if (base.length < 2) return 0
  const differences = base.slice(1).map((y, i) => y - (base[i] ?? y))
  const most =
    base.length < LEAST_RUNS_TO_CUT
      ? Infinity
      : CUT_DEVIATIONS * DEVIATIONS_PER_MEDIAN * medianOf(differences.map(Math.abs))
  return meanOf(differences.map((d) => Math.max(-most, Math.min(most, d)) ** 2)) / 2
}

/** Goes back from the newest run until one does not fit: runs before a step on the branch are no longer a base. */
function countCentreRuns(base: readonly number[], spread: number): number {
  let count = 1
  while (count < MOST_CENTRE_RUNS && count < base.length) {
    const next = base[base.length - 1 - count] ?? NaN
    const distance = Math.abs(next - meanOf(base.slice(-count)))
    if (!(distance <= CENTRE_DEVIATIONS * spread * Math.sqrt(1 + 1 / count))) break
    count++
  }
  return count
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

/** Compares rounds by the difference of head and base within each; at least two rounds. Below `floor` nothing is told apart. */
export function compareSideBySide(differences: readonly number[], floor: number): Change {
  const rounds = differences.length
  const delta = meanOf(differences)
  const variance = differences.reduce((sum, d) => sum + (d - delta) ** 2, 0) / (rounds - 1)
  return assessChange(delta, Math.sqrt(variance / rounds + 2 * floor ** 2), rounds - 1)
}

const LEAST_RUNS_OF_DRIFT = 5
/** So far below its mean, by its standard deviations, the ratio is in one of fifty random orders. */
const DEVIATIONS = 2.05

/** Whether neighbours are closer to each other than in a random order: the figures drift or step (von Neumann's ratio, 1941). */
export function isDrifting(ys: readonly number[]): boolean {
  const n = ys.length
  if (n < LEAST_RUNS_OF_DRIFT) return false
  const mean = meanOf(ys)
  const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value * value, 0)
  const steps = sumOf(ys.slice(1).map((y, i) => y - (ys[i] ?? y)))
  const ratio = steps / sumOf(ys.map((y) => y - mean))
  return ratio <= 2 - DEVIATIONS * Math.sqrt((4 * (n - 2)) / (n * n - 1))
}

const { imul, sqrt, log, cos, PI } = Math

/** A small generator with a seed (mulberry32): the same numbers on every machine. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** Between 0 and 1, both excluded. */
  uniform(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32
  }

  /** Standard normal (Box and Muller). */
  normal(): number {
    return sqrt(-2 * log(this.uniform())) * cos(2 * PI * this.uniform())
  }
}

/** The true spread is below the bound four times out of five. */
const CONFIDENCE = 0.8

/** An upper bound of the spread, estimated by successive differences: these overlap, which costs degrees of freedom (von Neumann, 1941). */
export function upperBoundOfSpread(estimate: number, runs: number): number {
  const dof = (2 * (runs - 1) ** 2) / (3 * runs - 4)
  return estimate * Math.sqrt(dof / jstat.chisquare.inv(1 - CONFIDENCE, dof))
}
