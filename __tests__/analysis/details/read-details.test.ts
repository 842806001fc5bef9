import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DetailSeries } from '../../../src/contract/verdict.js'
import { translateFile } from '../../../src/gate/results/translate-file.js'
import { compileWorker } from '../../support/data/compile-worker.js'
import { detailsOf, readTwice } from '../../support/data/details-of.js'
import { parseCsv } from '../../support/data/naive-results.js'
import { makePlanCsv } from '../../support/data/plan-csv.js'
import { JMETER_COLUMNS, measure, quoteField } from '../../support/data/sample-csv.js'
import { makeRandom } from '../../support/data/seeded-random.js'

const START_MS = 1_700_000_000_000
const HEADER = `${JMETER_COLUMNS.join(',')}\n`
const REASONS = ['', 'expected a, "b"\nor c', 'Test failed']

interface Row {
  readonly startMs: number
  readonly elapsedMs: number
  readonly label: string
  readonly code: string
  readonly isFailure: boolean
  readonly message: string
  readonly bytes: number
  readonly sent: number
  readonly latencyMs: number
  readonly connectMs: number
}

/** The rows of a made-up run over a few seconds, written as they ended. */
function makeRows(seed: number, count: number, options: { fromMs?: number; spreadMs?: number } = {}): Row[] {
  const { fromMs = START_MS, spreadMs = 37 } = options
  const random = makeRandom(seed)
  const upTo = (most: number) => Math.floor(random() * most)
  const rows = Array.from({ length: count }, (_, i): Row => {
    const elapsedMs = 2 + upTo(900)
    const latencyMs = 1 + upTo(elapsedMs - 1)
    const isFailure = random() < 0.2
    return {
      startMs: fromMs + i * spreadMs,
      elapsedMs,
      label: ['home', 'login, first', 'pay "now"', 'Käse'][upTo(4)]!,
      code: isFailure ? ['500', '503', ''][upTo(3)]! : ['200', '204'][upTo(2)]!,
      isFailure,
      message: isFailure ? REASONS[upTo(3)]! : '',
      ...{ bytes: 1 + upTo(5000), sent: 1 + upTo(300), latencyMs, connectMs: upTo(latencyMs) }
    }
  })
  return rows.sort((one, other) => one.startMs + one.elapsedMs - other.startMs - other.elapsedMs)
}

function write(rows: readonly Row[], { delimiter = ',', lineBreak = '\n' } = {}): string {
  const lines = rows.map((row) => {
    const values = [
      ...[row.startMs, row.elapsedMs, row.label, row.code, row.isFailure ? 'Server Error' : 'OK'],
      ...['users, all 1-1', 'text', !row.isFailure, row.message, row.bytes, row.sent, 1, 1],
      ...['http://me:pw@shop.example/a?token=s3cret', row.latencyMs, 0, row.connectMs]
    ]
    return values.map((value) => quoteField(String(value), delimiter)).join(delimiter)
  })
  return [JMETER_COLUMNS.join(delimiter), ...lines].join(lineBreak) + lineBreak
}

function originOf(rows: readonly Row[]): number {
  return Math.floor(Math.min(...rows.map(({ startMs }) => startMs)) / 1000) * 1000
}

/** As a textbook would: bucket by bucket, from all rows. */
function naiveSeries(rows: readonly Row[], axis: DetailSeries, originMs = originOf(rows)) {
  const inBucket = (atMs: number) =>
    rows.filter(({ startMs, elapsedMs }) => {
      const afterMs = startMs + elapsedMs - originMs - atMs
      return afterMs >= 0 && afterMs < axis.bucketMs
    })
  const buckets = axis.atMs.map(inBucket)
  const mean = (valueOf: (row: Row) => number) =>
    buckets.map((own) =>
      own.length === 0
        ? null
        : expect.closeTo(own.reduce((sum, row) => sum + valueOf(row), 0) / own.length, 1)
    )
  const perSecond = (valueOf: (row: Row) => number) =>
    buckets.map((own) =>
      expect.closeTo((own.reduce((sum, row) => sum + valueOf(row), 0) * 1000) / axis.bucketMs, -1)
    )
  const countsOf = (code: string) => buckets.map((own) => own.filter((row) => row.code === code).length)
  return {
    throughput: buckets.map((own) => expect.closeTo((own.length * 1000) / axis.bucketMs, 2)),
    failures: buckets.map((own) => own.filter(({ isFailure }) => isFailure).length),
    codes: expect.arrayContaining(
      [...new Set(rows.map(({ code }) => code))].map((code) => ({ code, counts: countsOf(code) }))
    ),
    connectMs: mean(({ connectMs }) => connectMs),
    ttfbMs: mean(({ latencyMs, connectMs }) => latencyMs - connectMs),
    downloadMs: mean(({ elapsedMs, latencyMs }) => elapsedMs - latencyMs),
    receivedPerSecond: perSecond(({ bytes }) => bytes),
    sentPerSecond: perSecond(({ sent }) => sent)
  }
}

