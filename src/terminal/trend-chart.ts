import type { Band, Trend, TrendPoint } from '../baseline/trend.js'
import { formatValue } from '../thresholds/format.js'
import type { Metric } from '../thresholds/grammar/threshold.js'

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
export function newestThatFit(trend: Trend, columns: number): Trend {
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
