import type { Verdict } from '../outcome.js'
import type { Measurements } from '../results/figures/measurements.js'
import { asSentence } from '../../contract/text.js'
import type { Judgement } from '../thresholds/judge/judgement.js'
import { isDecisive, isNotJudged, overallVerdict } from '../thresholds/judge/judge.js'

export interface Decision {
  readonly verdict: Verdict
  readonly reason: string
}

/** Combines the judgements. With a gap in the evidence the verdict can only be `failed` or `inconclusive`. */
export function decideVerdict(judgements: readonly Judgement[], gap: string | undefined): Decision {
  // What is missing may be the very difference from the baseline, so such a line breaks nothing then.
  const trusted = gap === undefined ? judgements : judgements.filter(({ comparison }) => !comparison)
  const overall = overallVerdict(trusted)
  const decisive = trusted.filter((judgement) => judgement.verdict === overall && isDecisive(judgement))
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

/** Lines that were not judged are always mentioned: a gate that compared nothing must not look like one that did. */
function describePass(judgements: readonly Judgement[]): string {
  const notJudged = judgements.filter(isNotJudged)
  const warned = judgements.filter(
    (judgement) =>
      judgement.threshold.level === 'warn' && judgement.verdict !== 'passed' && !isNotJudged(judgement)
  )
  const held = describeHeld(judgements)
  const unjudged =
    notJudged.length === 0
      ? ''
      : `${notJudged.length === 1 ? '1 line was' : `${notJudged.length} lines were`} not judged: ${notJudged[0]?.reason ?? ''}`
  const warning =
    warned.length === 0
      ? ''
      : `${warned.length === 1 ? 'There is a warning' : `There are ${warned.length} warnings`}: ${warned[0]?.reason ?? ''}`
  const rest = unjudged !== '' && warning !== '' ? `${asSentence(unjudged)} ${warning}` : unjudged + warning
  return `${held} ${rest}`.trim()
}

function describeHeld(judgements: readonly Judgement[]): string {
  if (judgements.length === 0) return 'No thresholds were given, so this is only a report.'
  const firm = judgements.filter(({ threshold }) => threshold.level === 'fail')
  if (firm.length === 0) return 'Only warn: lines were given, so nothing can fail.'
  const held = firm.filter((judgement) => !isNotJudged(judgement)).length
  if (held === 0) return ''
  if (held < firm.length) return `${held} of ${firm.length} thresholds ${held === 1 ? 'holds' : 'hold'};`
  return firm.length === 1 ? 'The threshold holds.' : `All ${firm.length} thresholds hold.`
}