function countCodes({ codes }: DetailSeries): number {
  return codes.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)
}

describe('a second reading', () => {
  test.each([
    ['plain', {}],
    ['semicolons and CRLF', { delimiter: ';', lineBreak: '\r\n' }]
  ])('finds what a textbook finds: %s', async (_, style) => {
    const rows = makeRows(1, 400)
    const { details, measurements } = await detailsOf([[write(rows, style)]])
    expect(details.overall).toMatchObject(naiveSeries(rows, details.overall))
    const { bucketMs, atMs, p50Ms, p95Ms, p99Ms, failures } = measurements.series!
    expect(details.overall).toMatchObject({ bucketMs, atMs, p50Ms, p95Ms, p99Ms, failures })
    expect(details.overall.throughput).toEqual(measurements.series?.throughput)
    expect(details.labels).toHaveLength(4)
    for (const { label, series } of details.labels) {
      const own = rows.filter((row) => row.label === label)
      expect(series).toMatchObject(naiveSeries(own, series, originOf(rows)))
      expect(countCodes(series)).toBe(own.length)
      // As of a file with this label alone, which begins a bucket later or more.
      const alone = measure(write(own)).series!
      const skipped = (originOf(own) - originOf(rows)) / 1000
      for (const name of ['throughput', 'failures', 'p50Ms', 'p95Ms', 'p99Ms'] as const)
        expect(series[name].slice(skipped, skipped + alone.atMs.length)).toEqual(alone[name])
    }
  })

  test('adds up to the samples, whatever the transactions are', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const { text } = makePlanCsv(seed, { hasSubResults: seed % 2 === 0, nodes: 1 })
      const { details, measurements } = await detailsOf([[text]])
      expect(countCodes(details.overall)).toBe(measurements.figures({})?.samples)
      expect(details.overall.failures).toEqual(measurements.series?.failures)
      for (const { label, series } of details.labels)
        expect([label, countCodes(series)]).toEqual([label, measurements.figures({ label })?.samples])
    }
  })

  test.each(['transactions-with-subresults', 'transactions-without-subresults', 'samples'])(
    'of what JMeter itself wrote: %s',
    async (name) => {
      const text = readFileSync(`__tests__/fixtures/jmeter/${name}.csv`, 'utf8')
      const { details, measurements } = await detailsOf([[text]])
      expect(countCodes(details.overall)).toBe(measurements.figures({})?.samples)
      expect(details.labels.map(({ series }) => countCodes(series))).toEqual(
        details.labels.map(({ label }) => measurements.figures({ label })?.samples)
      )
      const { connectMs, ttfbMs, downloadMs } = details.overall
      expect([connectMs, ttfbMs, downloadMs].map((list) => list?.length)).toEqual(
        Array(3).fill(details.overall.atMs.length)
      )
    }
  )

  test('leaves out a warm-up, like the figures', async () => {
    const rows = makeRows(2, 400)
    const counted = rows.filter(({ startMs }) => startMs >= START_MS + 5000)
    const { details, measurements } = await detailsOf([[write(rows)]], { warmUpMs: 5000 })
    expect(details.overall).toMatchObject(naiveSeries(counted, details.overall))
    expect(details.overall.atMs).toEqual(measurements.series?.atMs)
    expect(Math.min(...details.failures.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(START_MS + 5000)
  })

  test('leaves out rows outside of the run, like the figures', async () => {
    const rows = makeRows(2, 400)
    const [early] = makeRows(3, 1, { fromMs: START_MS - 7_200_000 })
    const times = { startedMs: START_MS, stoppedMs: START_MS + 16_000 }
    const { details, measurements } = await detailsOf([[write([early!, ...rows])]], { times })
    expect(measurements.figures({})?.samples).toBe(400)
    expect(details.overall).toMatchObject(naiveSeries(rows, details.overall))
  })

  test('adds up grids, and lays runs end to end as the series does', async () => {
    const [one, other] = [makeRows(3, 200), makeRows(4, 300)]
    const both = await detailsOf([[write(one), write(other)]])
    expect(both.details.overall).toMatchObject(naiveSeries([...one, ...other], both.details.overall))
    const later = makeRows(5, 900, { fromMs: START_MS + 3_600_123, spreadMs: 900 })
    const runs = await detailsOf([[write(one)], [write(later)]])
    const { series } = runs.measurements
    const { overall } = runs.details
    expect(overall).toMatchObject({ bucketMs: series?.bucketMs, atMs: series?.atMs })
    expect({ ...overall, throughput: overall.throughput }).toMatchObject({
      ...{ p50Ms: series?.p50Ms, p95Ms: series?.p95Ms, failures: series?.failures },
      throughput: series?.throughput.map((rate) => expect.closeTo(rate, 2))
    })
    expect(countCodes(overall)).toBe(1100)
  })

  test('gives labels at most 120 buckets', async () => {
    const rows = makeRows(6, 2000, { spreadMs: 433 })
    const { details } = await detailsOf([[write(rows)]])
    expect(details.overall.atMs.length).toBeGreaterThan(400)
    for (const { label, series } of details.labels) {
      const own = rows.filter((row) => row.label === label)
      expect(series.atMs.length).toBeLessThanOrEqual(120)
      expect(series).toMatchObject(naiveSeries(own, series, originOf(rows)))
      expect(countCodes(series)).toBe(own.length)
    }
  })
})

