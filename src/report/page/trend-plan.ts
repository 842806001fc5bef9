import type { Band, Trend, TrendPoint } from '../../analysis/baseline/build-trend.js'
import { escapeHtml } from '../escape.js'
import { remarkOn, timeOf } from '../trend-points.js'
import { when } from '../../contract/text.js'
import { formatMs, formatNumber, formatPercent, formatRate, numberCells, renderTable } from './numbers.js'

export interface TrendPlan {
  readonly title: string
  readonly unit: string
  readonly colour: 'p95' | 'throughput' | 'failures'
  /** One per run, in the unit of the axis; null if it is unknown. */
  readonly values: readonly (number | null)[]
  readonly band: Band | undefined
  readonly write: (value: number | null) => string
  /** An axis is at least this long. */
  readonly leastSpan: number
}

/** Points that are not part of the baseline may reach this many times further than the others. */
const FARTHEST = 1
const PADDING = 0.15
/** An axis shows at least this share of the highest value, so that what hardly changes looks level. */
const LEAST_SPAN = 0.2

/** A chart for each figure that at least one run has. */
export function planTrend({ points, bands }: Trend): TrendPlan[] {
  const percent = (value: number | undefined): number | null => (value === undefined ? null : value * 100)
  const plans: TrendPlan[] = [
    {
      ...{ title: 'p95', unit: 'ms', colour: 'p95', band: bands.p95Ms, write: formatMs, leastSpan: 5 },
      values: points.map(({ p95Ms }) => p95Ms ?? null)
    },
    {
      ...{ title: 'Throughput', unit: '/s', colour: 'throughput', band: bands.throughput },
      ...{ write: formatRate, leastSpan: 0.2 },
      values: points.map(({ throughput }) => throughput ?? null)
    },
    {
      ...{ title: 'Error rate', unit: '%', colour: 'failures', leastSpan: 0.5 },
      band: bands.errorRate && scaleBand(bands.errorRate, 100),
      write: (value) => formatPercent(value === null ? null : value / 100),
      values: points.map(({ errorRate }) => percent(errorRate))
    }
  ]
  return plans.filter(({ values }) => values.some((value) => value !== null))
}

function scaleBand({ low, centre, high }: Band, factor: number): Band {
  return { low: low * factor, centre: centre * factor, high: high * factor }
}

/** The part of the axis that shows usable runs and the band well, and others as far as that allows. */
export function axisRange(plan: TrendPlan, points: readonly TrendPoint[]): [number, number] {
  const { values, band, leastSpan } = plan
  const known = values.filter((value) => value !== null)
  const usual = values.filter((value, i): value is number => value !== null && isConnected(points[i]))
  const main = [...(usual.length > 0 ? usual : known), ...(band === undefined ? [] : [band.low, band.high])]
  const span = Math.max(Math.max(...main) - Math.min(...main), Math.max(...main) * LEAST_SPAN, leastSpan)
  const missing = span - (Math.max(...main) - Math.min(...main))
  const [bottom, top] = [Math.min(...main) - missing / 2, Math.max(...main) + missing / 2]
  const lowest = Math.max(bottom - FARTHEST * span, Math.min(bottom, ...known))
  const highest = Math.min(top + FARTHEST * span, Math.max(top, ...known))
  return [Math.max(0, lowest - PADDING * span), highest + PADDING * span]
}

/** Whether the line goes through it: usable runs, and the one that was judged. */
function isConnected(point: TrendPoint | undefined): boolean {
  return point !== undefined && (point.unusable === undefined || point.isHead)
}

/** The indexes of the points between two changes, without those beside the line. */
export function connectedStretches({ values }: TrendPlan, points: readonly TrendPoint[]): number[][] {
  const stretches: number[][] = [[]]
  points.forEach((point, index) => {
    if (point.isAfterChange && index > 0) stretches.push([])
    if (isConnected(point) && values[index] !== null) stretches.at(-1)?.push(index)
  })
  return stretches.filter((stretch) => stretch.length > 0)
}

/** The first run that the next one is comparable with. */
export function startOfBand(points: readonly TrendPoint[]): number {
  return Math.max(0, points.map(({ isAfterChange }) => isAfterChange).lastIndexOf(true))
}

/** Days, or times where all are of one day. */
export function writeDates(points: readonly (TrendPoint | undefined)[]): string[] {
  const dates = points.map((point) => new Date(point?.atMs ?? NaN))
  const write = (options: Intl.DateTimeFormatOptions): string[] =>
    dates.map((date) =>
      Number.isNaN(date.getTime()) ? '' : date.toLocaleString('en-US', { ...options, timeZone: 'UTC' })
    )
  const days = write({ month: 'short', day: 'numeric' })
  const isOneDay = days.length > 1 && new Set(days).size === 1
  return isOneDay ? write({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }) : days
}

export function describeTrend({ branch, points, bands }: Trend): string {
  const hasHead = points.some(({ isHead }) => isHead)
  const others = points.length - (hasHead ? 1 : 0)
  const ones =
    others === 1 ? `The run before, of ${branch},` : `The last ${formatNumber(others)} runs of ${branch}`
  const who =
    others === 0
      ? `This run; there is no earlier one of ${branch} yet`
      : hasHead
        ? `${ones} and this one (◆)`
        : ones.replace(/,$/, '')
  return [
    `${who}.`,
    ...when(Object.keys(bands).length > 0, 'Shaded: where the next run is expected.'),
    ...when(
      points.some(({ unusable }) => unusable !== undefined),
      'Hollow: runs that are not part of the baseline.'
    ),
    ...when(
      points.some(({ isAfterChange }, index) => isAfterChange && index > 0),
      'Dotted line: what was run changed, so runs before it are not comparable.'
    )
  ].join(' ')
}

/** A run in words: when, what, and what sets it apart. */
export function describePoint(point: TrendPoint): string {
  return [timeOf(point), point.commit, remarkOn(point)]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ')
}

export function describePlan(plan: TrendPlan, points: readonly TrendPoint[]): string {
  const { title, values, band, write } = plan
  const known = values.filter((value) => value !== null)
  const head = values[points.findIndex(({ isHead }) => isHead)] ?? null
  return [
    `${title} of ${known.length} ${known.length === 1 ? 'run' : 'runs'}, from ${write(Math.min(...known))} to ${write(Math.max(...known))}`,
    ...(head === null ? [] : [`this run ${write(head)}`]),
    ...(band === undefined
      ? []
      : [`the next run is expected between ${write(band.low)} and ${write(band.high)}`])
  ].join('; ')
}

/** All of it as a table, the newest run first. */
export function renderTrendTable(trend: Trend): string {
  const rows = trend.points.map((point) => {
    const cells = [
      formatMs(point.p95Ms ?? null),
      formatRate(point.throughput ?? null),
      formatPercent(point.errorRate ?? null)
    ]
    return `<tr><th scope="row">${timeOf(point) ?? '–'}</th><td><code>${escapeHtml(point.commit)}</code></td><td class="run-id">${escapeHtml(point.runId)}</td>${numberCells(cells)}<td class="words">${escapeHtml(remarkOn(point))}</td></tr>`
  })
  const headings = ['Time', 'Commit', 'Run', 'p95', 'Throughput', 'Error rate', 'Remark']
  return renderTable({ name: 'Figures of the last runs', headings, rows: rows.reverse() })
}
