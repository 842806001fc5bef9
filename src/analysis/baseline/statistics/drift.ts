import jstat from 'jstat'
import { meanOf } from './evidence-of-change.js'

const LEAST_RUNS = 5
/** So far below its mean, by its standard deviations, the ratio is in one of fifty random orders. */
const DEVIATIONS = 2.05

/** Whether neighbours are closer to each other than in a random order: the figures drift or step (von Neumann's ratio, 1941). */
export function isDrifting(ys: readonly number[]): boolean {
  const n = ys.length
  if (n < LEAST_RUNS) return false
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
