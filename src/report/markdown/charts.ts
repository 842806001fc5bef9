import type { TimeSeries } from '../../results/figures/measurements.js'
import { chartPoints } from './chart-points.js'
import type { ChartPoints } from './chart-points.js'
import { joinSections } from './markdown.js'
import { BLUE, drawChart, GREY, ORANGE, RED } from './mermaid.js'
import type { StallBand } from '../shown-stalls.js'
import { REHEARSAL } from '../outcome.js'
import { rehearsalMark } from '../verdict-signs.js'

interface Chart {
  readonly title: string
  /** A description of the chart, because Mermaid charts have no legend. */
  readonly words: string
  readonly lines: readonly { readonly colour: string; readonly values: readonly number[] }[]
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
