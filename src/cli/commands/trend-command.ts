import type { BaselineDocument } from '../../contract/baseline.js'
import { buildTrend } from '../../analysis/baseline/build-trend.js'
import type { Trend } from '../../analysis/baseline/build-trend.js'
import { count, shorten } from '../../contract/text.js'
import { formatValue } from '../../analysis/thresholds/format.js'
import { flagsOf, type Arguments, UsageError } from '../arguments.js'
import { describeChange, findBaselineFile, JSON_FLAG } from './baseline-commands.js'
import { wrap } from '../help.js'
import type { CommandPorts } from '../ports.js'
import { say } from '../screen.js'

/** The default of the input `noise`. */
const NOISE = 0.05
const DEFAULT_COLUMNS = 80
const MOST_REMARKS = 10
const ROWS = 7
/** For the figures at the axis. */
const MARGIN = 10
/** One for the point, one to keep it apart from the next. */
const POINT_WIDTH = 2
const FEWEST_POINTS = 5

const UNICODE = { run: '●', unusable: '○', band: '░', change: '┊', axis: '┤' }
const ASCII: typeof UNICODE = { run: '*', unusable: 'o', band: '.', change: ':', axis: '|' }
const FIGURES = [
  { key: 'p95Ms', title: 'p95', metric: 'percentile' },
  { key: 'throughput', title: 'throughput', metric: 'throughput' },
  { key: 'errorRate', title: 'error rate', metric: 'error_rate' }
] as const

export const flags = flagsOf(JSON_FLAG)

/** `loadgate trend <file or folder>`: the last runs of a branch as charts. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const { out } = ports.screen
  const { path, document } = await findBaselineFile(args, ports)
  const trend = buildTrend(document, undefined, { noise: NOISE })
  if (trend === undefined) throw new UsageError(`${path} has no runs yet`)
  const columns = out.isTTY ? (out.columns ?? DEFAULT_COLUMNS) : DEFAULT_COLUMNS
  const signs = out.isTTY && ports.isUnicode ? UNICODE : ASCII
  const room = Math.max(FEWEST_POINTS, Math.floor((columns - MARGIN - 3) / POINT_WIDTH))
  const drawn = { ...trend, points: trend.points.slice(-room) }
  say(ports, args, trend, () =>
    [
      titleOf(drawn, document.runs.length),
      '',
      ...FIGURES.flatMap((figure) => drawFigure(drawn, figure, { columns, signs })),
      ...wrap(legendOf(drawn, signs), columns),
      ...remarksOn(document, drawn)
    ].join('\n')
  )
  return 0
}

function titleOf({ branch, points }: Trend, total: number): string {
  const day = (atMs: number | undefined): string => new Date(atMs ?? 0).toISOString().slice(0, 10)
  const runs = total === 1 ? 'The only run' : `The last ${count(points.length, 'run')}`
  return `${runs} on ${shorten(branch)}, ${day(points[0]?.atMs)} to ${day(points.at(-1)?.atMs)}`
}

/** Why runs are not usable, and what changed; the newest ones. */
function remarksOn({ runs }: BaselineDocument, { points }: Trend): string[] {
  const remarks = points.flatMap(({ runId, commit, unusable, isAfterChange }) => {
    const at = runs.findIndex((run) => run.runId === runId && run.commit === commit)
    return [
      ...(isAfterChange ? [describeChange(runs, at) ?? []].flat() : []),
      ...(unusable === undefined ? [] : [`Not usable, ${commit.slice(0, 7)}: ${shorten(unusable)}`])
    ]
  })
  return remarks.length === 0 ? [] : ['', ...remarks.slice(-MOST_REMARKS)]
}

function drawFigure(
  { points, bands }: Trend,
  { key, title, metric }: (typeof FIGURES)[number],
  { columns, signs }: { columns: number; signs: typeof UNICODE }
): string[] {
  const known = points.flatMap((point) => point[key] ?? [])
  if (known.length === 0) return [`${title}: not recorded`, '']
  const band = bands[key]
  const low = Math.min(...known, band?.low ?? Infinity)
  const high = Math.max(...known, band?.high ?? -Infinity)
  const rowOf = (value: number): number =>
    high === low ? (ROWS - 1) / 2 : Math.round(((high - value) / (high - low)) * (ROWS - 1))
  // Runs before a change say nothing about the next one.
  const comparableFrom = points.findLastIndex(({ isAfterChange }) => isAfterChange)
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const hasScale = row % 3 === 0 && (high > low || row === 3)
    const scale = hasScale ? formatValue(metric, high - ((high - low) * row) / (ROWS - 1)) : ''
    const isInBand = band !== undefined && row >= rowOf(band.high) && row <= rowOf(band.low)
    const cells = points.map((point, i) => {
      const fill = i >= comparableFrom && isInBand ? signs.band : ' '
      const value = point[key]
      const sign = point.unusable === undefined ? signs.run : signs.unusable
      const isHere = value !== undefined && rowOf(value) === row
      return (i > 0 && point.isAfterChange ? signs.change : fill) + (isHere ? sign : fill)
    })
    return `${scale.padStart(MARGIN)} ${signs.axis}${cells.join('')}`.trimEnd()
  })
  const expected = band && `, expected ${formatValue(metric, band.low)} to ${formatValue(metric, band.high)}`
  return [...wrap(title + (expected ?? ''), columns), ...lines, '']
}

/** Only what is in the charts. */
function legendOf({ points, bands }: Trend, signs: typeof UNICODE): string {
  return [
    `${signs.run} run`,
    ...(points.some(({ unusable }) => unusable !== undefined) ? [`${signs.unusable} not usable`] : []),
    ...(Object.keys(bands).length > 0 ? [`${signs.band} expected next`] : []),
    ...(points.some(({ isAfterChange }) => isAfterChange) ? [`${signs.change} not comparable before`] : [])
  ].join('   ')
}
