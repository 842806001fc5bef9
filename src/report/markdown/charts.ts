import type { TimeSeries } from '../../analysis/results/figures/measurements.js'
import type { StallBand } from '../stalls.js'
import { REHEARSAL } from '../../analysis/outcome.js'
import { rehearsalMark } from '../sentences.js'
import { joinSections, BLUE, drawChart, GREY, ORANGE, RED, type MermaidChart } from './markdown.js'

interface Chart extends Pick<MermaidChart, 'title' | 'lines'> {
  /** A description of the chart, because Mermaid charts have no legend. */
  readonly words: string
}

export interface ChartFacts {
  readonly rehearsal: boolean
  /** The series has none of the run's warm-up. */
  readonly isWithoutWarmUp?: boolean
  /** On the axis of the series. */
  readonly stalls?: readonly StallBand[]
}

/** The run over time: response time, throughput and failures, one chart each; empty if there is nothing to draw. */
export function renderCharts(series: TimeSeries | undefined, facts: ChartFacts): string {
  const { rehearsal, isWithoutWarmUp = false, stalls = [] } = facts
  const points = series && chartPoints(series)
  if (points === undefined || points.throughput.every((value) => value === 0)) return ''
  const heading = `### Over time${rehearsalMark(rehearsal)}`
  const charts = [
    ...[...responseTime(points), throughput(points)].map((chart) => mark(chart, points, stalls)),
    ...failures(points)
  ]
  const hasFailures = points.failures.some((value) => value > 0)
  return joinSections([
    heading,
    isWithoutWarmUp ? 'The charts leave out the warm-up: time starts with the first sample that counts.' : '',
    ...charts.map((chart) => `${chart.words}\n\n${drawOverTime(chart, points, facts)}`),
    hasFailures ? '' : '**Failures**: none.'
  ])
}

function responseTime(points: ChartPoints): Chart[] {
  const { p50Ms, p95Ms, hasGaps } = points
  if (p50Ms === undefined || p95Ms === undefined) return []
  const gaps = hasGaps ? ' Gaps without samples are drawn as straight lines.' : ''
  return [
    {
      title: 'Response time in ms',
      words: `**Response time**: p95 is the upper line (orange), p50 the lower one (blue); one point every ${widthWords(points)}.${gaps}`,
      lines: [
        { colour: BLUE, values: p50Ms },
        { colour: ORANGE, values: p95Ms }
      ]
    }
  ]
}

function throughput(points: ChartPoints): Chart {
  return {
    title: 'Throughput in samples per second',
    words: `**Throughput**: samples per second (blue); one point every ${widthWords(points)}.`,
    lines: [{ colour: BLUE, values: points.throughput }]
  }
}

/** Mermaid has no bands: a line that goes up and down again. */
function mark(chart: Chart, { widthMs }: ChartPoints, stalls: readonly StallBand[]): Chart {
  if (stalls.length === 0) return chart
  const top = Math.max(...chart.lines.flatMap(({ values }) => values))
  const values = (chart.lines[0]?.values ?? []).map((_, index) => {
    const isIn = ([atMs, ms]: StallBand): boolean =>
      atMs < (index + 1) * widthMs && atMs + ms > index * widthMs
    return stalls.some(isIn) ? top : 0
  })
  return {
    ...chart,
    words: `${chart.words} Nothing was answered where the grey line is high.`,
    lines: [{ colour: GREY, values }, ...chart.lines]
  }
}

function failures(points: ChartPoints): Chart[] {
  const count = points.failures.reduce((total, value) => total + value, 0)
  if (count === 0) return []
  return [
    {
      title: 'Failed samples',
      words: `**Failures**: ${count.toLocaleString('en-US')} failed samples (red); one point every ${widthWords(points)}.`,
      lines: [{ colour: RED, values: points.failures }]
    }
  ]
}

function widthWords({ widthMs }: ChartPoints): string {
  const seconds = widthMs / 1000
  if (seconds === 1) return 'second'
  return seconds % 60 === 0 && seconds > 60 ? `${seconds / 60} minutes` : `${seconds} seconds`
}

