import type { Details, Outcome } from '../../analysis/outcome.js'
import { formatMoment } from '../../analysis/thresholds/format.js'
import { nameLabel } from '../page/numbers.js'
import { NO_MESSAGE } from '../rows.js'
import { foreign, tableSection } from './markdown.js'

const MOST_ROWS = 5
const MOST_LABEL_BYTES = 200
const MOST_CODE_BYTES = 100

/** When and where errors first occurred; empty if no sample failed, or the CSVs were not read for it. */
export function renderFailedSamples({ details, measurements, warmUp }: Outcome): string {
  const startMs = warmUp?.startMs ?? measurements?.startMs
  if (details === undefined || startMs === undefined) return ''
  const rows = chooseSamples(details.failures).map(({ atMs, label, code, message, thread }) => [
    // That of a setUp group.
    atMs < startMs ? 'before the load' : formatMoment(atMs - startMs),
    foreign(nameLabel(label), MOST_LABEL_BYTES),
    foreign(code, MOST_CODE_BYTES),
    foreign(message || NO_MESSAGE),
    foreign(thread, MOST_LABEL_BYTES)
  ])
  return tableSection(
    '#### First failed samples',
    ['Started after:', 'Label', 'Code', 'Message', 'Thread'],
    rows,
    details.failures.length
  )
}

/** One of each error before a second one of any, in order of time. */
function chooseSamples(failures: Details['failures']): Details['failures'] {
  const seen = new Map<string, number>()
  const ranked = failures.map((sample) => {
    const error = JSON.stringify([sample.label, sample.code, sample.message])
    const rank = seen.get(error) ?? 0
    seen.set(error, rank + 1)
    return { sample, rank }
  })
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MOST_ROWS)
    .map(({ sample }) => sample)
    .sort((one, other) => one.atMs - other.atMs)
}
