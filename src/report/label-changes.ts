import type { LabelChange, LabelChanges } from '../analysis/baseline/compare-labels.js'
import type { Outcome } from '../analysis/outcome.js'
import { count } from '../contract/text.js'
import { nameLabel } from './page/numbers.js'
import { describeChange, showFigure } from './rows.js'
import { formatChange, formatValue } from '../analysis/thresholds/format.js'

/** What a table of labels says, as texts: the same on the page, in summary, comment and terminal. Labels are untrusted text. */
export interface LabelChangeTable {
  /** A line that names `baseline` is broken: then this is what people look for first. */
  readonly isFirst: boolean
  readonly title: string
  readonly sentence: string
  readonly rows: readonly LabelChangeRow[]
  /** Whether the column of error rates has anything to say in the first so many rows. */
  hasErrors(mostRows: number): boolean
  /** What there is beyond so many rows; empty if nothing. */
  describeOthers(mostRows: number): string
}

export type LabelChangeRow = ReturnType<typeof rowOf>

export const LABEL_CHANGE_HEADINGS = {
  ...{ label: 'Label', base: 'Base', head: 'This run', change: 'Change' },
  ...{ errors: 'Errors', finding: 'Finding' }
} as const

/** Undefined where nothing was compared by label. */
export function labelChangeTable(
  outcome: Pick<Outcome, 'labelChanges' | 'judgements' | 'baseline'>
): LabelChangeTable | undefined {
  const { labelChanges, judgements, baseline } = outcome
  if (labelChanges === undefined || labelChanges.rows.length === 0) return undefined
  const isFirst = judgements.some(({ comparison }) => comparison?.outcome === 'broken')
  const rows = labelChanges.rows.map(rowOf)
  return {
    isFirst,
    title: isFirst ? 'Which requests got slower' : 'Base and head by label',
    sentence: describeAll(labelChanges, baseline),
    rows,
    hasErrors: (mostRows) => labelChanges.rows.slice(0, mostRows).some(hasFailures),
    describeOthers: (mostRows) => describeOthers(rows.length - mostRows, labelChanges.leftOut)
  }
}

function rowOf(row: LabelChange) {
  const { label, changePct, interval, errorRate, outcome, samples } = row
  const change = { changePct: changePct ?? undefined, interval: interval ?? undefined }
  return {
    label: nameLabel(label),
    base: showFigure('percentile', row.base ?? undefined),
    head: showFigure('percentile', row.head ?? undefined),
    /** With its interval; of next to nothing, in ms. */
    change: isCompared(row) && changePct === null ? differenceOf(row) : describeChange('percentile', change),
    errors: `${showFigure('error_rate', errorRate.base ?? undefined)} → ${showFigure('error_rate', errorRate.head ?? undefined)}`,
    samples: `${formatValue('samples', samples.base)} → ${formatValue('samples', samples.head)}`,
    outcome
  }
}

function isCompared({ outcome }: LabelChange): boolean {
  return outcome === 'slower' || outcome === 'faster' || outcome === 'no clear change'
}

/** `+9.2 ms` */
function differenceOf({ base, head }: LabelChange): string {
  const ms = (head ?? 0) - (base ?? 0)
  return `${ms < 0 ? '-' : '+'}${formatValue('percentile', Math.abs(ms))}`
}

/** `Base 28.1 ms → 37.3 ms (median), +33 % (+9.2 ms): slower.` Null where it was not compared. */
export function describeLabelChange({ metric, rows }: LabelChanges, index: number): string | null {
  const row = rows[index]
  if (row === undefined || !isCompared(row)) return null
  const { base, head } = rowOf(row)
  const ms = differenceOf(row)
  const change = row.changePct === null ? ms : `${formatChange('percentile', row.changePct)} (${ms})`
  return `Base ${base} → ${head} (${metric}), ${change}: ${row.outcome}.`
}

function hasFailures({ errorRate }: LabelChange): boolean {
  return (errorRate.base ?? 0) > 0 || (errorRate.head ?? 0) > 0
}

const WORDS: readonly (readonly [LabelChange['outcome'], string])[] = [
  ['slower', 'slower'],
  ['faster', 'faster'],
  ['no clear change', 'without a clear change'],
  ['not comparable', 'not comparable'],
  ['new', 'new'],
  ['gone', 'gone']
]

/** `The p95 of each label (mean of 10 rounds), what costs users most time first: none clearly slower, 3 without a clear change.` */
function describeAll({ metric, rows }: LabelChanges, baseline: Outcome['baseline']): string {
  const rounds = baseline?.kind === 'side-by-side' ? ` (mean of ${count(baseline.runs.length, 'round')})` : ''
  const counts = WORDS.flatMap(([outcome, word]) => {
    const found = rows.filter((row) => row.outcome === outcome).length
    if (found === 0) return outcome === 'slower' ? ['none clearly slower'] : []
    return [`${formatValue('samples', found)} ${word}`]
  })
  return `The ${metric} of each label${rounds}, what costs users most time first: ${counts.join(', ')}. For information only: the verdict does not depend on it.`
}

function describeOthers(hidden: number, leftOut: number): string {
  const [more, less] = [hidden, leftOut].map((count) => formatValue('samples', Math.max(0, count)))
  if (leftOut === 0) return hidden > 0 ? `${more} more ${hidden === 1 ? 'is' : 'are'} in verdict.json.` : ''
  const rest = `${less} further ${leftOut === 1 ? 'label matters' : 'labels matter'} less`
  return hidden > 0 ? `${more} more ${hidden === 1 ? 'is' : 'are'} in verdict.json; ${rest}.` : `${rest}.`
}