function drawOverTime({ title, lines }: Chart, { unit, end }: ChartPoints, facts: ChartFacts): string {
  return drawChart({
    title: `${title}${facts.rehearsal ? `, ${REHEARSAL}` : ''}`,
    xAxis: `"${unit}${facts.isWithoutWarmUp ? ' without the warm-up' : ''}" 0 --> ${end}`,
    height: 360,
    lines
  })
}

/** More would only blur on a chart that is 700 pixels wide. */
const MOST_POINTS = 60
const SECOND = 1_000
const MINUTE = 60 * SECOND
const LONGEST_IN_SECONDS = 10 * MINUTE

/** Few enough points to draw; undefined if there are fewer than two, which make no line. */
export function chartPoints(series: TimeSeries) {
  const { bucketMs, atMs } = series
  const inMinutes = atMs.length * bucketMs > LONGEST_IN_SECONDS
  const factor = chooseFactor(atMs.length, bucketMs, inMinutes ? MINUTE / 4 : SECOND)
  const groups = groupsOf(atMs.length, factor)
  if (groups.length < 2) return undefined
  const weights = series.throughput
  const p50Ms = groups.map((group) => weightedMean(series.p50Ms, weights, group))
  const p95Ms = groups.map((group) => weightedMean(series.p95Ms, weights, group))
  return {
    widthMs: factor * bucketMs,
    unit: inMinutes ? 'minutes' : 'seconds',
    /** Where the last point is on the axis. */
    end: ((groups.length - 1) * factor * bucketMs) / (inMinutes ? MINUTE : SECOND),
    throughput: groups.map((group) => sum(series.throughput, group) / group.length),
    failures: groups.map((group) => sum(series.failures, group)),
    p50Ms: joinGaps(p50Ms),
    p95Ms: joinGaps(p95Ms),
    hasGaps: p95Ms.includes(undefined)
  }
}

export type ChartPoints = NonNullable<ReturnType<typeof chartPoints>>

/** How many buckets make a point, a multiple of the grain: old Mermaid adds up widths, and a sum beyond the axis loses the last point. */
function chooseFactor(count: number, bucketMs: number, grainMs: number): number {
  const least = Math.max(1, Math.ceil(count / MOST_POINTS))
  let factor = least
  while ((factor * bucketMs) % grainMs !== 0 && factor < count) factor++
  return factor < count ? factor : least
}

function groupsOf(count: number, factor: number): number[][] {
  return Array.from({ length: Math.ceil(count / factor) }, (_, group) =>
    Array.from({ length: Math.min(factor, count - group * factor) }, (_, index) => group * factor + index)
  )
}

function sum(values: readonly number[], group: readonly number[]): number {
  return group.reduce((total, index) => total + (values[index] ?? 0), 0)
}

/** Percentiles of parts do not add up to that of the whole; their mean weighted by samples is close and hides nothing. */
function weightedMean(
  values: readonly (number | null)[],
  weights: readonly number[],
  group: readonly number[]
): number | undefined {
  const known = group.filter((index) => values[index] != null)
  const weight = sum(weights, known)
  if (weight === 0) return undefined
  return known.reduce((total, index) => total + (values[index] ?? 0) * (weights[index] ?? 0), 0) / weight
}

/** A Mermaid line has no gaps: missing points are interpolated from their neighbours. */
function joinGaps(values: readonly (number | undefined)[]): number[] | undefined {
  const known = values.flatMap((value, at) => (value === undefined ? [] : [{ at, value }]))
  const [first] = known
  if (first === undefined) return undefined
  return values.map((value, at) => {
    if (value !== undefined) return value
    const before = known.findLast((point) => point.at < at) ?? first
    const after = known.find((point) => point.at > at) ?? before
    const share = after.at === before.at ? 0 : (at - before.at) / (after.at - before.at)
    return before.value + (after.value - before.value) * Math.min(1, Math.max(0, share))
  })
}
