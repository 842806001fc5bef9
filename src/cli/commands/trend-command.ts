import { resolve } from 'node:path'
import type { BaselineDocument } from '../../contract/baseline.js'
import { describeDifference } from '../../analysis/baseline/document/fingerprint.js'
import { buildTrend } from '../../analysis/baseline/build-trend.js'
import type { Trend, Band, TrendPoint } from '../../analysis/baseline/trend.js'
import { shorten } from '../../contract/text.js'
import { formatValue } from '../../analysis/thresholds/format.js'
import type { Metric } from '../../analysis/thresholds/metrics.js'
import { type Arguments, UsageError } from '../arguments.js'
import { findBaselineFile } from './baseline-file.js'
import type { BaselinePorts } from './baseline-commands.js'
import { plain, safeJson } from '../screen.js'

export interface TrendPorts extends BaselinePorts {
  /** Whether the terminal shows more than ASCII. */
  readonly isUnicode?: boolean
}

/** The default of the input `noise`. */
const NOISE = 0.05
const DEFAULT_COLUMNS = 80
const MOST_REMARKS = 10

/** `loadgate trend <file or folder>`: the last runs of a branch as charts. */
export async function runTrendCommand(args: Arguments, ports: TrendPorts): Promise<number> {
  const { out } = ports.screen
  const place = resolve(ports.workspace, args.words[0] ?? '')
  const { path, document } = await findBaselineFile(place, ports.screen)
  const trend = buildTrend(document, undefined, { noise: NOISE })
  if (trend === undefined) throw new UsageError(`${path} has no runs yet`)
  if (args.has('json')) {
    out.write(safeJson(trend))
    return 0
  }
  const columns = out.isTTY ? (out.columns ?? DEFAULT_COLUMNS) : DEFAULT_COLUMNS
  const isUnicode = out.isTTY === true && ports.isUnicode === true
  const drawn = newestThatFit(trend, columns)
  const lines = [
    titleOf(drawn, document.runs.length),
    '',
    ...drawTrend(drawn, { columns, isUnicode }),
    ...remarksOn(document, drawn),
    ''
  ]
  out.write(lines.map(plain).join('\n'))
  return 0
}

function titleOf({ branch, points }: Trend, total: number): string {
  const day = (atMs: number | undefined): string => new Date(atMs ?? 0).toISOString().slice(0, 10)
  const runs =
    total === 1 ? 'The only run' : `The last ${points.length} ${points.length === 1 ? 'run' : 'runs'}`
  return `${runs} on ${shorten(branch)}, ${day(points[0]?.atMs)} to ${day(points.at(-1)?.atMs)}`
}

/** Why runs are not usable, and what changed; the newest ones. */
function remarksOn({ runs }: BaselineDocument, { points }: Trend): string[] {
  const remarks = points.flatMap(({ runId, commit, unusable, isAfterChange }) => {
    const at = runs.findIndex((run) => run.runId === runId && run.commit === commit)
    const [before, run] = [runs[at - 1], runs[at]]
    const difference =
      isAfterChange && before && run ? describeDifference(before.fingerprint, run.fingerprint) : undefined
    const short = commit.slice(0, 7)
    return [
      ...(difference === undefined ? [] : [`Not comparable before ${short}: ${difference}`]),
      ...(unusable === undefined ? [] : [`Not usable, ${short}: ${shorten(unusable)}`])
    ]
  })
  return remarks.length === 0 ? [] : ['', ...remarks.slice(-MOST_REMARKS)]
}

/** What a chart is drawn with. */
interface Signs {
  readonly run: string
  readonly unusable: string
  readonly head: string
  readonly band: string
  readonly change: string
  readonly axis: string
}

const UNICODE: Signs = { run: '●', unusable: '○', head: '◆', band: '░', change: '┊', axis: '┤' }
const ASCII: Signs = { run: '*', unusable: 'o', head: '#', band: '.', change: ':', axis: '|' }

const ROWS = 7
/** One for the point, one to keep it apart from the next. */
const POINT_WIDTH = 2
const FEWEST_POINTS = 5

const FIGURES: readonly {
  readonly key: 'p95Ms' | 'throughput' | 'errorRate'
  readonly title: string
  readonly metric: Metric
}[] = [
  { key: 'p95Ms', title: 'p95', metric: 'percentile' },
  { key: 'throughput', title: 'throughput', metric: 'throughput' },
  { key: 'errorRate', title: 'error rate', metric: 'error_rate' }
]

