import jstat from 'jstat'

const ORDERS = 999
/** Five runs in a row that only rise or only fall are just enough. */
const LEVEL = 0.02
const LEAST_RUNS = 5

/** Whether neighbours are closer to each other than in a random order: the figures drift or step. */
export function isDrifting(ys: readonly number[], random: Random): boolean {
  if (ys.length < LEAST_RUNS) return false
  const observed = sumOfSteps(ys)
  const shuffled = [...ys]
  let asSmooth = 0
  for (let order = 0; order < ORDERS; order++) {
    if (sumOfSteps(shuffle(shuffled, random)) <= observed * (1 + 1e-12)) asSmooth++
  }
  return (asSmooth + 1) / (ORDERS + 1) <= LEVEL
}

function sumOfSteps(ys: readonly number[]): number {
  let sum = 0
  let last = ys[0] ?? 0
  for (const y of ys) {
    sum += (y - last) * (y - last)
    last = y
  }
  return sum
}

/** In place (Fisher and Yates). */
function shuffle(values: number[], random: Random): number[] {
  for (let end = values.length - 1; end > 0; end--) {
    const other = random.below(end + 1)
    const moved = values[end] ?? NaN
    values[end] = values[other] ?? NaN
    values[other] = moved
  }
  return values
}

const { imul, floor, sqrt, log, cos, PI } = Math

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

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return floor(this.uniform() * count)
  }

  /** Standard normal (Box and Muller). */
  normal(): number {
    return sqrt(-2 * log(this.uniform())) * cos(2 * PI * this.uniform())
  }
}

/** The true spread is below the bound four times out of five. */
const CONFIDENCE = 0.8

/**
 * An upper bound of the spread from run to run, for an estimate by the successive differences of so many runs. These overlap, so
 * they are worth fewer degrees of freedom than there are differences (von Neumann and others, 1941).
 */
export function upperBoundOfSpread(estimate: number, runs: number): number {
  const dof = (2 * (runs - 1) ** 2) / (3 * runs - 4)
  return estimate * Math.sqrt(dof / jstat.chisquare.inv(1 - CONFIDENCE, dof))
}
