import { assessChange, meanOf, type Change } from './evidence-of-change.js'

/** Compares rounds by the difference of head and base within each; at least two rounds. Below `floor` nothing is told apart. */
export function compareSideBySide(differences: readonly number[], floor: number): Change {
  const rounds = differences.length
  const delta = meanOf(differences)
  const variance = differences.reduce((sum, d) => sum + (d - delta) ** 2, 0) / (rounds - 1)
  return assessChange(delta, Math.sqrt(variance / rounds + 2 * floor ** 2), rounds - 1)
}