/** Three small charts and what their signs mean, for a terminal of that many columns. */
export function drawTrend(
  trend: Trend,
  { columns, isUnicode }: { columns: number; isUnicode: boolean }
): string[] {
  const signs = isUnicode ? UNICODE : ASCII
  const charts = FIGURES.flatMap(({ key, title, metric }) =>
    drawFigure(
      trend.points.map((point) => ({ point, value: point[key] })),
      { title, metric, band: trend.bands[key], columns, signs }
    )
  )
  return [...charts, ...wrap(legendOf(trend, signs), columns)]
}

/** The newest runs, as many as each chart has columns for. */
function newestThatFit(trend: Trend, columns: number): Trend {
  const room = Math.min(
    ...FIGURES.flatMap(({ key, metric }) => {
      const scale = scaleOf(
        trend.points.map((point) => point[key]),
        { metric, band: trend.bands[key] }
      )
      return scale === undefined ? [] : [roomIn(columns, scale.margin)]
    })
  )
  if (room >= trend.points.length) return trend
  // Fewer runs may have longer figures at the axis.
  return newestThatFit({ ...trend, points: trend.points.slice(-room) }, columns)
}

function roomIn(columns: number, margin: number): number {
  return Math.max(FEWEST_POINTS, Math.floor((columns - margin - 3) / POINT_WIDTH))
}

interface Value {
  readonly point: TrendPoint
  readonly value: number | undefined
}

interface Look {
  readonly title: string
  readonly metric: Metric
  readonly band: Band | undefined
  readonly columns: number
  readonly signs: Signs
}

function drawFigure(all: readonly Value[], look: Look): string[] {
  const { title, metric, band, columns, signs } = look
  const found = scaleOf(
    all.map(({ value }) => value),
    { metric, band }
  )
  if (found === undefined) return [`${title}: not recorded`, '']
  const { rowOf, scale, margin } = found
  const expected = band && `expected ${formatValue(metric, band.low)} to ${formatValue(metric, band.high)}`
  const shown = all.slice(-roomIn(columns, margin))
  const inBand = (row: number): boolean =>
    band !== undefined && row >= rowOf(band.high) && row <= rowOf(band.low)
  // Runs before a change say nothing about the next one.
  const comparableFrom = shown.findLastIndex(({ point }) => point.isAfterChange)
  const lines = scale.map((text, row) => {
    const cells = shown.map(({ point, value }, i) => {
      const fill = i >= comparableFrom && inBand(row) ? signs.band : ' '
      const before = i > 0 && point.isAfterChange ? signs.change : fill
      return before + (value !== undefined && rowOf(value) === row ? signOf(point, signs) : fill)
    })
    return `${text.padStart(margin)} ${signs.axis}${cells.join('')}`.trimEnd()
  })
  return [...wrap([title, expected].filter((part) => part !== undefined).join(', '), columns), ...lines, '']
}

interface ChartScale {
  readonly rowOf: (value: number) => number
  /** The words at the axis, row by row, and the width of the longest. */
  readonly scale: readonly string[]
  readonly margin: number
}

/** Undefined if no value is known. */
function scaleOf(
  values: readonly (number | undefined)[],
  { metric, band }: Pick<Look, 'metric' | 'band'>
): ChartScale | undefined {
  const known = values.flatMap((value) => value ?? [])
  if (known.length === 0) return undefined
  const low = Math.min(...known, band?.low ?? Infinity)
  const high = Math.max(...known, band?.high ?? -Infinity)
  const valueAt = (row: number): number => high - ((high - low) * row) / (ROWS - 1)
  const rowOf = (value: number): number =>
    high === low ? (ROWS - 1) / 2 : Math.round(((high - value) / (high - low)) * (ROWS - 1))
  const scale = Array.from({ length: ROWS }, (_, row) =>
    row % 3 === 0 && (high > low || row === 3) ? formatValue(metric, valueAt(row)) : ''
  )
  return { rowOf, scale, margin: Math.max(...scale.map(({ length }) => length)) }
}

function signOf({ isHead, unusable }: TrendPoint, signs: Signs): string {
  if (unusable !== undefined) return signs.unusable
  return isHead ? signs.head : signs.run
}

/** Only what is in the charts. */
function legendOf({ points, bands }: Trend, signs: Signs): string {
  return [
    `${signs.run} run`,
    ...(points.some(({ unusable }) => unusable !== undefined) ? [`${signs.unusable} not usable`] : []),
    ...(points.some(({ isHead }) => isHead) ? [`${signs.head} this run`] : []),
    ...(Object.keys(bands).length > 0 ? [`${signs.band} expected next`] : []),
    ...(points.some(({ isAfterChange }) => isAfterChange) ? [`${signs.change} not comparable before`] : [])
  ].join('   ')
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/(?<=\S) (?=\S)/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word.trim())
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
