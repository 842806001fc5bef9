import type { Judgement } from '../thresholds/judge/judgement.js'
import type { Outcome } from './outcome.js'
import { cutToBytes } from './size.js'
import { rehearsalMark } from './verdict-signs.js'

export interface Annotation {
  readonly level: 'error' | 'warning'
  readonly message: string
}

/** The runner keeps 10 of a kind; the failing step's own message and "more" need room too. */
const MOST_OF_A_KIND = 8
/** Of 4,096, with room for the marks behind it. */
const MOST_BYTES = 3_500

/** One error for each broken threshold, one warning for each broken or undecided `warn:` line; none where the step's own message says all. `leg` tells the legs of a matrix apart. */
export function annotate({ verdict: overall, judgements, rehearsal }: Outcome, leg = ''): Annotation[] {
  const mark = (leg === '' ? '' : ` [${leg}]`) + rehearsalMark(rehearsal)
  if (!['passed', 'failed', 'inconclusive'].includes(overall)) return []
  const broken = judgements.filter(
    ({ verdict, threshold }) => verdict === 'failed' && threshold.level === 'fail'
  )
  const warned = judgements.filter(
    ({ verdict, threshold }) => verdict !== 'passed' && threshold.level === 'warn'
  )
  return [...ofOneKind('error', broken, mark), ...ofOneKind('warning', warned, mark)]
}

function ofOneKind(level: Annotation['level'], judgements: readonly Judgement[], mark: string): Annotation[] {
  const shown = judgements
    .slice(0, MOST_OF_A_KIND)
    .map(({ reason }) => ({ level, message: cutToBytes(reason, MOST_BYTES) + mark }))
  const more = judgements.length - shown.length
  return more > 0 ? [...shown, { level, message: `${more} more in the job summary${mark}` }] : shown
}
