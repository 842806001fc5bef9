import type { ComparedRun } from '../compared-run.js'
import type { ComparisonEvidence } from '../judge-lines.js'

/** The runs of both sides. Where they are paired, each base run belongs to the head run in the same place. */
export interface Sides {
  readonly isPaired: boolean
  /** Oldest first. */
  readonly base: readonly ComparedRun[]
  readonly head: readonly ComparedRun[]
  /** How many pairs there were to be, complete or not. */
  readonly rounds?: number | undefined
  /** Whose runs the base is, if they were recorded. */
  readonly branch?: string | undefined
}

export function sidesOf(evidence: Exclude<ComparisonEvidence, { readonly kind: 'none' }>): Sides {
  return evidence.kind === 'recorded'
    ? { isPaired: false, base: evidence.base, head: evidence.head, branch: evidence.branch }
    : {
        isPaired: true,
        base: evidence.pairs.map(({ base }) => base),
        head: evidence.pairs.map(({ head }) => head),
        rounds: evidence.rounds
      }
}
