import jstat from 'jstat'

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
