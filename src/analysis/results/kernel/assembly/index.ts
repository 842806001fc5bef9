import { delimiterByte } from './columns.js'
import { findPlaces } from './find-places.js'
import { prepareEnds } from './ends.js'
import { prepareLabels } from './labels.js'
import { prepareLine } from './line.js'
import { preparePages } from './pages.js'
import { prepareRows, startRows } from './count-rows.js'

export { setColumns, setDialect, setThreadColumns } from './columns.js'
export {
  countRows,
  countTime,
  earlyRows,
  hasFineTimes,
  hasStopped,
  countBetween,
  nextRow,
  setMessage,
  takenRows
} from './count-rows.js'
export { endPages, endPagesStop, endScopes } from './ends.js'
export { reserve } from './heap.js'
export { learnLabel } from './labels.js'
export { leastStall, longRows, longRowsStop } from './long.js'
export { lineSlots, lineTimes, moveLine } from './line.js'
export { countPages, countValues, sortPages, wrapsStart, wrapsStop } from './pages.js'

export function prepare(): void {
  prepareLabels()
  preparePages()
  prepareLine()
  prepareEnds()
  prepareRows()
}

/** Finds the rows from `from`, where one starts, to `to`; returns why it stopped, one of INDEXED. */
export function findRows(from: u32, to: u32): i32 {
  startRows()
  return findPlaces(from, to, delimiterByte())
}
