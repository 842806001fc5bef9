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
  const measured = bounded?.points.filter((point): point is Measured => point.p95Ms !== undefined) ?? []
  if (bounded === undefined || measured.length < 2) return ''
  const band = bounded.bands.p95Ms
  return joinSections([
    `### Trend${rehearsalMark(rehearsal)}`,
    describeChart(measured, bounded.branch, band),
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

function level(value: number, length: number): { colour: string; values: number[] } {
  return { colour: GREY, values: Array<number>(length).fill(Math.max(0, value)) }
}

function describeChart(points: readonly Measured[], branch: string, band: Band | undefined): string {
  const last = points.at(-1)?.isHead === true ? '; the last point is this run' : ''
  const range =
    band === undefined
      ? ''
      : ` The next run is expected between the grey lines, from ${write('percentile', band.low)} to ${write('percentile', band.high)}.`
  return [
    `**p95** (orange) of the last ${points.length} runs of ${foreign(branch, MOST_CELL_BYTES)}, oldest first${last}.${range}`,
    ...countWords(points.filter(({ unusable }) => unusable !== undefined).length, [
      'run is drawn that is not part of the baseline',
      'runs are drawn that are not part of the baseline'
    ]),
    ...countWords(points.slice(1).filter(({ isAfterChange }) => isAfterChange).length, [
      'time, what was run changed: runs before that are not comparable',
      'times, what was run changed: runs before that are not comparable'
    ])
  ].join(' ')
}

function countWords(count: number, [one, many]: readonly [string, string]): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : many}.`]
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
