import type { Judgement } from './judgement.js'

/**
 * The overall verdict: a broken threshold outweighs an inconclusive one, and `warn:` lines never count. A line that could not be compared
 * with its baseline counts only if the settings say so.
 */
export function overallVerdict(judgements: readonly Judgement[]): Judgement['verdict'] {
  const verdicts = new Set(judgements.filter(isDecisive).map(({ verdict }) => verdict))
  if (verdicts.has('failed')) return 'failed'
  return verdicts.has('inconclusive') ? 'inconclusive' : 'passed'
}

/** Whether the gate depends on this judgement. */
export function isDecisive(judgement: Judgement): boolean {
  if (judgement.threshold.level !== 'fail') return false
  return !isNotJudged(judgement) || judgement.comparison?.ifNotJudged === 'fail'
}

/** Whether a line names `baseline` and could not be compared with it: too little to tell, no baseline, or another kind of run. */
export function isNotJudged({ verdict, comparison }: Judgement): boolean {
  return verdict === 'inconclusive' && comparison !== undefined
}
