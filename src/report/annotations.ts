import type { Judgement } from '../analysis/thresholds/judge/judgement.js'
import { isNotJudged } from '../analysis/thresholds/judge/judge.js'
import { replaceControls, cutToBytes } from './escape.js'
import type { Outcome } from '../analysis/outcome.js'
import { count } from '../contract/text.js'
import { rehearsalMark } from './sentences.js'

export interface Annotation {
  readonly level: 'error' | 'warning' | 'notice'
  readonly message: string
}

/** The runner keeps 10 of each kind; the failing step's own message and "more" need space too. */
const MOST_OF_A_KIND = 8
/** The limit is 4,096; leaves space for what is appended. */
const MOST_BYTES = 3_500

/**
 * One error per broken threshold, one warning per broken or undecided `warn:` line, one for all lines that the baseline left open; none if
 * the step's own message says it all. `leg` tells the legs of a matrix apart.
 */
export function annotate({ verdict: overall, judgements, rehearsal }: Outcome, leg = ''): Annotation[] {
  const mark = (leg === '' ? '' : ` [${leg}]`) + rehearsalMark(rehearsal)
  if (!['passed', 'failed', 'inconclusive'].includes(overall)) return []
  const of = (level: 'fail' | 'warn'): Judgement[] =>
    judgements.filter(({ threshold }) => threshold.level === level)
  const broken = of('fail').filter(({ verdict }) => verdict === 'failed')
  const warned = of('warn').filter((line) => line.verdict !== 'passed' && !isNotJudged(line))
  const open = judgements.filter(isNotJudged)
  const passed = open.filter(({ comparison }) => comparison?.ifNotJudged === 'pass')
  return [
    ...ofOneKind('error', broken, mark),
    ...ofOneKind('warning', warned, mark),
    ...together('warning', open.filter(isWarnedOf), mark),
    ...together('notice', passed, mark)
  ]
}

/** Where `fail` was asked for, the message of the step says it, unless the line only warns. */
function isWarnedOf({ comparison, threshold }: Judgement): boolean {
  const { ifNotJudged } = comparison ?? {}
  return ifNotJudged === 'warn' || (ifNotJudged === 'fail' && threshold.level === 'warn')
}

/** Lines that were not judged: often all of them, for the same reason. */
function together(level: Annotation['level'], judgements: readonly Judgement[], mark: string): Annotation[] {
  if (judgements.length === 0) return []
  const verb = judgements.length === 1 ? 'was' : 'were'
  const shown = judgements
    .slice(0, MOST_OF_A_KIND)
    .map(({ threshold, comparison, reason }) =>
      replaceControls(`${threshold.text}: ${startWith(comparison?.outcome ?? '', reason)}`)
    )
  const words = `${count(judgements.length, 'line')} ${verb} not judged: ${shown.join('; ')}`
  const more = judgements.length - shown.length
  const rest = more > 0 ? `; ${more} more in the job summary` : ''
  return [{ level, message: cutToBytes(words, MOST_BYTES) + rest + mark }]
}

/** A label may contain the word, so only a reason that begins with it says the outcome. */
function startWith(outcome: string, reason: string): string {
  return reason.toLowerCase().startsWith(outcome) ? reason : `${outcome}: ${reason}`
}

function ofOneKind(level: Annotation['level'], judgements: readonly Judgement[], mark: string): Annotation[] {
  const shown = judgements
    .slice(0, MOST_OF_A_KIND)
    .map(({ reason }) => ({ level, message: cutToBytes(reason, MOST_BYTES) + mark }))
  const more = judgements.length - shown.length
  return more > 0 ? [...shown, { level, message: `${more} more in the job summary${mark}` }] : shown
}
