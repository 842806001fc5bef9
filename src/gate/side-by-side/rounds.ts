import type { ComparisonEvidence } from '../../analysis/baseline/judge/sides.js'
import { comparedRun } from '../collect/compared-run.js'
import type { Segment, Side } from './segments.js'

/** A pair of segments, in whichever order they ran. */
export interface Round {
  readonly number: number
  readonly base: Segment
  readonly head: Segment
  /** Why the two cannot be compared, although each is complete. */
  readonly problem?: string | undefined
}

/** With fewer pairs than this share of the rounds, nothing is concluded: of 10 rounds, 8. */
export function leastPairs(rounds: number): number {
  return Math.ceil((rounds * 4) / 5)
}

/** A B | B A | A B …: a machine that drifts helps neither side. */
export function orderOf(round: number): readonly Side[] {
  return round % 2 === 1 ? ['base', 'head'] : ['head', 'base']
}

/** `01-base`: in the order of the rounds. */
export function folderOf(round: number, side: Side): string {
  return `${String(round).padStart(2, '0')}-${side}`
}

/** Why the round cannot be compared. */
export function problemIn({ number, base, head, problem: ofBoth }: Round): string | undefined {
  const ofEach = [base, head].flatMap(({ side, problem }) =>
    problem === undefined ? [] : [`${side}: ${problem}`]
  )
  const problems = ofEach.length === 0 && ofBoth !== undefined ? [ofBoth] : ofEach
  return problems.length === 0 ? undefined : `round ${number}: ${problems.join('; ')}`
}

export function keptOf(rounds: readonly Round[]): Round[] {
  return rounds.filter((round) => problemIn(round) === undefined)
}

/** Why there are too few pairs; undefined if there are enough. */
export function describeTooFew(rounds: readonly Round[], planned: number): string | undefined {
  const kept = keptOf(rounds).length
  if (kept >= leastPairs(planned)) return undefined
  const none = rounds.length === 0 ? 'no round was completed' : 'the others did not take place'
  const [first = none] = rounds.flatMap((round) => problemIn(round) ?? [])
  const run = rounds.length < planned ? ` after ${rounds.length} of ${planned}` : ` of ${planned}`
  return `Only ${count(kept)} can be compared${run}, and at least ${leastPairs(planned)} are needed; ${first}`
}

function count(rounds: number): string {
  return rounds === 1 ? '1 round' : `${rounds} rounds`
}

export function evidenceOf(rounds: readonly Round[]): ComparisonEvidence {
  return {
    kind: 'side-by-side',
    rounds: rounds.length,
    pairs: keptOf(rounds).map(({ base, head }) => ({
      base: comparedRun(base.findings),
      head: comparedRun(head.findings)
    }))
  }
}
