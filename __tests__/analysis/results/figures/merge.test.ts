import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { mergeRuns, mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import {
  JMETER_COLUMNS,
  makeSampleCsv,
  measure,
  scanText,
  type CsvStyle
} from '../../../support/data/sample-csv.js'
import { naiveFigures, readSamples, type NaiveSample } from '../../../support/data/naive-results.js'
import type { Figures, Measurements, Scope } from '../../../../src/analysis/results/figures/measurements.js'

const PERCENTS = [0.1, 1, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100]
const TARGETS = [0, 10, 100, 500, 1500, 15_100]

function expectFigures(actual: Figures | undefined, samples: readonly NaiveSample[]): void {
  const naive = naiveFigures(samples)
  expect(actual).toMatchObject({
    samples: naive.samples,
    failures: naive.failures,
    meanMs: expect.closeTo(naive.meanMs, 9),
    minMs: naive.minMs,
    maxMs: naive.maxMs
  })
  expect(PERCENTS.map((percent) => actual?.percentileMs(percent))).toEqual(
    PERCENTS.map((percent) => naive.percentileMs(percent))
  )
  expect(TARGETS.map((target) => actual?.apdex(target))).toEqual(
    TARGETS.map((t) => expect.closeTo(naive.apdex(t), 12))
  )
  expect(actual?.errorRate).toBeCloseTo(naive.failures / naive.samples, 12)
}

/** Overall and every label, against the list of samples. */
function expectAll(measured: Measurements, samples: readonly NaiveSample[], scope: Scope = {}): void {
  expectFigures(
    measured.figures(scope),
    samples.filter(({ isTransaction }) => !isTransaction)
  )
  const labels = [...new Set(samples.map(({ label }) => label))]
  for (const label of labels) {
    expectFigures(
      measured.figures({ ...scope, label }),
      samples.filter((sample) => sample.label === label)
    )
  }
}

describe('sample CSVs against a naive reading', () => {
  const styles: [string, Partial<CsvStyle>][] = [
    ['as JMeter writes it', {}],
    ['CRLF', { lineBreak: '\r\n' }],
    ['a byte-order mark', { bom: true }],
    ['semicolons', { delimiter: ';' }],
    ['tabs', { delimiter: '\t' }],
    ['no final line break', { finalLineBreak: false }],
    ['CRLF, no final line break, a byte-order mark', { lineBreak: '\r\n', finalLineBreak: false, bom: true }],
    ['success in capitals', { success: (isSuccess) => String(isSuccess).toUpperCase() }],
    ['success as Python writes it', { success: (isSuccess) => (isSuccess ? 'True' : 'False') }],
    ['columns in reverse order', { columns: JMETER_COLUMNS.toReversed() }],
    [
      'label last',
      { columns: ['responseMessage', 'threadName', 'success', 'elapsed', 'timeStamp', 'label'] }
    ],
    [
      'a subset of the columns',
      { columns: ['elapsed', 'success', 'label', 'timeStamp', 'responseMessage', 'threadName'] }
    ],
    ['columns of its own', { columns: ['mine', ...JMETER_COLUMNS, 'SampleCountOfMine', 'Hostname'] }]
  ]

  test.each(styles)('%s', (_, style) => {
    const text = makeSampleCsv(7, 1500, style)
    const samples = readSamples(text, style.delimiter)
    const measured = measure(text)
    expect(measured.sources).toMatchObject([{ shape: 'samples', rows: 1500, problems: [] }])
    expect(measured.labels).toEqual([...new Set(samples.map(({ label }) => label))].sort())
    expectAll(measured, samples)
    const ends = samples.map(({ startMs, elapsedMs }) => startMs + elapsedMs)
    expect(measured.startMs).toBe(Math.min(...samples.map(({ startMs }) => startMs)))
    expect(measured.endMs).toBe(Math.max(...ends))
  })

  test('several grids are one population, and each one its own', () => {
    const texts = [1, 2, 3].map((seed) => makeSampleCsv(seed, 700))
    const measured = mergeScans([
      scanText(texts[0]!, Infinity, 'a', 'east'),
      scanText(texts[1]!, Infinity, 'b', 'east'),
      scanText(texts[2]!, Infinity, 'c', 'west')
    ])
    const samples = texts.map((text) => readSamples(text))
    expectAll(measured, samples.flat())
    expectAll(measured, [...samples[0]!, ...samples[1]!], { region: 'east' })
    expectAll(measured, samples[1]!, { grid: 'b' })
    expectAll(measured, samples[2]!, { grid: 'c', region: 'west' })
    expect(measured.figures({ grid: 'a', region: 'west' })).toBeUndefined()
    expect(measured.figures({ label: 'no such label' })).toBeUndefined()
    expect([measured.grids, measured.regions]).toEqual([
      ['a', 'b', 'c'],
      ['east', 'west']
    ])
  })

  test('throughput is over the span of the whole run in every scope', () => {
    const measured = measure(
      'timeStamp,elapsed,label,success\n1000,500,a,true\n2000,100,b,true\n2900,100,b,true\n',
      'timeStamp,elapsed,label,success\n4000,1000,a,true\n'
    )
    expect(measured.figures({})?.throughput).toBe(1)
    expect(measured.figures({ label: 'b' })?.throughput).toBe(0.5)
    expect(measured.figures({ grid: 'grid-2' })?.throughput).toBe(0.25)
  })

  test('above 65 s a percentile is within 0.1 %, minimum and maximum stay exact', () => {
    const times = Array.from({ length: 999 }, (_, i) => 70_001 + i * 7919)
    const rows = times.map((ms) => `1000,${ms},a,true`)
    const figures = measure(['timeStamp,elapsed,label,success', ...rows].join('\n')).figures({})
    expect([figures?.minMs, figures?.maxMs]).toEqual([70_001, times.at(-1)])
    const errors = [10, 50, 95, 99].map((percent) => {
      const exact = times[Math.ceil((percent * 999) / 100) - 1]!
      return Math.abs(figures!.percentileMs(percent)! - exact) / exact
    })
    expect(Math.max(...errors)).toBeLessThan(0.001)
  })

  test('what a CSV does not contain is undefined', () => {
    const untimed = measure('elapsed,success\n5,true\n7,false\n')
    expect(untimed.figures({})).toMatchObject({ samples: 2, failures: 1, meanMs: 6, throughput: undefined })
    expect([untimed.startMs, untimed.series, untimed.labels]).toEqual([undefined, undefined, []])
    const unmeasured = measure('timeStamp,label,success\n1000,a,true\n3000,a,false\n').figures({ label: 'a' })
    expect(unmeasured).toMatchObject({
      samples: 2,
      failures: 1,
      throughput: 1,
      meanMs: undefined,
      maxMs: undefined
    })
    expect([unmeasured?.percentileMs(50), unmeasured?.apdex(500)]).toEqual([undefined, undefined])
    const half = measure(
      'elapsed,label,success\n1,a,true\n',
      'timeStamp,elapsed,label,success\n1000,1000,a,true\n'
    )
    expect(half.figures({})?.throughput).toBeUndefined()
  })

  test('ten thousand labels', () => {
    const rows = Array.from(
      { length: 30_000 },
      (_, i) => `${1000 + i},${i % 777},label ${i % 10_000},${i % 3 > 0}`
    )
    const text = ['timeStamp,elapsed,label,success', ...rows].join('\n')
    const measured = measure(text)
    expect(measured.labels).toHaveLength(10_000)
    const samples = readSamples(text)
    expectFigures(measured.figures({}), samples)
    const some = ['label 0', 'label 17', 'label 9999']
    for (const label of some) {
      expectFigures(
        measured.figures({ label }),
        samples.filter((sample) => sample.label === label)
      )
    }
  })
})

describe('rows of transaction controllers', () => {
  const transaction = (label: string, inside: number) =>
    `1000,90,${label},200,"Number of samples in transaction : ${inside}, number of failing samples : 0",true`
  const header = 'timeStamp,elapsed,label,responseCode,responseMessage,success'

  test('have their own figures and are not part of the overall ones', () => {
    const measured = measure(
      [header, '1000,40,a,200,OK,true', '1050,50,b,200,OK,true', transaction('tx', 2)].join('\n')
    )
    expect(measured.figures({})).toMatchObject({ samples: 2, maxMs: 50 })
    expect(measured.figures({ label: 'tx' })).toMatchObject({ samples: 1, maxMs: 90 })
    expect(measured.labels).toEqual(['a', 'b', 'tx'])
  })

  test('are the overall figures where no request was saved', () => {
    const measured = measure([header, transaction('tx', 2), transaction('ty', 1)].join('\n'))
    expect(measured.figures({})).toMatchObject({ samples: 2, maxMs: 90 })
    expect(measured.series?.throughput).toEqual([2])
  })

  test('are nothing when the transaction was empty', () => {
    const measured = measure([header, '1000,40,a,200,OK,true', transaction('none', 0)].join('\n'))
    expect(measured.labels).toEqual(['a'])
    expect(measured.figures({ label: 'none' })).toBeUndefined()
  })
})

describe('a CSV that JMeter wrote, against its own dashboard', () => {
  const read = (name: string) =>
    readFileSync(new URL(`../../../fixtures/jmeter/${name}`, import.meta.url), 'utf8')
  const statistics = JSON.parse(read('statistics.json')) as Record<
    string,
    { sampleCount: number; errorCount: number; meanResTime: number; minResTime: number; maxResTime: number }
  >
  const measured = measure(read('samples.csv'))
  // JMeter lists an empty transaction with no samples; here it is not a label.
  const rows = Object.entries(statistics).filter(([, row]) => row.sampleCount > 0)

  test.each(rows)('%s', (label, row) => {
    expect(measured.figures(label === 'Total' ? {} : { label })).toMatchObject({
      samples: row.sampleCount,
      failures: row.errorCount,
      meanMs: expect.closeTo(row.meanResTime, 9),
      minMs: row.minResTime,
      maxMs: row.maxResTime
    })
  })

  test('has no label that JMeter does not know, and no problem', () => {
    const known = rows.map(([label]) => label).filter((label) => label !== 'Total')
    expect(measured.labels).toEqual(known.sort())
    expect(known).toEqual(
      expect.arrayContaining(['login, first', 'pay "now"', 'checkout', 'search (parent only)'])
    )
    expect(measured.sources).toMatchObject([{ shape: 'samples', problems: [] }])
  })
})

describe('tidy CSVs', () => {
  const older = 'Time,Measurement,Label,Account,Run,Project,Grid,Region,Value'
  const newer =
    'Time,Elapsed Time,Account UUID,Project UUID,Project,Stream UUID,Stream,Run UUID,Run,Region,Measurement,Label,Value'
  const old = (time: number, measurement: string, label: string, value: number | string) =>
    `${time},${measurement},${label},1,2556,16,1095,us-west-2,${value}`
  const recent = (time: string, measurement: string, label: string, value: number) =>
    `${time},15,LV,1R,Shop,1V,Nightly,oI,Nightly 2,us-east-1,${measurement},"${label}",${value}`

  test('older: weighted mean, counts, span with the last bucket', () => {
    const text = [
      older,
      ...[
        old(15_000, 'passed', 'a', 90),
        old(15_000, 'failed', 'a', 10),
        old(15_000, 'response_time', 'a', 200)
      ],
      ...[
        old(30_000, 'response_time', 'a', 500),
        old(30_000, 'passed', 'a', 50),
        old(30_000, 'failed', 'a', 0)
      ],
      ...[
        old(15_000, 'passed', 'b', 30),
        old(15_000, 'failed', 'b', 0),
        old(15_000, 'response_time', 'b', 40)
      ],
      ...[old(15_000, 'throughput', 'a', 9999), old(30_000, 'latency', 'a', 1)]
    ].join('\n')
    const measured = measure(text)
    expect(measured.sources).toMatchObject([{ shape: 'tidy', rows: 11, problems: [] }])
    expect(measured.figures({ label: 'a' })).toMatchObject({
      ...{ samples: 150, failures: 10, errorRate: 10 / 150, throughput: 5, meanMs: 300 },
      ...{ minMs: undefined, maxMs: undefined, concurrency: undefined }
    })
    const overall = measured.figures({})
    expect(overall).toMatchObject({ samples: 180, failures: 10, throughput: 6 })
    expect(overall?.meanMs).toBeCloseTo((100 * 200 + 50 * 500 + 30 * 40) / 180, 9)
    expect([overall?.percentileMs(95), overall?.apdex(500)]).toEqual([undefined, undefined])
  })

  test.each([
    ['__all', '__all'],
    ['the empty label', '']
  ])('rows for everything (%s) are not added to those of the labels', (_, all) => {
    const rows = [
      recent('2020-01-03 13:41:00', 'passed', all, 100),
      recent('2020-01-03 13:41:00', 'failed', all, 20),
      recent('2020-01-03 13:41:00', 'response_time', all, 80),
      recent('2020-01-03 13:41:00', 'concurrent_users', all, 7),
      recent('2020-01-03 13:41:00', 'passed', 'a', 100),
      recent('2020-01-03 13:41:00', 'failed', 'a', 20),
      recent('2020-01-03 13:41:00', 'response_time', 'a', 80),
      recent('2020-01-03 13:41:15', 'passed', all, 30),
      recent('2020-01-03 13:41:15', 'failed', all, 0),
      recent('2020-01-03 13:41:15', 'response_time', all, 60),
      recent('2020-01-03 13:41:15', 'concurrent_users', all, 9)
    ]
    const measured = measure([newer, ...rows, ''].join('\r\n'))
    expect(measured.labels).toEqual(['a'])
    expect(measured.startMs).toBe(Date.UTC(2020, 0, 3, 13, 41))
    expect(measured.endMs).toBe(Date.UTC(2020, 0, 3, 13, 41, 30))
    expect(measured.figures({})).toMatchObject({
      samples: 150,
      failures: 20,
      throughput: 5,
      concurrency: 8,
      meanMs: 76
    })
    expect(measured.series).toMatchObject({
      bucketMs: 15_000,
      atMs: [0, 15_000],
      throughput: [8, 2],
      failures: [20, 0],
      p95Ms: [null, null],
      activeThreads: [7, 9]
    })
  })

  test('users of several grids add up', () => {
    const text = [older, old(15_000, 'passed', '__all', 1), old(15_000, 'failed', '__all', 0)]
    const measured = measure(
      [...text, old(15_000, 'concurrency', '__all', 5)].join('\n'),
      [...text, old(15_000, 'concurrency', '__all', 6)].join('\n')
    )
    expect(measured.figures({})?.concurrency).toBe(11)
    expect(measured.figures({ grid: 'grid-2' })?.concurrency).toBe(6)
  })

  test('a bucket with samples and no response time leaves no mean', () => {
    const text = [older, old(15_000, 'passed', 'a', 3), old(15_000, 'failed', 'a', 0)].join('\n')
    expect(measure(text).figures({})).toMatchObject({ samples: 3, meanMs: undefined })
  })

  test.each([
    [
      'a value that is none',
      old(15_000, 'passed', 'a', 'many'),
      'row 3: Value is "many", not a number of 0 or more'
    ],
    ['a negative value', old(15_000, 'passed', 'a', -1), 'row 3: Value is "-1", not a number of 0 or more'],
    [
      'half a sample',
      old(15_000, 'passed', 'a', 0.5),
      'row 3: Value is "0.5", not a whole number of samples'
    ],
    [
      'the same row again',
      old(0, 'failed', 'b', 0),
      'row 3: it repeats another row with the same time and label'
    ],
    [
      'no time',
      'soon,passed,a,1,2556,16,1095,us-west-2,1',
      'row 3: Time is "soon", not epoch ms or a date, year first'
    ],
    ['a row cut short', '15000,passed,a', 'row 3: the file ends in the middle of it: it has 3 of 9 columns']
  ])('%s is a problem', (_, row, problem) => {
    const text = [older, old(0, 'passed', 'b', 1), old(0, 'failed', 'b', 0), row].join('\n')
    expect(measure(text).sources[0]?.problems).toEqual([problem])
  })

  test.each(['', 'NaN', '-1', 'n/a'])('a value %j is one only of a measurement that is needed', (value) => {
    const text = (measurement: string) =>
      [
        ...[older, old(0, 'passed', 'b', 1), old(0, 'failed', 'b', 0)],
        old(15_000, measurement, 'b', value)
      ].join('\n')
    expect(measure(text('latency')).sources[0]?.problems).toEqual([])
    expect(measure(text('latency')).figures({})).toMatchObject({ samples: 1, throughput: 1 / 15 })
    for (const needed of ['passed', 'failed', 'response_time', 'concurrency', 'concurrent_users'])
      expect(measure(text(needed)).sources[0]?.problems).toEqual([
        `row 3: Value is ${JSON.stringify(value)}, not a number of 0 or more`
      ])
  })

  test.each(['passed', 'failed'])('without any %s row samples cannot be counted', (missing) => {
    const text = [
      older,
      ...['passed', 'failed'].filter((m) => m !== missing).map((m) => old(0, m, 'b', 1))
    ].join('\n')
    expect(measure(text).sources[0]?.problems).toEqual([`it has no rows of the measurement ${missing}`])
  })
})

describe('the time series', () => {
  const header = 'timeStamp,elapsed,label,success,allThreads'

  test("counts a sample where it ended, and adds the grids' threads", () => {
    const measured = measure(
      [header, '10000,100,a,true,3', '10200,900,a,false,5', '12000,0,a,true,4'].join('\n'),
      [header, '10500,10,a,true,2'].join('\n')
    )
    expect(measured.series).toEqual({
      bucketMs: 1000,
      atMs: [0, 1000, 2000],
      throughput: [2, 1, 1],
      failures: [0, 1, 0],
      p50Ms: [10, 900, 0],
      p95Ms: [100, 900, 0],
      p99Ms: [100, 900, 0],
      activeThreads: [5, 5, 4]
    })
  })

  test.each([
    ['ten minutes', 600, 1000],
    ['an hour', 3600, 8000],
    ['a week', 7 * 86_400, 1_024_000]
  ])('%s fits in some hundred points', (_, seconds, bucketMs) => {
    const rows = Array.from(
      { length: 5000 },
      (_row, i) => `${1_700_000_000_000 + (i * seconds) / 5},${i % 50},a,true,1`
    )
    const { series } = measure([header, ...rows].join('\n'))
    expect(series?.bucketMs).toBe(bucketMs)
    expect(series?.atMs.length).toBeLessThanOrEqual(601)
    const samples = series?.throughput.reduce((sum, rate) => sum + (rate * bucketMs) / 1000, 0)
    expect(samples).toBeCloseTo(5000, 6)
  })

  test('does not depend on the order of the rows', () => {
    const rows = Array.from(
      { length: 3000 },
      (_, i) => `${1_700_000_000_000 + i * 977},${i % 50},a,true,${i % 7}`
    )
    const forward = measure([header, ...rows].join('\n')).series
    expect(measure([header, ...rows.toReversed()].join('\n')).series).toEqual(forward)
  })
})

describe('several runs, one after the other', () => {
  const HEADER = 'timeStamp,elapsed,label,success,allThreads'
  /** One sample per second. */
  const csv = (startMs: number, rows: number): string =>
    [HEADER, ...Array.from({ length: rows }, (_, row) => `${startMs + row * 1000},500,home,true,3`)].join(
      '\n'
    )
  const START = 1_760_000_000_000
  const runs = [csv(START, 10), csv(START + 600_250, 20), csv(START + 60_000, 5)].map((text) => [
    scanText(text, Infinity, 'a', 'east')
  ])

  test('throughput is over the time in which they ran, in every scope', () => {
    const measured = mergeRuns(runs)
    const seconds = 9.5 + 19.5 + 4.5
    expect(measured.figures({})).toMatchObject({ samples: 35, throughput: 35 / seconds })
    expect(measured.figures({ label: 'home' })?.throughput).toBe(35 / seconds)
    expect(measured.figures({ region: 'east' })?.throughput).toBe(35 / seconds)
  })

  test('the series has them end to end, in the order given, and threads of one grid do not add up', () => {
    const series = mergeRuns(runs).series
    expect(series?.throughput.reduce((sum, each) => sum + each, 0)).toBe(35)
    expect(series?.throughput).toHaveLength(35)
    expect(new Set(series?.throughput)).toEqual(new Set([1]))
    expect(new Set(series?.activeThreads)).toEqual(new Set([3]))
  })

  test('a long one makes wide buckets for all', () => {
    const long = [scanText(csv(START + 10_000_500, 1500), Infinity, 'a', 'east')]
    const series = mergeRuns([...runs, long]).series
    expect(series?.activeThreads.filter((threads) => threads !== null && threads !== 3)).toEqual([])
    const { bucketMs = 0, throughput = [] } = series ?? {}
    expect(throughput.reduce((sum, each) => sum + (each * bucketMs) / 1000, 0)).toBe(1535)
  })

  test('one run is what it was', () => {
    const [first = []] = runs
    expect(mergeRuns([first]).series).toEqual(mergeScans(first).series)
    expect(mergeRuns([first]).figures({})?.throughput).toBe(10 / 9.5)
  })

  test('without the times of one of them there is no throughput', () => {
    const untimed = scanText('elapsed,label,success\n5,home,true', Infinity, 'a', 'east')
    expect(mergeRuns([...runs, [untimed]]).figures({})?.throughput).toBeUndefined()
    expect(mergeRuns([...runs, [untimed]]).series).toBeUndefined()
  })
})
