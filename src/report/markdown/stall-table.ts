import type { Outcome } from '../outcome.js'
import { describeStalls } from '../shown-stalls.js'
import { rehearsalMark } from '../verdict-signs.js'
import { fold, joinSections, table } from './markdown.js'

/** When nothing was answered: a sentence that opens a table of at most so many rows; empty if there is nothing to tell. */
export function renderStalls(outcome: Outcome, mostRows?: number): string {
  const stalls = describeStalls(outcome, mostRows)
  if (stalls === undefined) return ''
  const { sentence, rows, others, explanation } = stalls
  const details = joinSections([
    `${explanation.words} [${explanation.link}](${explanation.url})`,
    table(
      ['When:', 'How long:', 'Users waiting:', 'Clock'],
      rows.map(({ when, howLong, waiting, clock }) => [when, howLong, waiting.toLocaleString('en-US'), clock])
    ),
    others === 0 ? '' : `${others.toLocaleString('en-US')} more, none of them longer.`
  ])
  return fold(sentence + rehearsalMark(outcome.rehearsal), details)
}
