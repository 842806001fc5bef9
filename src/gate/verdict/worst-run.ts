import type { Judgement } from '../../thresholds/judge/judgement.js'

/** The lines of one run that have limits of their own. */
export interface JudgedRun {
  /** `confirming run 1 (c0ffee)` */
  readonly name: string
  readonly judgements: readonly Judgement[]
}

const VERDICTS: readonly Judgement['verdict'][] = ['failed', 'inconclusive', 'passed']

/**
 * Each line by the run in which it fares worst, and which one that was. Lines that name `baseline` are judged by all runs together,
 * and stay as they are.
 */
export function takeWorst(first: readonly Judgement[], confirming: readonly JudgedRun[]): Judgement[] {
  if (confirming.length === 0) return [...first]
  return first.map((own) => {
    if (own.comparison !== undefined) return own
    const runs = [
      { name: 'the first one', judgement: own },
      ...confirming.flatMap(({ name, judgements }) => {
        const judgement = judgements.find(({ threshold }) => threshold.line === own.threshold.line)
        return judgement === undefined ? [] : [{ name, judgement }]
      })
    ]
    const worst = runs.reduce((one, other) => (isWorse(other.judgement, one.judgement) ? other : one))
    const reason = `${worst.judgement.reason}; the worst of ${runs.length} runs: ${worst.name}`
    return { ...worst.judgement, reason }
  })
}

function isWorse(one: Judgement, other: Judgement): boolean {
  const [rank, otherRank] = [rankOf(one), rankOf(other)]
  if (rank !== otherRank) return rank < otherRank
  // Above a limit of 0 there is no margin.
  return (one.margin ?? -Infinity) < (other.margin ?? -Infinity)
}

/** The lower, the worse: what is said beside a line that holds must not get lost. */
function rankOf({ verdict, warning, doubt }: Judgement): number {
  return 2 * VERDICTS.indexOf(verdict) + (warning === undefined && doubt === undefined ? 1 : 0)
}
