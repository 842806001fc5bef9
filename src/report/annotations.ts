import type { Judgement } from '../thresholds/judge/judgement.js'
import type { Outcome } from './outcome.js'
import { cutToBytes } from './size.js'
import { rehearsalMark } from './verdict-signs.js'

export interface Annotation {
  readonly level: 'error' | 'warning'
  readonly message: string
}

/** The runner keeps 10 of each kind; the failing step's own message and "more" need space too. */
const MOST_OF_A_KIND = 8
/** The limit is 4,096; leaves space for what is appended. */
const MOST_BYTES = 3_500

/** One error per broken threshold, one warning per broken or undecided `warn:` line; none if the step's own message says it all. `leg` tells the legs of a matrix apart. */
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
