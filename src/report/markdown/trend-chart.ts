import type { Band, Trend, TrendPoint } from '../../baseline/trend.js'
import { formatValue } from '../../thresholds/format.js'
import type { Metric } from '../../thresholds/grammar/threshold.js'
import { REHEARSAL } from '../outcome.js'
import { boundTrend, remarkOn, timeOf } from '../trend-points.js'
import { rehearsalMark } from '../verdict-signs.js'
import { fold, foreign, joinSections, table } from './markdown.js'
import { drawChart, GREY, ORANGE } from './mermaid.js'

/** More labels than these overlap; runs are then numbered. */
const MOST_LABELLED = 12
const MOST_CELL_BYTES = 300
const HEX = /^[0-9a-f]{7}$/i

type Measured = TrendPoint & { readonly p95Ms: number }

/** The p95 of the last runs as one small chart, with a table of them; empty if there are fewer than two. */
export function renderTrend(trend: Trend | undefined, rehearsal: boolean): string {
  const bounded = boundTrend(trend)
  const measured = bounded === undefined ? [] : drawnPoints(bounded.points)
  if (bounded === undefined || measured.length < 2) return ''
  const leftOut = bounded.points.length - measured.length
  const band = bounded.bands.p95Ms
  return joinSections([
    `### Trend${rehearsalMark(rehearsal)}`,
    describeChart(measured, { branch: bounded.branch, band, leftOut }),
    drawChart({
      title: `p95 in ms${rehearsal ? `, ${REHEARSAL}` : ''}`,
      xAxis: `[${labelsOf(measured)
        .map((label) => `"${label}"`)
        .join(', ')}]`,
      height: 240,
      lines: [
        ...(band === undefined ? [] : [band.high, band.low].map((value) => level(value, measured.length))),
        { colour: ORANGE, values: measured.map(({ p95Ms }) => p95Ms) }
      ]
    }),
    fold('The runs of the chart', runTable(measured))
  ])
}

/** Without runs that are not part of the baseline: one that timed out would flatten all others. A change before one of them stays. */
function drawnPoints(points: readonly TrendPoint[]): Measured[] {
  const drawn: Measured[] = []
  let hasChanged = false
  for (const point of points) {
    hasChanged ||= point.isAfterChange
    if (point.p95Ms === undefined || (point.unusable !== undefined && !point.isHead)) continue
    drawn.push({ ...point, p95Ms: point.p95Ms, isAfterChange: hasChanged })
    hasChanged = false
  }
  return drawn
}

function level(value: number, length: number): { colour: string; values: number[] } {
  return { colour: GREY, values: Array<number>(length).fill(Math.max(0, value)) }
}

function describeChart(
  points: readonly Measured[],
  { branch, band, leftOut }: { branch: string; band: Band | undefined; leftOut: number }
): string {
  const last = points.at(-1)?.isHead === true ? '; the last point is this run' : ''
  const range =
    band === undefined
      ? []
      : [
          `The next run is expected between the grey lines, from ${write('percentile', band.low)} to ${write('percentile', band.high)}.`
        ]
  const change = points.map(({ isAfterChange }) => isAfterChange).lastIndexOf(true)
  return [
    `**p95** (orange) of the last ${points.length} runs of ${foreign(branch, MOST_CELL_BYTES)}, oldest first${last}.`,
    ...range,
    ...(change > 0
      ? [`What was run changed before run ${change + 1}: runs before it are not comparable.`]
      : []),
    ...(leftOut === 0
      ? []
      : [
          `${leftOut === 1 ? '1 run is' : `${leftOut} runs are`} left out: not part of the baseline, or without a p95.`
        ])
  ].join(' ')
}

/** Each one only once: Mermaid draws points with the same label on top of each other. Only digits of a commit get here. */
function labelsOf(points: readonly Measured[]): string[] {
  if (points.length > MOST_LABELLED || points.some(({ commit }) => !HEX.test(commit)))
    return points.map((_, index) => String(index + 1))
  const seen = new Map<string, number>()
  return points.map(({ commit }) => {
    const times = (seen.get(commit) ?? 0) + 1
    seen.set(commit, times)
    return times === 1 ? commit : `${commit} (${times})`
  })
}

function runTable(points: readonly Measured[]): string {
  const rows = points.map((point, index) => [
    String(index + 1),
    commitCell(point.commit),
    timeOf(point) ?? '–',
    write('percentile', point.p95Ms),
    point.throughput === undefined ? '–' : write('throughput', point.throughput),
    point.errorRate === undefined ? '–' : write('error_rate', point.errorRate),
    foreign(remarkOn(point), MOST_CELL_BYTES)
  ])
  return table(['Run:', 'Commit', 'Time', 'p95:', 'Throughput:', 'Error rate:', 'Remark'], rows)
}

function commitCell(commit: string): string {
  return HEX.test(commit) ? `<code>${commit}</code>` : foreign(commit, MOST_CELL_BYTES)
}

function write(metric: Metric, value: number): string {
  return formatValue(metric, Math.max(0, value))
}
