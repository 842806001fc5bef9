import type { Verdict } from '../../report/outcome.js'
import type { Measurements } from '../../results/figures/measurements.js'
import type { Judgement } from '../../thresholds/judge/judgement.js'
import { overallVerdict } from '../../thresholds/judge/overall.js'

export interface Decision {
  readonly verdict: Verdict
  readonly reason: string
}

/** Combines the judgements. With a gap in the evidence the verdict can only be `failed` or `inconclusive`. */
export function decideVerdict(judgements: readonly Judgement[], gap: string | undefined): Decision {
  const overall = overallVerdict(judgements)
  const decisive = judgements.filter(
    ({ verdict, threshold }) => verdict === overall && threshold.level === 'fail'
  )
  if (overall === 'failed') return { verdict: 'failed', reason: countAndFirst(decisive, 'broken') }
  if (gap !== undefined) return { verdict: 'inconclusive', reason: gap }
  if (overall === 'inconclusive')
    return { verdict: 'inconclusive', reason: countAndFirst(decisive, 'inconclusive') }
  return { verdict: 'passed', reason: describePass(judgements) }
}

/** What is missing from the CSVs, regardless of the thresholds. */
export function gapInMeasurements(measurements: Measurements | undefined): string | undefined {
  const sources = measurements?.sources ?? []
  const unknown = sources.find(({ shape }) => shape === 'unknown')
  if (unknown !== undefined)
    return `A CSV cannot be read: ${unknown.problems[0] ?? ''} (grid ${unknown.grid}).`
  const broken = sources.find(({ problems }) => problems.length > 0)
  const detail = broken === undefined ? '' : `: ${broken.problems[0] ?? ''} (grid ${broken.grid})`
  if (measurements?.figures({}) === undefined) return `The results contain no samples${detail}.`
  if (broken !== undefined) return `A CSV cannot be read completely${detail}.`
  return undefined
}

function countAndFirst(judgements: readonly Judgement[], word: string): string {
  const [first] = judgements
  const count =
    judgements.length === 1 ? `1 threshold is ${word}` : `${judgements.length} thresholds are ${word}`
  return `${count}: ${first?.reason ?? ''}`
}

function describePass(judgements: readonly Judgement[]): string {
  const firm = judgements.filter(({ threshold }) => threshold.level === 'fail')
  const warned = judgements.filter(
    ({ threshold, verdict }) => threshold.level === 'warn' && verdict !== 'passed'
  )
  const held =
    firm.length === 0
      ? 'No thresholds were given, so this is only a report.'
      : firm.length === 1
        ? 'The threshold holds.'
        : `All ${firm.length} thresholds hold.`
  return warned.length === 0
    ? held
    : `${held} ${warned.length === 1 ? 'There is a warning' : `There are ${warned.length} warnings`}: ${warned[0]?.reason ?? ''}`
}
