import type { Figures, Measurements } from '../../analysis/results/figures/measurements.js'
import { formatFigure, formatValue } from '../../analysis/thresholds/format.js'
import type { Outcome } from '../../analysis/outcome.js'
import { rehearsalMark } from '../headline.js'
import { foreign, joinSections, table } from './markdown.js'

interface LabelFigures {
  readonly label: string
  readonly figures: Figures
  /** The figure that labels are ranked by; the tidy CSVs have no percentiles. */
  readonly timeMs: number | undefined
}

const MOST_LABELS = 10
const MOST_LABEL_BYTES = 200

/** The slowest and the most failing labels, at most ten each, with the number of others. */
export function renderLabelTables({ measurements, rehearsal }: Outcome, headings: '###' | '####'): string {
  if (measurements === undefined) return ''
  const labels = labelFigures(measurements)
  const slowest = labels
    .filter(({ timeMs }) => timeMs !== undefined)
    .sort((a, b) => (b.timeMs ?? 0) - (a.timeMs ?? 0))
  const failing = labels
    .filter(({ figures }) => figures.failures > 0)
    .sort((a, b) => b.figures.failures - a.figures.failures)
  return joinSections([
    topOf(slowest, `${headings} Slowest labels${rehearsalMark(rehearsal)}`),
    topOf(failing, `${headings} Most failing labels${rehearsalMark(rehearsal)}`)
  ])
}

function labelFigures(measurements: Measurements): LabelFigures[] {
  return measurements.labels.flatMap((label) => {
    const figures = measurements.figures({ label })
    return figures === undefined
      ? []
      : [{ label, figures, timeMs: figures.percentileMs(95) ?? figures.meanMs }]
  })
}

function topOf(labels: readonly LabelFigures[], heading: string): string {
  if (labels.length === 0) return ''
  const rows = labels
    .slice(0, MOST_LABELS)
    .map(({ label, figures }) => [nameOf(label), ...figureCells(figures)])
  const others = labels.length - rows.length
  return joinSections([
    heading,
    table(['Label', ...FIGURE_HEADINGS], rows),
    others === 0 ? '' : `and ${formatValue('samples', others)} more in verdict.json.`
  ])
}

/** An empty label counts too. */
function nameOf(label: string): string {
  return foreign(label, MOST_LABEL_BYTES) || '(no name)'
}

const COLUMNS = {
  'Samples:': 'samples',
  'Failed:': 'failures',
  'Error rate:': 'error_rate',
  'p50:': 'p50',
  'p95:': 'p95',
  'p99:': 'p99'
}
export const FIGURE_HEADINGS = Object.keys(COLUMNS)

/** The cells under `FIGURE_HEADINGS`. */
export function figureCells(figures: Figures | undefined): string[] {
  return Object.values(COLUMNS).map((name) => formatFigure(name, figures))
}

/** The most important numbers in one line; empty if there are none. */
export function keyFigures({ apdex, measurements, rehearsal }: Outcome): string {
  const all = measurements?.figures({})
  const named = (name: string, title: string): string[] => {
    const cell = formatFigure(name, all)
    return cell === '–' ? [] : [`${title} **${cell}**`]
  }
  const parts = [
    ...(apdex === undefined
      ? []
      : [`apdex **${formatValue('apdex', apdex.score)}** (T ${formatValue('percentile', apdex.targetMs)})`]),
    ...named('p95', 'p95'),
    ...named('error_rate', 'errors'),
    ...named('throughput', 'throughput'),
    ...(all === undefined ? [] : [`${formatValue('samples', all.samples)} samples`])
  ]
  return parts.length === 0 ? '' : parts.join(' · ') + rehearsalMark(rehearsal)
}
