import type { DetailSeries } from '../../../../contract/verdict.js'
import { roundTo } from '../../../../analysis/thresholds/format.js'
import { formatBytes } from '../../../escape.js'
import type { Limit, PageDetails, PageDocument } from '../../build-document.js'
import { formatMs, formatNumber, formatRate } from '../../numbers.js'
import { greyPart, isInWarmUp } from './bands.js'
import type { ColourName } from './drawing.js'

export type Values = readonly (number | null)[]

export interface Line {
  readonly name: string
  readonly colour: ColourName
  /** What counts; all of it without a warm-up. */
  readonly values: Values
  /** Drawn in grey, below the line; undefined without a warm-up. */
  readonly grey: Values | undefined
  /** What is said about each point in time. */
  readonly said: Values
}

export interface ChartPlan {
  readonly title: string
  readonly unit: string
  readonly write: (value: number | null) => string
  readonly height: number
  /** The lines of a stack lie on each other, the first at the bottom. */
  readonly shape: 'line' | 'area' | 'bars' | 'stack'
  readonly lines: readonly Line[]
  readonly limits: readonly Limit[]
}

/** What charts over time show, of the run or of one label, on one axis. */
export interface TimePlan extends Pick<PageDocument, 'startMs' | 'seamsMs' | 'stalls' | 'warmUp'> {
  readonly series: { readonly bucketMs: number; readonly atMs: readonly number[] }
  readonly charts: readonly ChartPlan[]
}

type Series = NonNullable<PageDocument['series']>
type SeriesName = Exclude<keyof Series, 'bucketMs' | 'atMs'>
export type DetailedLabel = PageDetails['labels'][number]

/** The unit of a chart whose values are written as kB, MB and so on. */
export const BYTES = 'bytes/s'

/** By the first digit; several of one kind are told apart by their shades. */
const CODE_SHADES: Readonly<Record<string, readonly ColourName[]>> = {
  '1': ['code-3a', 'code-3b'],
  '2': ['code-2a', 'code-2b', 'code-2c'],
  '3': ['code-3a', 'code-3b'],
  '4': ['code-4a', 'code-4b', 'code-4c'],
  '5': ['code-5a', 'code-5b', 'code-5c'],
  none: ['code-none', 'code-none-b']
}

export function planRun(page: PageDocument): TimePlan | undefined {
  const { series, details, startMs, seamsMs, stalls, warmUp, views } = page
  if (series === null) return undefined
  const inDetail = details && placeDetails(details.overall, details.offsetMs, series)
  const line = (of: SeriesName, colour: ColourName, name: string = colour): Line =>
    planLine({ series, warmUp }, { whole: series[of], counted: warmUp?.counted?.[of], colour, name })
  const charts: ChartPlan[] = [
    responseChart([line('p50Ms', 'p50'), line('p95Ms', 'p95'), line('p99Ms', 'p99')], views[0]?.limits ?? []),
    throughputChart(line('throughput', 'throughput', 'Throughput')),
    failuresChart(line('failures', 'failures', 'Failures'), series.bucketMs),
    ...(inDetail == null ? [] : detailCharts(inDetail)),
    {
      ...{ title: 'Active threads', unit: '', write: formatNumber, height: 120, shape: 'area', limits: [] },
      lines: [line('activeThreads', 'threads', 'Active threads')]
    }
  ]
  return { startMs, seamsMs, stalls, warmUp, series, charts: charts.filter(hasValues) }
}

/** Its series has only what counts, so there is no warm-up to tell apart. */
export function planLabel(page: PageDocument, { series, limits }: DetailedLabel): TimePlan {
  const { startMs, seamsMs, stalls, details } = page
  const { bucketMs } = series
  const atMs = series.atMs.map((at) => at + (details?.offsetMs ?? 0))
  const axis = { bucketMs, atMs }
  const charts = [
    responseChart(
      [
        plainLine('p50', 'p50', series.p50Ms),
        plainLine('p95', 'p95', series.p95Ms),
        plainLine('p99', 'p99', series.p99Ms)
      ],
      limits
    ),
    throughputChart(plainLine('Throughput', 'throughput', series.throughput)),
    failuresChart(plainLine('Failures', 'failures', series.failures), bucketMs),
    ...detailCharts(series)
  ]
  return { startMs, seamsMs, stalls, warmUp: null, series: axis, charts: charts.filter(hasValues) }
}

/** What the CSVs do not contain gets no empty chart. */
function hasValues({ lines }: ChartPlan): boolean {
  return lines.some(({ said }) => said.some((value) => value !== null))
}

function responseChart(lines: readonly Line[], limits: readonly Limit[]): ChartPlan {
  return { title: 'Response time', unit: 'ms', write: formatMs, height: 220, shape: 'line', limits, lines }
}

function throughputChart(line: Line): ChartPlan {
  return {
    ...{ title: 'Throughput', unit: '/s', write: formatRate, height: 150, shape: 'area', limits: [] },
    lines: [line]
  }
}

