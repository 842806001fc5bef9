import type { Outcome } from '../../analysis/outcome.js'
import { LABEL_CHANGE_HEADINGS as NAMES, labelChangeTable } from '../label-changes.js'
import type { LabelChangeRow, LabelChangeTable } from '../label-changes.js'
import { rehearsalMark } from '../sentences.js'
import { fold, foreign, joinSections, table } from './markdown.js'

const MOST_LABEL_BYTES = 200
const SIGNS: Readonly<Partial<Record<LabelChangeRow['outcome'], string>>> = { slower: '▲ ', faster: '▼ ' }

/** Which requests got slower, where a line that names `baseline` is broken; else empty. */
export function failedLabelChanges(outcome: Outcome, mostRows: number): string {
  const changes = labelChangeTable(outcome)
  if (!changes?.isFirst) return ''
  const heading = `### ${changes.title}${rehearsalMark(outcome.rehearsal)}`
  return joinSections([heading, tableOf(changes, mostRows)])
}

/** The same where no such line is broken, in a part that opens on a click. */
export function foldedLabelChanges(outcome: Outcome, mostRows: number): string {
  const changes = labelChangeTable(outcome)
  if (changes === undefined || changes.isFirst) return ''
  return fold(changes.title + rehearsalMark(outcome.rehearsal), tableOf(changes, mostRows))
}

function tableOf(changes: LabelChangeTable, mostRows: number): string {
  const hasErrors = changes.hasErrors(mostRows)
  const rows = changes.rows
    .slice(0, mostRows)
    .map(({ label, base, head, change, errors, outcome }) => [
      foreign(label, MOST_LABEL_BYTES),
      ...[base, head, change],
      ...(hasErrors ? [errors] : []),
      `${SIGNS[outcome] ?? ''}${outcome}`
    ])
  const headings = [
    ...[NAMES.label, `${NAMES.base}:`, `${NAMES.head}:`, `${NAMES.change}:`],
    ...(hasErrors ? [`${NAMES.errors}:`] : []),
    NAMES.finding
  ]
  return joinSections([changes.sentence, table(headings, rows), changes.describeOthers(mostRows)])
}
