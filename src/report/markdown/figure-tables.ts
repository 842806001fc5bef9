import type { Figures } from '../../analysis/results/figures/measurements.js'
import { formatFigure, formatValue } from '../../analysis/thresholds/format.js'
import type { Outcome } from '../../analysis/outcome.js'
import { when } from '../../contract/text.js'
import { formatBytes } from '../escape.js'
import { rehearsalMark } from '../sentences.js'
import { EVERY_REGION_IS_HERE, errorRows, nodeRows, nodesToShow, slowestLabels } from '../rows.js'
import type { LabelFigures } from '../rows.js'
import { fold, foreign, joinSections, tableSection } from './markdown.js'

const MOST_LABELS = 10
const MOST_LABEL_BYTES = 200
const MOST_CODE_BYTES = 100
const MOST_NODES = 50
/** A longer table opens on a click. */
const MOST_OPEN_NODES = 8
const MOST_GRIDS = 200

/** The slowest and the most failing labels, at most ten each, with the number of others. */
export function renderLabelTables({ measurements, rehearsal }: Outcome, headings: '###' | '####'): string {
  const labels = measurements === undefined ? [] : slowestLabels(measurements)
  const slowest = labels.filter(({ timeMs }) => timeMs !== undefined)
  const failing = labels
    .filter(({ figures }) => figures.failures > 0)
    .sort((a, b) => b.figures.failures - a.figures.failures)
  return joinSections([
    topOf(slowest, `${headings} Slowest labels${rehearsalMark(rehearsal)}`),
    topOf(failing, `${headings} Most failing labels${rehearsalMark(rehearsal)}`)
  ])
}

function topOf(labels: readonly LabelFigures[], heading: string): string {
  const rows = labels
    .slice(0, MOST_LABELS)
    .map(({ label, figures }) => [foreign(label, MOST_LABEL_BYTES), ...figureCells(figures)])
  return tableSection(heading, ['Label', ...FIGURE_HEADINGS], rows, labels.length)
}

/** Why samples failed, the most frequent reason first; empty if none failed or there are no reasons. */
export function renderErrorTable({ measurements }: Outcome, mostRows: number): string {
  const rows = errorRows(measurements, mostRows).map(({ count, share, code, message, label }) => [
    formatValue('failures', count),
    formatValue('error_rate', share),
    foreign(code, MOST_CODE_BYTES),
    foreign(message),
    foreign(label, MOST_LABEL_BYTES)
  ])
  return tableSection('', ['Failed:', 'Share:', 'Code', 'Message', 'Label'], rows)
}

export function renderGrids({ grids, measurements, rehearsal }: Outcome): string {
  const rows = grids
    .slice(0, MOST_GRIDS)
    .map(({ gridId, region, nodeCount, bytes, problem }) => [
      foreign(gridId),
      foreign(region),
      String(nodeCount ?? '–'),
      bytes === undefined ? 'missing' : formatBytes(bytes),
      ...(measurements === undefined ? [] : figureCells(measurements.figures({ grid: gridId }))),
      foreign(problem ?? '')
    ])
  const figures = measurements === undefined ? [] : FIGURE_HEADINGS
  const headings = ['Grid', 'Region', 'Nodes:', 'CSV:', ...figures, 'Problem']
  return tableSection(`### Grids${rehearsalMark(rehearsal)}`, headings, rows, grids.length)
}

const NODE_HEADINGS = [
  ...['Node', 'Where it ran', 'Start:', 'Rows:', 'Threads:', 'CPU limit:', 'Restarts:', 'Throttled', 'Lost']
]

export function renderNodes({ nodes, isAllHere, rehearsal }: Outcome): string {
  const note = isAllHere ? EVERY_REGION_IS_HERE : ''
  const shown = nodesToShow(nodes)
  const rows = nodeRows(shown, MOST_NODES).map((row) => [
    foreign(row.name),
    foreign(row.place),
    ...[row.start, row.rows, row.threads, row.cpuLimit, row.restarts],
    `${row.isStarved ? '⚠️ ' : ''}${row.throttled}`,
    foreign(row.lost)
  ])
  const content = tableSection('', NODE_HEADINGS, rows, shown.length)
  return joinSections([
    shown.length === 0 ? '' : `### Nodes${rehearsalMark(rehearsal)}`,
    note,
    shown.length > MOST_OPEN_NODES ? fold(`${shown.length} nodes`, content) : content
  ])
}

const COLUMNS = {
  ...{ 'Samples:': 'samples', 'Failed:': 'failures', 'Error rate:': 'error_rate' },
  ...{ 'p50:': 'p50', 'p95:': 'p95', 'p99:': 'p99' }
}
const FIGURE_HEADINGS = Object.keys(COLUMNS)

/** The cells under `FIGURE_HEADINGS`. */
function figureCells(figures: Figures | undefined): string[] {
  return Object.values(COLUMNS).map((name) => formatFigure(name, figures))
}

/** The most important numbers in one line; empty if there are none. */
export function keyFigures({ apdex, measurements, rehearsal }: Outcome): string {
  const all = measurements?.figures({})
  const named = (name: string, title: string): string[] => {
    const cell = formatFigure(name, all)
    return cell === '–' ? [] : [`${title} **${cell}**`]
  }
  const { score = 0, targetMs = 0 } = apdex ?? {}
  const parts = [
    ...when(
      apdex !== undefined,
      `apdex **${formatValue('apdex', score)}** (T ${formatValue('percentile', targetMs)})`
    ),
    ...named('p95', 'p95'),
    ...named('error_rate', 'errors'),
    ...named('throughput', 'throughput'),
    ...when(all !== undefined, `${formatValue('samples', all?.samples ?? 0)} samples`)
  ]
  return parts.length === 0 ? '' : parts.join(' · ') + rehearsalMark(rehearsal)
}