function failuresChart(line: Line, bucketMs: number): ChartPlan {
  const unit = bucketMs === 1000 ? 'per second' : `per ${formatNumber(bucketMs / 1000)} s`
  return {
    ...{ title: 'Failures', unit, write: formatNumber, height: 110, shape: 'bars', limits: [] },
    lines: [line]
  }
}

type DetailList = 'connectMs' | 'ttfbMs' | 'downloadMs' | 'receivedPerSecond' | 'sentPerSecond'
type Detailed = Pick<DetailSeries, 'bucketMs'> &
  Partial<Record<DetailList, Values | undefined>> & {
    readonly codes: readonly { readonly code: string; readonly counts: Values }[]
  }

function detailCharts(detailed: Detailed): ChartPlan[] {
  const { bucketMs, codes, connectMs = [], ttfbMs = [], downloadMs = [] } = detailed
  const { receivedPerSecond = [], sentPerSecond = [] } = detailed
  const colours = new CodeColours()
  return [
    {
      ...{ title: 'Response codes', unit: '/s', write: formatRate, height: 150, shape: 'stack', limits: [] },
      lines: codes.map(({ code, counts }) => {
        const rates = counts.map((count) => (count === null ? null : count / (bucketMs / 1000)))
        return plainLine(code || 'no code', colours.next(code), rates)
      })
    },
    {
      ...{ title: 'Where the time goes', unit: 'ms, mean', write: formatMs, height: 150 },
      ...{ shape: 'stack', limits: [] },
      lines: [
        plainLine('Connect', 'connect', connectMs),
        plainLine('Time to first byte', 'ttfb', ttfbMs),
        plainLine('Download', 'download', downloadMs)
      ]
    },
    {
      ...{ title: 'Data', unit: BYTES, write: formatByteRate, height: 130, shape: 'line', limits: [] },
      lines: [
        plainLine('Received', 'received', receivedPerSecond),
        plainLine('Sent', 'sent', sentPerSecond)
      ].filter(({ said }) => said.length > 0)
    }
  ]
}

function formatByteRate(value: number | null): string {
  return value === null ? formatNumber(null) : `${formatBytes(value)}/s`
}

class CodeColours {
  readonly #used = new Map<string, number>()

  next(code: string): ColourName {
    if (code === 'other') return 'code-other'
    const kind = /^[1-5]\d\d$/.test(code) ? code.charAt(0) : 'none'
    const shades = CODE_SHADES[kind] ?? []
    const used = this.#used.get(kind) ?? 0
    this.#used.set(kind, used + 1)
    return shades[used % shades.length] ?? 'code-other'
  }
}

/** On the page's axis, where a bucket may be as wide as several of theirs: rates are over all of it, times are means of its samples. */
function placeDetails(details: DetailSeries, offsetMs: number, { atMs, bucketMs }: Series): Detailed {
  const width = Math.max(1, bucketMs / details.bucketMs)
  const buckets = atMs.map((at) => {
    const first = Math.floor((at - offsetMs) / details.bucketMs)
    return Array.from({ length: width }, (_, i) => first + i).filter((i) => i in details.atMs)
  })
  const { throughput, codes, connectMs, ttfbMs, downloadMs, receivedPerSecond, sentPerSecond } = details
  const add = (values: Values, weigh: (i: number) => number = () => 1) =>
    buckets.map((within) => within.reduce((sum, i) => sum + (values[i] ?? 0) * weigh(i), 0))
  const rate = (values: Values): Values =>
    add(values).map((sum, i) => (buckets[i]?.length === 0 ? null : sum / width))
  const samples = add(throughput)
  const mean = (values: Values): Values =>
    add(values, (i) => throughput[i] ?? 0).map((sum, i) =>
      samples[i] === 0 ? null : roundTo(sum / (samples[i] ?? 1), 2)
    )
  return {
    bucketMs: details.bucketMs,
    codes: codes.map(({ code, counts }) => ({ code, counts: rate(counts) })),
    connectMs: connectMs && mean(connectMs),
    ttfbMs: ttfbMs && mean(ttfbMs),
    downloadMs: downloadMs && mean(downloadMs),
    receivedPerSecond: receivedPerSecond && rate(receivedPerSecond),
    sentPerSecond: sentPerSecond && rate(sentPerSecond)
  }
}

function plainLine(name: string, colour: ColourName, values: Values): Line {
  return { name, colour, values, grey: undefined, said: values }
}

function planLine(
  times: Pick<TimePlan, 'series' | 'warmUp'>,
  line: { whole: Values; counted: Values | undefined; colour: ColourName; name: string }
): Line {
  const { whole, counted, colour, name } = line
  if (counted === undefined) return plainLine(name, colour, whole)
  const said = whole.map((value, i) => (isInWarmUp(times, i) ? value : (counted[i] ?? null)))
  return { name, colour, values: counted, grey: greyPart(whole, counted), said }
}
