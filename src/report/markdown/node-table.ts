import { EVERY_REGION_IS_HERE, nodeRows, nodesToShow } from '../rows.js'
import type { Outcome } from '../../analysis/outcome.js'
import { rehearsalMark } from '../headline.js'
import { fold, foreign, joinSections, table } from './markdown.js'

const MOST_ROWS = 50
/** A longer table opens on a click. */
const MOST_OPEN_ROWS = 8
const HEADINGS = [
  ...['Node', 'Where it ran', 'Start:', 'Rows:', 'Threads:', 'CPU limit:', 'Restarts:', 'Throttled', 'Lost']
]

/** Where the load came from, node by node. */
export function renderNodes({ nodes, isAllHere, rehearsal }: Outcome): string {
  const note = isAllHere ? EVERY_REGION_IS_HERE : ''
  const shown = nodesToShow(nodes)
  if (shown.length === 0) return note
  const rows = nodeRows(shown, MOST_ROWS).map((row) => [
    foreign(row.name),
    foreign(row.place),
    ...[row.start, row.rows, row.threads, row.cpuLimit, row.restarts],
    `${row.isStarved ? '⚠️ ' : ''}${row.throttled}`,
    foreign(row.lost)
  ])
  const others = shown.length - rows.length
  const content = joinSections([
    table(HEADINGS, rows),
    others === 0 ? '' : `${others} more are in verdict.json.`
  ])
  return joinSections([
    `### Nodes${rehearsalMark(rehearsal)}`,
    note,
    shown.length > MOST_OPEN_ROWS ? fold(`${shown.length} nodes`, content) : content
  ])
}
