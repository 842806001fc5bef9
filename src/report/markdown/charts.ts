import type { TimeSeries } from '../../results/figures/measurements.js'
import { chartPoints } from './chart-points.js'
import type { ChartPoints } from './chart-points.js'
import { joinSections } from './markdown.js'
import { REHEARSAL } from '../outcome.js'
import { rehearsalMark } from '../verdict-signs.js'

interface Chart {
  readonly title: string
  /** A description of the chart, because Mermaid charts have no legend. */
  readonly words: string
  readonly lines: readonly { readonly colour: string; readonly values: readonly number[] }[]
}

/** Colours that are visible on a light and on a dark page; Mermaid's own are hard to see on white. */
const BLUE = '#2f81f7'
const ORANGE = '#d9730d'
const RED = '#e5534b'
/** Mermaid does not parse exponents. */
const LARGEST = 1e15

/** The run over time: response time, throughput and failures, one chart each; empty if there is nothing to draw. */
export function renderCharts(series: TimeSeries | undefined, rehearsal: boolean): string {
  const points = series && chartPoints(series)
  if (points === undefined || points.throughput.every((value) => value === 0)) return ''
  const heading = `### Over time${rehearsalMark(rehearsal)}`
  const charts = [...responseTime(points), throughput(points), ...failures(points)]
  const hasFailures = points.failures.some((value) => value > 0)
  return joinSections([
    heading,
    ...charts.map((chart) => `${chart.words}\n\n${drawChart(chart, points, rehearsal)}`),
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

/** Old and new versions understand `xychart-beta`; GitHub chooses which one draws. */
function drawChart({ title, lines }: Chart, { unit, end }: ChartPoints, rehearsal: boolean): string {
  const rows = lines.map(({ values }) => values.map(writable))
  const look = {
    xyChart: { width: 900, height: 360 },
    themeVariables: { xyChart: { plotColorPalette: lines.map(({ colour }) => colour).join(', ') } }
  }
  return [
    '```mermaid',
    `%%{init: ${JSON.stringify(look)}}%%`,
    'xychart-beta',
    `    title "${title}${rehearsal ? `, ${REHEARSAL}` : ''}"`,
    `    x-axis "${unit}" 0 --> ${end}`,
    // An axis from 0 to 0 has no scale.
    `    y-axis 0 --> ${Math.max(1, ...rows.flat())}`,
    ...rows.map((row) => `    line [${row.join(', ')}]`),
    '```'
  ].join('\n')
}

function writable(value: number): number {
  const bounded = Math.min(LARGEST, value)
  return bounded >= 100 ? Math.round(bounded) : Number(bounded.toFixed(2))
}
