import { formatValue } from '../../analysis/thresholds/format.js'
import { errorRows } from '../rows.js'
import { foreign, table } from './markdown.js'
import type { Outcome } from '../../analysis/outcome.js'

const MOST_LABEL_BYTES = 200
const MOST_CODE_BYTES = 100

/** Why samples failed, the most frequent reason first; empty if none failed or there are no reasons. */
export function renderErrorTable({ measurements }: Outcome, mostRows: number): string {
  const rows = errorRows(measurements, mostRows)
  if (rows.length === 0) return ''
  return table(
    ['Failed:', 'Share:', 'Code', 'Message', 'Label'],
    rows.map(({ count, share, code, message, label }) => [
      formatValue('failures', count),
      formatValue('error_rate', share),
      foreign(code, MOST_CODE_BYTES),
      foreign(message),
      foreign(label, MOST_LABEL_BYTES)
    ])
  )
}
