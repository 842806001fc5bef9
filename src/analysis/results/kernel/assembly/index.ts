import { delimiterByte } from './columns'
import { findPlaces } from './find-places'
import { prepareEnds } from './ends'
import { prepareLabels } from './labels'
import { prepareLine } from './line'
import { prepareLists } from './lists'
import { preparePages } from './pages'
import { prepareRows, startRows } from './count-rows'
import { prepareSkipping } from './skip-rows'
import { prepareSorting } from './sort-times'

export { setColumns, setDialect, setPartColumn, setThreadColumns, setTransactionColumns } from './columns'
export {
  countRows,
  earlyRows,
  hasFineTimes,
  countBetween,
  nextRow,
  noteRows,
  setGroups,
  setMessage,
  takenRows
} from './count-rows'
export { detailTimes, learnCode, setDetailColumns, startDetails } from './details'
export { endPages, endPagesStop, endScopes } from './ends'
export { endOfLines } from './find-places'
export { listRows, listStart, skipRowsOf } from './skip-rows'
export { reserve } from './heap'
export { learnLabel } from './labels'
export { listPlaces } from './lists'
export { firstNote, nextNote } from './note-rows'
export { learnThread } from './threads'
export { leastStall, longRows, longRowsStop } from './long'
export { lineSlots, lineTimes, moveLine } from './line'
export { sortedTimes, sortTimes } from './sort-times'
export { countPages, countTime, countValues, sortPages, wrapsStart, wrapsStop } from './pages'

export function prepare(): void {
  prepareLabels()
  prepareLists()
  preparePages()
  prepareLine()
  prepareEnds()
  prepareRows()
  prepareSkipping()
  prepareSorting()
}

/** Finds the rows from `from`, where one starts, to `to`; returns why it stopped, one of INDEXED. */
export function findRows(from: u32, to: u32): i32 {
  startRows()
  return findPlaces(from, to, delimiterByte())
}
