import { baselineSentences, rehearsalMark } from '../sentences.js'
import { type ComparisonCells, judgementRows, shownRows, type JudgementRow } from '../rows.js'
import type { Outcome } from '../../analysis/outcome.js'
import { describeStalls } from '../stalls.js'
import { fold, foreign, joinSections, table, tableSection } from './markdown.js'

const MOST_SHOWN = 10
const MOST_ORIGIN_BYTES = 100

export function thresholdTable({ judgements, rehearsal }: Outcome, mostRows: number): string {
  const absolute = judgements.filter(({ comparison }) => comparison === undefined)
  const rows = judgementRows(absolute)
    .slice(0, mostRows)
    .map((row) => [codeOf(row), figureOf(row, row.actual), row.margin, row.verdict, foreign(row.reason)])
  const headings = ['Threshold', 'Actual:', 'Margin', 'Verdict', 'In words']
  return tableSection(`### Thresholds${rehearsalMark(rehearsal)}`, headings, rows, absolute.length)
}

export function comparisonTable({ judgements, baseline, rehearsal }: Outcome, mostRows: number): string {
  const compared = judgementRows(judgements, baseline).filter(({ comparison }) => comparison !== undefined)
  const rows = compared
    .slice(0, mostRows)
    .map(({ comparison, ...row }) => [
      codeOf(row),
      ...(comparison ? figureCells({ ...comparison, head: figureOf(row, comparison.head) }) : []),
      `${comparison?.sign ?? ''} ${row.verdict}`,
      foreign(row.reason)
    ])
  const heading = `### Compared with the baseline${rehearsalMark(rehearsal)}`
  return tableSection(heading, ['Threshold', ...BASE_HEADINGS, 'Outcome', 'In words'], rows, compared.length)
}

/** What the lines that name `baseline` were compared with, in at most so many sentences. */
export function comparisonWords({ judgements, baseline }: Outcome, most = Infinity): string {
  return judgements.some(({ comparison }) => comparison !== undefined) ? sentences(baseline, most) : ''
}

/** The comparison where no line asked for it: information, without marks. Without figures, only why there are none. */
export function shownComparisons(outcome: Outcome): string {
  if (outcome.judgements.some(({ comparison }) => comparison !== undefined)) return ''
  const rows = shownRows(outcome)
    .slice(0, MOST_SHOWN)
    .map((row) => [codeOf(row), ...figureCells(row.comparison), row.finding])
  const heading = `### Compared with the baseline, for information${rehearsalMark(outcome.rehearsal)}

No threshold names \`baseline\`, so none of this is part of the verdict.`
  return joinSections([
    tableSection(heading, ['Threshold', ...BASE_HEADINGS, 'Finding'], rows),
    sentences(outcome.baseline)
  ])
}

function codeOf({ threshold }: Pick<JudgementRow, 'threshold'>): string {
  return `<code>${foreign(threshold)}</code>`
}

const BASE_HEADINGS = ['Base:', 'This run:', 'Change:']

/** The cells under `BASE_HEADINGS`. */
function figureCells({ base, baseFrom, head, change }: ComparisonCells): string[] {
  const origin = baseFrom === '' ? '' : ` (${foreign(baseFrom, MOST_ORIGIN_BYTES)})`
  return [base + origin, head, change]
}

/** By samples and over time, where these differ. */
function figureOf({ overTime }: Pick<JudgementRow, 'overTime'>, figure: string): string {
  return overTime === undefined ? figure : `${overTime.bySamples}, **${overTime.overTime}**`
}

function sentences(baseline: Outcome['baseline'], most = Infinity): string {
  return baselineSentences(baseline)
    .slice(0, most)
    .map((sentence) => `> ${foreign(sentence)}`)
    .join('\n>\n')
}

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
