import { baselineSentences } from '../baseline-sentences.js'
import type { ComparisonCells } from '../comparison-cells.js'
import { judgementRows, worstFirst, type JudgementRow } from '../rows.js'
import type { Outcome } from '../../analysis/outcome.js'
import { rehearsalMark } from '../headline.js'
import { describeStalls } from '../stalls.js'
import { foreign, joinSections, table, fold } from './markdown.js'

const MOST_SHOWN = 10
const MOST_ORIGIN_BYTES = 100

/** The lines with limits of their own. */
export function thresholdTable({ judgements, rehearsal }: Outcome, mostRows: number): string {
  const absolute = judgements.filter(({ comparison }) => comparison === undefined)
  if (absolute.length === 0) return ''
  const rows = judgementRows(worstFirst(absolute).slice(0, mostRows)).map((row) => [
    `<code>${foreign(row.threshold)}</code>`,
    figureOf(row, row.actual),
    row.margin,
    row.verdict,
    foreign(row.reason)
  ])
  return joinSections([
    `### Thresholds${rehearsalMark(rehearsal)}`,
    table(['Threshold', 'Actual:', 'Margin', 'Verdict', 'In words'], rows),
    countOthers(absolute.length - rows.length)
  ])
}

/** The lines that name `baseline`. */
export function comparisonTable({ judgements, baseline, rehearsal }: Outcome, mostRows: number): string {
  const compared = judgements.filter(({ comparison }) => comparison !== undefined)
  if (compared.length === 0) return ''
  const rows = judgementRows(worstFirst(compared).slice(0, mostRows), baseline).flatMap((row) =>
    row.comparison === undefined
      ? []
      : [
          [
            `<code>${foreign(row.threshold)}</code>`,
            ...figureCells({ ...row.comparison, head: figureOf(row, row.comparison.head) }),
            `${row.comparison.sign} ${row.verdict}`,
            foreign(row.reason)
          ]
        ]
  )
  return joinSections([
    `### Compared with the baseline${rehearsalMark(rehearsal)}`,
    table(['Threshold', ...FIGURE_HEADINGS, 'Outcome', 'In words'], rows),
    countOthers(compared.length - rows.length)
  ])
}

/** What the lines that name `baseline` were compared with, in at most so many sentences. */
export function comparisonWords({ judgements, baseline }: Outcome, most = Infinity): string {
  return judgements.some(({ comparison }) => comparison !== undefined) ? sentences(baseline, most) : ''
}

/** The comparison where no line asked for it: information, without marks. Without figures, only why there are none. */
export function shownComparisons({
  shownComparisons: shown,
  baseline,
  judgements,
  rehearsal
}: Outcome): string {
  if (judgements.some(({ comparison }) => comparison !== undefined)) return ''
  const rows = informationRows(judgementRows(shown ?? [], baseline)).map(({ name, cells, finding }) => [
    `<code>${foreign(name)}</code>`,
    ...figureCells(cells),
    finding
  ])
  const words = sentences(baseline)
  if (rows.length === 0) return words
  return joinSections([
    `### Compared with the baseline, for information${rehearsalMark(rehearsal)}`,
    'No threshold names `baseline`, so none of this is part of the verdict.',
    table(['Threshold', ...FIGURE_HEADINGS, 'Finding'], rows),
    words
  ])
}

/** Rows with something to compare; the finding is not put as a judgement. */
function informationRows(
  rows: readonly JudgementRow[]
): { name: string; cells: ComparisonCells; finding: string }[] {
  const findings: Readonly<Record<string, string>> = { holds: 'would hold', broken: 'would be broken' }
  return rows
    .flatMap(({ threshold, comparison }) => {
      if (comparison === undefined || comparison.baseFrom === '') return []
      return [
        { name: threshold, cells: comparison, finding: findings[comparison.outcome] ?? comparison.outcome }
      ]
    })
    .slice(0, MOST_SHOWN)
}

const FIGURE_HEADINGS = ['Base:', 'This run:', 'Change:']

/** The cells under `FIGURE_HEADINGS`. */
function figureCells({ base, baseFrom, head, change }: ComparisonCells): string[] {
  const origin = baseFrom === '' ? '' : ` (${foreign(baseFrom, MOST_ORIGIN_BYTES)})`
  return [base + origin, head, change]
}

/** By samples and over time, where these differ. */
function figureOf({ overTime }: JudgementRow, figure: string): string {
  return overTime === undefined ? figure : `${overTime.bySamples}, **${overTime.overTime}**`
}

function sentences(baseline: Outcome['baseline'], most = Infinity): string {
  return baselineSentences(baseline)
    .slice(0, most)
    .map((sentence) => `> ${foreign(sentence)}`)
    .join('\n>\n')
}

function countOthers(others: number): string {
  return others === 0 ? '' : `${others} more are in verdict.json.`
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