test('however many labels, codes and errors: details stay small', async () => {
  const rows = makeRows(13, 20_000, { spreadMs: 30 }).map((row, i) => ({
    ...row,
    label: `label ${i % 300}`,
    code: String(400 + (i % 30)),
    isFailure: true,
    message: `${'long '.repeat(100)}${i % 50}`
  }))
  const { details } = await detailsOf([[write(rows)]])
  expect(details.overall.atMs.length).toBeGreaterThan(590)
  expect(details.labels).toHaveLength(20)
  expect(JSON.stringify(details).length).toBeLessThan(250_000)
})

describe('threads', () => {
  let folder: string
  let workerUrl: URL
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'loadgate-details-worker-'))
    workerUrl = compileWorker(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('find the same in stretches', async () => {
    const text = write(makeRows(7, 3000))
    const whole = await detailsOf([[text]], { threads: 1 })
    const divided = await detailsOf([[text]], { threads: 3, workerUrl })
    expect(divided.details).toEqual(whole.details)
    expect(whole.details.failures.length).toBeGreaterThan(10)
  })
})

describe('codes', () => {
  test('have quotes as they were before they were written to a CSV', async () => {
    const row = (i: number) =>
      `${START_MS + i * 100},5,a,"code ""X""","message ""Y""",t,text,false,,0,0,1,1,,0,0,0\n`
    const { details, measurements } = await detailsOf([[HEADER + [0, 1, 2].map(row).join('')]])
    expect(measurements.errors({})).toMatchObject([{ code: 'code "X"', message: 'message "Y"', count: 3 }])
    expect(details.overall.codes).toMatchObject([{ code: 'code "X"' }])
    expect(details.failures).toHaveLength(3)
  })

  test('are at most eight and the others together', async () => {
    const rows = makeRows(8, 600).map((row, i) => ({ ...row, code: `4${String(i % 40).padStart(2, '0')}` }))
    const { details } = await detailsOf([[write(rows)]])
    expect(details.overall.codes.map(({ code }) => code)).toEqual([
      ...Array.from({ length: 8 }, (_, i) => `40${i}`),
      'other'
    ])
    expect(countCodes(details.overall)).toBe(600)
  })

  test('are not told apart without end', async () => {
    const rows = makeRows(9, 600).map((row, i) => ({ ...row, code: `code ${i}` }))
    const { details } = await detailsOf([[write(rows)]])
    expect(details.overall.codes).toHaveLength(9)
    expect(countCodes(details.overall)).toBe(600)
  })

  test('are none where there is no column', async () => {
    const { details } = await detailsOf([[`timeStamp,elapsed,label,success\n${START_MS},12,a,true\n`]])
    expect(details.overall).toEqual({
      ...{ bucketMs: 1000, atMs: [0], throughput: [1], failures: [0] },
      ...{ p50Ms: [12], p95Ms: [12], p99Ms: [12], codes: [{ code: '', counts: [1] }] }
    })
  })
})

