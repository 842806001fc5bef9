import type { Judgement } from './judgement.js'

/** The overall verdict: a broken threshold outweighs an inconclusive one, and `warn:` lines never count. */
export function overallVerdict(judgements: readonly Judgement[]): Judgement['verdict'] {
  const verdicts = new Set(
    judgements.filter(({ threshold }) => threshold.level === 'fail').map(({ verdict }) => verdict)
  )
  if (verdicts.has('failed')) return 'failed'
  return verdicts.has('inconclusive') ? 'inconclusive' : 'passed'
}
