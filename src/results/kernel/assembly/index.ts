import { delimiterByte } from './columns'
import { findPlaces } from './find-places'
import { prepareLabels } from './labels'
import { prepareLine } from './line'
import { preparePages } from './pages'
import { startRows } from './count-rows'

export { setColumns, setDialect } from './columns'
export {
  countRows,
  countTime,
  earlyRows,
  firstStart,
  hasStopped,
  lastEnd,
  countBetween,
  nextRow,
  setMessage,
  takenRows
} from './count-rows'
export { reserve } from './heap'
export { learnLabel } from './labels'
export { lineSlots, lineTimes, moveLine } from './line'
export { countPages, countValues, sortPages, wrapsStart, wrapsStop } from './pages'

export function prepare(): void {
  prepareLabels()
  preparePages()
  prepareLine()
}

/** Finds the rows from `from`, where one starts, to `to`; returns why it stopped, one of INDEXED. */
export function findRows(from: u32, to: u32): i32 {
  startRows()
  return findPlaces(from, to, delimiterByte())
}