describe('the parts of the response time', () => {
  const line = (elapsed: number, latency: string, connect: string, bytes = '10') =>
    `${START_MS},${elapsed},a,200,OK,t 1-1,text,true,,${bytes},5,1,1,,${latency},0,${connect}\n`

  test.each([
    ['a latency that is missing', line(100, '', '5')],
    ['a latency longer than the sample', line(100, '101', '5')],
    ['a connect time longer than the latency', line(100, '20', '21')],
    ['a connect time that is no number', line(100, '20', '-1')],
    ['no first byte', line(100, '0', '0')]
  ])('leave out a row with %s', async (_, odd) => {
    const { details, measurements } = await detailsOf([[HEADER + line(50, '30', '10') + odd]])
    expect(details.overall).toMatchObject({ connectMs: [10], ttfbMs: [20], downloadMs: [20] })
    expect(measurements.sources[0]?.problems).toEqual([])
    const alone = await detailsOf([[HEADER + odd]])
    expect(alone.details.overall).not.toHaveProperty('connectMs')
  })

  test('count a row whose first byte came within its millisecond', async () => {
    const { details } = await detailsOf([[HEADER + line(50, '30', '10') + line(1, '0', '0')]])
    expect(details.overall).toMatchObject({ connectMs: [5], ttfbMs: [10], downloadMs: [10.5] })
  })

  test('leave out bytes where a CSV has none of them', async () => {
    const { details } = await detailsOf([
      [HEADER + line(50, '30', '10')],
      [HEADER + line(50, '30', '10', '0')]
    ])
    expect(details.overall).not.toHaveProperty('receivedPerSecond')
    expect(details.overall).toHaveProperty('sentPerSecond')
  })

  test.each([
    ['k6.csv', []],
    ['vegeta.csv', []],
    ['jmeter.xml', ['connectMs', 'ttfbMs', 'downloadMs', 'sentPerSecond']]
  ])('are there if the tool measures them: %s', async (name, parts) => {
    const folder = mkdtempSync(join(tmpdir(), 'loadgate-details-'))
    try {
      const target = join(folder, 'translated.csv')
      const { signal } = new AbortController()
      const { path } = await translateFile(`__tests__/fixtures/results/${name}`, {
        ...{ target, isCopied: true, signal }
      })
      const { details, measurements } = await detailsOf([[readFileSync(path!, 'utf8')]])
      expect(countCodes(details.overall)).toBe(measurements.figures({})?.samples)
      const known = Object.keys(details.overall).filter((key) => /^(?:connect|ttfb|download|sent)/.test(key))
      expect(known).toEqual(parts)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('failed samples', () => {
  test('are the first ones of the most frequent errors', async () => {
    const rows = makeRows(10, 800)
    const { details, measurements } = await detailsOf([[write(rows)]])
    const errors = measurements.errors({}).slice(0, 20)
    const found = new Map<string, number[]>()
    for (const { label, code, message, atMs } of details.failures) {
      const key = JSON.stringify([label, code, message])
      found.set(key, [...(found.get(key) ?? []), atMs])
    }
    expect(found.size).toBe(20)
    for (const { label, code, message } of errors) {
      const own = rows.filter(
        (row) =>
          row.isFailure &&
          row.label === label &&
          row.code === code &&
          (row.message || 'Server Error').replace(/\s+/g, ' ') === message
      )
      const first = own.map(({ startMs }) => startMs).sort((one, other) => one - other)
      expect(found.get(JSON.stringify([label, code, message]))).toEqual(first.slice(0, 3))
    }
    expect(details.failures.map(({ atMs }) => atMs)).toEqual(
      details.failures.map(({ atMs }) => atMs).sort((one, other) => one - other)
    )
    expect(details.failures[0]).toMatchObject({ thread: 'users, all 1-1', url: 'http://shop.example/a' })
  })

  test('are those that started first, though others had failed before', async () => {
    const rows = [1000, 2000, 3000, 4000].map(
      (ms) => `${START_MS + ms},5,a,500,No,t,text,false,,0,0,1,1,,0,0,0\n`
    )
    const slow = `${START_MS},9000,a,500,No,t,text,false,,0,0,1,1,,0,0,0\n`
    const { details } = await detailsOf([[HEADER + rows.join('') + slow]])
    expect(details.failures.map(({ atMs }) => atMs - START_MS)).toEqual([0, 1000, 2000])
  })

  test('show no password of an address, however long, and no line break', async () => {
    const secret = 'x'.repeat(5000)
    const rows = [
      `${START_MS},5,a,500,No,"user\n""1""",text,false,,0,0,1,1,http://me:${secret}@shop.example/p#t,0,0,0\n`,
      `${START_MS},5,b,500,No,${'t'.repeat(3000)},text,false,,0,0,1,1,null,0,0,0\n`
    ]
    const { details } = await detailsOf([[HEADER + rows.join('')]])
    expect(details.failures).toEqual([
      expect.objectContaining({ label: 'a', thread: 'user "1"', url: 'http://shop.example/p' }),
      {
        ...{ label: 'b', code: '500', message: 'No', atMs: START_MS, elapsedMs: 5 },
        thread: `${'t'.repeat(199)}…`
      }
    ])
  })

  test.each([
    ['https://ci:hunter2@Sup3r@shop.example/p?x=1', 'https://shop.example/p'],
    ['jdbc:postgresql://ci:Sup3r@db.example/shop', 'jdbc:postgresql://db.example/shop'],
    ['https://shop.example/cart;jsessionid=5E55/items;v=1?x=1', 'https://shop.example/cart/items'],
    ['https://shop.example/@me', 'https://shop.example/@me']
  ])('show %s as %s', async (address, url) => {
    const row = `${START_MS},5,a,500,No,t,text,false,,0,0,1,1,${address},0,0,0\n`
    const { details } = await detailsOf([[HEADER + row]])
    expect(details.failures).toEqual([expect.objectContaining({ url })])
  })

  test('of setUp groups are among them, and in no series', async () => {
    const row = (ms: number, label: string, thread: string, isOk: boolean) =>
      `${START_MS + ms},5,${label},${isOk ? 200 : 500},No,${thread} 1-1,text,${isOk},,0,0,1,1,,0,0,0\n`
    const load = Array.from({ length: 30 }, (_, i) => row(1000 + i * 100, 'home', 'users', true))
    // On another node the load had begun.
    const rows = [row(0, 'login', 'setUp', false), ...load, row(2001, 'login', 'setUp', false)]
    const { details } = await detailsOf([[HEADER + rows.join('')]], { asideGroups: ['setUp'] })
    const shown = { label: 'login', code: '500', message: 'No (setUp or tearDown)', thread: 'setUp 1-1' }
    expect(details.failures).toEqual([0, 2001].map((ms) => ({ ...shown, atMs: START_MS + ms, elapsedMs: 5 })))
    expect(details.labels.map(({ label }) => label)).toEqual(['home'])
  })

  test('of transactions that stand for their requests', async () => {
    const text = readFileSync('__tests__/fixtures/jmeter/transactions-without-subresults.csv', 'utf8')
    const { details, measurements } = await detailsOf([[text]])
    const failures = measurements.figures({})?.failures ?? 0
    expect(failures).toBeGreaterThan(0)
    const [header = [], ...rows] = parseCsv(text)
    for (const { atMs, label, thread } of details.failures)
      expect(
        rows.some(
          (row) =>
            row[header.indexOf('timeStamp')] === String(atMs) &&
            row[header.indexOf('label')] === label &&
            row[header.indexOf('threadName')] === thread &&
            row[header.indexOf('success')] === 'false'
        )
      ).toBe(true)
    expect(details.failures.length).toBeGreaterThan(0)
  })
})

describe('there are no details', () => {
  const tidy =
    'time,measurement,label,region,grid,value\n' +
    ['passed', 'failed', 'response_time', 'concurrency']
      .map((name) => `2024-01-01T00:00:00Z,${name},a,r,g,1\n`)
      .join('')

  test.each([
    ['of a tidy CSV', [tidy], /row for each sample/],
    ['without times', ['elapsed,label,success\n5,a,true\n'], /no common time/],
    ['without samples', [HEADER], /no samples/]
  ])('%s', async (_, texts, reason) => {
    expect((await readTwice([texts])).details).toMatch(reason)
  })

  test('of grids whose clocks differ', async () => {
    const [here, ahead] = [makeRows(1, 400), makeRows(1, 400, { fromMs: START_MS + 1_800_000 })]
    const times = { startedMs: START_MS, stoppedMs: START_MS + 16_000 }
    const { details, measurements } = await readTwice([[write(here), write(ahead)]], { times })
    expect(measurements.areClocksApart).toBe(true)
    expect(details).toMatch(/no common time/)
  })

  test('of CSVs that have changed since', async () => {
    const text = write(makeRows(11, 50))
    const [header = '', first = ''] = text.split('\n')
    const meanwhile = ([path = '']: readonly string[]) => writeFileSync(path, `${header}\n${first}\n`)
    expect((await readTwice([[text]], { meanwhile })).details).toMatch(/changed/)
  })

  test('of CSVs that are gone', async () => {
    const meanwhile = ([path = '']: readonly string[]) => rmSync(path)
    expect((await readTwice([[write(makeRows(12, 50))]], { meanwhile })).details).toMatch(/ENOENT/)
  })
})
