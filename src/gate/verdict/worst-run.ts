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
  if (one.verdict !== other.verdict) return VERDICTS.indexOf(one.verdict) < VERDICTS.indexOf(other.verdict)
  // Above a limit of 0 there is no margin.
  const [margin, otherMargin] = [one, other].map((judgement) => judgement.margin ?? -Infinity)
  if (margin !== otherMargin) return (margin ?? 0) < (otherMargin ?? 0)
  return one.doubt !== undefined && other.doubt === undefined
}
