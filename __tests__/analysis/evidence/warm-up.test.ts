import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collect, type Collection } from '../../../src/gate/collect/collect.js'
import { leaveOutAll, leaveOutWarmUp } from '../../../src/analysis/evidence/warm-up.js'
import { comparedRun, asRecorded } from '../../../src/gate/collect/compared-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import { alignCounted } from '../../../src/report/page/build-document.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { scanEach } from '../../../src/analysis/results/parallel/scan-files.js'
import type { Run } from '../../../src/contract/api.js'
import { naiveFigures, type NaiveSample } from '../../support/data/naive-results.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { makeGate, makeGrid, makeRun, makeSettings, type TestGate } from '../../support/gate/gate-ports.js'
import { GateService } from '../../support/gate/gate-service.js'

const START_MS = 1_760_000_000_000
const HEADER = 'timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads,IdleTime'
const LABELS = ['home', 'cart, "full"', 'pay\nnow', 'ünïcode']

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'warm-up-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Row extends NaiveSample {
  readonly grid: string
  readonly thread: string
}

function toText({ startMs, elapsedMs, label, isFailure, isTransaction, thread, threads }: Row): string {
  const message = isTransaction
    ? 'Number of samples in transaction : 2, number of failing samples : 0'
    : isFailure
      ? 'broken'
      : 'OK'
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
  const code = isFailure ? '500' : '200'
  return `${[startMs, elapsedMs, quoted(label), code, quoted(message), thread, !isFailure, threads, 0].join(',')}\n`
}

/** Threads that each do one request after the other, every two of them with the row of a transaction; rows come by their ends. */
function makeGridRows(
  grid: string,
  random: () => number,
  { requests, transactions }: { requests: number; transactions: number }
): Row[] {
  const whole = (most: number): number => Math.floor(random() * most)
  const gridStartMs = START_MS + whole(8000)
  return [1, 2, 3].flatMap((number) => {
    const thread = `users 1-${number}`
    let nowMs = gridStartMs + whole(3000)
    return Array.from({ length: Math.ceil(requests / 6) }, () => {
      const common = { grid, thread, threads: 3, isTransaction: false }
      const pair = [0, 1].map((): Row => {
        const elapsedMs = 1 + whole(random() < 0.1 ? 9000 : 400)
        const row = {
          ...common,
          startMs: nowMs,
          elapsedMs,
          label: LABELS[whole(4)]!,
          isFailure: random() < 0.1
        }
        nowMs += elapsedMs
        return row
      })
      const startMs = pair[0]!.startMs
      const transaction: Row = {
        ...{ ...common, startMs, elapsedMs: nowMs - startMs, label: 'buy' },
        isFailure: false,
        isTransaction: true
      }
      nowMs += whole(300) + 5
      return [...pair, ...(random() < transactions ? [transaction] : [])]
    }).flat()
  })
}

type CountedResults = ReturnType<typeof leaveOutAll>

async function cut(texts: ReadonlyMap<string, string>, ms: number): Promise<CountedResults> {
  const files = [...texts].map(([grid, text]) => {
    const path = join(folder, `${grid}.csv`)
    writeFileSync(path, text)
    return { path, grid, region: `region of ${grid}` }
  })
  const scans = await scanEach(files)
  return leaveOutWarmUp(
    files.map(({ path }, i) => ({ path, scan: scans[i]! })),
    ms
  )
}

function csvOf(rows: readonly Row[], header = HEADER): string {
  const endOf = ({ startMs, elapsedMs }: Row): number => startMs + elapsedMs
  return `${header}\n${rows
    .toSorted((one, other) => endOf(one) - endOf(other))
    .map(toText)
    .join('')}`
}

function plain(startMs: number, elapsedMs = 100, changes: Partial<Row> = {}): Row {
  const common = { grid: 'g1', thread: 'users 1-1', label: 'home', isFailure: false, isTransaction: false }
  return { ...common, threads: 1, startMs: START_MS + startMs, elapsedMs, ...changes }
}

/** The figures of a scope as the results have them and as a list of rows gives them. */
function expectFigures({ measurements }: CountedResults, rows: readonly Row[]): void {
  const spanMs =
    Math.max(...rows.map(({ startMs, elapsedMs }) => startMs + elapsedMs)) -
    Math.min(...rows.map(({ startMs }) => startMs))
  const requests = rows.filter(({ isTransaction }) => !isTransaction)
  const labels = [...new Set(rows.map(({ label }) => label))].sort()
  const grids = [...new Set(rows.map(({ grid }) => grid))]
  expect(measurements.labels).toEqual(labels)
  const scopes = [
    { scope: {}, rows: requests },
    ...labels.map((label) => ({ scope: { label }, rows: rows.filter((row) => row.label === label) })),
    ...grids.map((grid) => ({ scope: { grid }, rows: requests.filter((row) => row.grid === grid) }))
  ]
  const found = scopes.map(({ scope }) => {
    const figures = measurements.figures(scope)!
    const { samples, failures, meanMs, minMs, maxMs, throughput } = figures
    const errors = measurements.errors(scope).reduce((sum, { count }) => sum + count, 0)
    const percentiles = [50, 95, 99.9].map((percent) => figures.percentileMs(percent))
    return {
      samples,
      failures,
      errors,
      meanMs,
      minMs,
      maxMs,
      percentiles,
      throughput,
      apdex: figures.apdex(200)
    }
  })
  const wanted = scopes.map(({ rows: own }) => {
    const naive = naiveFigures(own)
    const { samples, failures, meanMs, minMs, maxMs } = naive
    const percentiles = [50, 95, 99.9].map((percent) => naive.percentileMs(percent))
    const throughput = samples / (spanMs / 1000)
    return {
      samples,
      failures,
      errors: failures,
      meanMs,
      minMs,
      maxMs,
      percentiles,
      throughput,
      apdex: naive.apdex(200)
    }
  })
  expect(found).toEqual(wanted)
}

describe('figures without the warm-up are those of the rows that start after it', () => {
  const cases = [1, 2, 3, 4, 5].map((seed) => ({ seed, requests: 60, transactions: 0.7 }))

  // The last one is large enough for the kernel, which stops at the first transaction.
  test.each([...cases, { seed: 6, requests: 3600, transactions: 0 }])(
    'seed $seed',
    async ({ seed, ...plan }) => {
      const random = makeRandom(seed)
      const grids = ['g1', 'g2', 'g3'].map((grid) => makeGridRows(grid, random, plan))
      const rows = grids.flat()
      const startMs = Math.min(...rows.map((row) => row.startMs))
      // At the start of one of the rows: that one counts.
      const untilMs = rows.toSorted((one, other) => one.startMs - other.startMs)[Math.floor(rows.length / 3)]!
        .startMs
      const counted = rows.filter((row) => row.startMs >= untilMs)
      const results = await cut(new Map(grids.map((own) => [own[0]!.grid, csvOf(own)])), untilMs - startMs)
      expectFigures(results, counted)
      const left = rows.filter((row) => row.startMs < untilMs && !row.isTransaction)
      expect(results.warmUp).toMatchObject({
        samples: left.length,
        failures: left.filter(({ isFailure }) => isFailure).length
      })
      expect(results.warmUp.whole.startMs).toBe(startMs)
      expect(results.gap).toBeUndefined()
    }
  )

  test.each([
    [5000, 3],
    [5001, 2],
    [4999, 3]
  ])('with %i ms, a sample that starts after 5000 ms: %i are left', async (ms, left) => {
    const rows = [plain(0), plain(4998), plain(5000), plain(5001), plain(60_000)]
    const { measurements } = await cut(new Map([['g1', csvOf(rows)]]), ms)
    expect(measurements.figures({})?.samples).toBe(left)
  })

  test('it begins with the earliest start of all grids, and a slow request that comes last may have it', async () => {
    const texts = new Map([
      ['g1', csvOf([plain(9000), plain(10_500), plain(12_000)])],
      [
        'g2',
        csvOf([
          plain(0, 30_000, { grid: 'g2' }),
          plain(9500, 100, { grid: 'g2' }),
          plain(20_000, 100, { grid: 'g2' })
        ])
      ]
    ])
    const { measurements, warmUp } = await cut(texts, 10_000)
    expect(measurements.figures({ grid: 'g1' })?.samples).toBe(2)
    expect(measurements.figures({ grid: 'g2' })?.samples).toBe(1)
    expect(warmUp).toMatchObject({ ms: 10_000, samples: 3 })
    expect([measurements.startMs, measurements.endMs]).toEqual([START_MS + 10_500, START_MS + 20_100])
  })
})

describe('tidy CSVs', () => {
  function tidy(buckets: readonly [number, number][], widthMs: number, grid: string): string {
    const rows = buckets.flatMap(([passed, failed], i) => {
      const at = START_MS + i * widthMs
      return [
        `${at},passed,${passed},home,r,${grid}`,
        `${at},failed,${failed},home,r,${grid}`,
        `${at},response_time,${100 * (i + 1)},home,r,${grid}`
      ]
    })
    return ['Time,Measurement,Value,Label,Region,Grid', ...rows, ''].join('\n')
  }

  test('drop the buckets that start within it, and keep their width', async () => {
    const texts = new Map([
      [
        't1',
        tidy(
          [
            [10, 1],
            [20, 2],
            [30, 3]
          ],
          5000,
          't1'
        )
      ]
    ])
    const { measurements, warmUp } = await cut(texts, 9000)
    expect(measurements.figures({})).toMatchObject({
      samples: 33,
      failures: 3,
      meanMs: 300,
      throughput: 33 / 5
    })
    expect(warmUp).toMatchObject({ samples: 33, failures: 3 })
    expect((await cut(texts, 5000)).measurements.figures({})).toMatchObject({ samples: 55, throughput: 5.5 })
  })

  test('buckets before the first with samples do not begin it', async () => {
    const buckets: [number, number][] = [
      [0, 0],
      [0, 0],
      [10, 1],
      [20, 2],
      [30, 3]
    ]
    const { measurements, warmUp } = await cut(new Map([['t1', tidy(buckets, 5000, 't1')]]), 9000)
    expect(measurements.figures({})).toMatchObject({ samples: 33, meanMs: 500 })
    expect(warmUp).toMatchObject({ samples: 33, startMs: START_MS + 10_000 })
    const { series } = warmUp.whole
    expect(alignCounted(warmUp, measurements)).toMatchObject({
      untilMs: 19_000,
      counted: { throughput: [null, null, null, null, series?.throughput[4]] }
    })
  })

  test('beside samples begin the same warm-up', async () => {
    const texts = new Map([
      [
        't1',
        tidy(
          [
            [10, 1],
            [20, 2]
          ],
          5000,
          't1'
        )
      ],
      ['g1', csvOf([plain(4000), plain(6000), plain(7000)])]
    ])
    const { measurements } = await cut(texts, 5000)
    expect(measurements.figures({})?.samples).toBe(22 + 2)
  })
})

describe('samples far from all others', () => {
  const load = (fromMs: number): Row[] => Array.from({ length: 60 }, (_, i) => plain(fromMs + i * 1000))
  const read = (rows: Row[], ms = 10_000): Promise<CountedResults> => cut(new Map([['g1', csvOf(rows)]]), ms)

  test.each([
    ['1970', [plain(-START_MS)], '20,2'],
    ['1970 and in seconds', [plain(-START_MS), plain(START_MS / 1000 - START_MS)], '20,2'],
    ['a week ago', [plain(-7 * 86_400_000)], '6']
  ])('of %s: it is unknown when the warm-up began', async (_, rows, days) => {
    const { gap } = await read([...rows, ...load(0)])
    expect(gap).toMatch(
      new RegExp(
        `^The warm-up of 10 s is counted from the first sample, but there are samples that are more than ${days}\\d* days apart, so it is unknown when the run began\\. Check `
      )
    )
  })

  test('a few minutes earlier: a warning', async () => {
    const { gap, doubts } = await read([plain(-300_000), ...load(0)])
    expect(gap).toBeUndefined()
    expect(doubts).toEqual([
      'The warm-up of 10 s is counted from the first sample, and soon after it there are none for 4 min 59 s, so the first ones of the load itself may be in the figures. Check the times in the CSVs, and that all of them are of the same run.'
    ])
  })

  test('a grid that begins after it: a warning', async () => {
    const late = load(11_000).map((row) => ({ ...row, grid: 'g2' }))
    const { gap, doubts } = await cut(
      new Map([
        ['g1', csvOf(load(0))],
        ['g2', csvOf(late)]
      ]),
      10_000
    )
    expect(gap).toBeUndefined()
    expect(doubts).toEqual([
      'The first sample of grid g2 starts 11 s after the first of all, so nothing of it is within the warm-up of 10 s. Make warm-up longer, or check the clocks.'
    ])
  })

  test.each([
    ['a steady load', load(0), 10_000],
    ['a pause within it', [plain(-9000), ...load(0)], 10_000],
    [
      'requests that are far apart',
      load(0).map((row, i) => ({ ...row, startMs: START_MS + i * 60_000 })),
      5000
    ],
    ['a pause long after it', [...load(0), ...load(200_000)], 10_000],
    ['a first request that takes minutes', [plain(-300_000, 300_000), ...load(0)], 10_000],
    ['a few samples', [plain(0), plain(60_000), plain(61_000)], 10_000]
  ])('no alarm for %s', async (_, rows, ms) => {
    expect(await read(rows, ms)).toMatchObject({ gap: undefined, doubts: [] })
  })
})

describe('what transactions stand for is decided by all rows', () => {
  test('by requests that are within the warm-up', async () => {
    // Without thread names, transactions count only if no request has a row.
    const header = HEADER.replace('threadName', 'noName')
    const rows = [plain(0), plain(50, 20), plain(60_000, 100, { isTransaction: true, label: 'buy' })]
    const { measurements } = await cut(new Map([['g1', csvOf(rows, header)]]), 30_000)
    expect(measurements.figures({})).toBeUndefined()
    expect(measurements.figures({ label: 'buy' })?.samples).toBeUndefined()
    expect(measurements.sources[0]?.problems.join()).toContain('transactions and of requests')
  })

  test('by the others of the same controller', async () => {
    // Rows without a known end: alone, the last one would count by itself.
    const pairs = Array.from({ length: 60 }, (_, i) => [
      plain(i * 1000, 100),
      plain(i * 1000, 200, { isTransaction: true, label: 'buy' })
    ]).flat()
    const odd = plain(90_000, 0, { isTransaction: true, label: 'buy' })
    const rows = [...pairs, plain(90_000, 0), odd, plain(95_000)]
    const { measurements, warmUp } = await cut(new Map([['g1', csvOf(rows)]]), 80_000)
    expect(warmUp.whole.figures({})?.samples).toBe(62)
    expect(measurements.figures({})?.samples).toBe(2)
    expect(measurements.figures({ label: 'buy' })?.samples).toBe(1)
  })
})

describe('a gate with a warm-up', () => {
  let service: GateService
  let gate: TestGate

  beforeEach(async () => {
    service = new GateService()
    service.addRun({ id: 'run1' })
    gate = await makeGate(service.url)
  })
  afterEach(async () => {
    await gate.client.close()
    service.close()
  })

  async function gather(
    csvs: Record<string, string>,
    changes: Partial<Settings>,
    run: Partial<Run> = {}
  ): Promise<[Run, Collection]> {
    for (const [grid, csv] of Object.entries(csvs)) service.csvs.set(grid, csv)
    const settings = { ...gate.settings, ...changes }
    const seen = makeRun({ grids: Object.keys(csvs).map((id) => makeGrid({ id })), ...run })
    const signal = new AbortController().signal
    return [
      seen,
      await gate.ports.clock.run(collect({ ...gate, settings }, seen, { signal, createdMs: START_MS }))
    ]
  }

  async function judge(
    csvs: Record<string, string>,
    { lines = '', warmUpMs = 30_000, ...run }: { lines?: string; warmUpMs?: number } & Partial<Run> = {}
  ): Promise<Outcome> {
    const { thresholds } = makeSettings({ thresholdLines: lines })
    const [seen, collection] = await gather(csvs, { warmUpMs, thresholds }, run)
    return conclude({ ...gate.settings, warmUpMs, thresholds }, { run: seen, collection })
  }

  /** No two grids have the same rows. */
  const ofOther = (rows: readonly Row[]): Row[] =>
    rows.map((row) => ({ ...row, elapsedMs: row.elapsedMs + 1 }))

  /** One a second for a minute; those of the first half are slow and fail. */
  const rows = Array.from({ length: 60 }, (_, i) =>
    plain(i * 1000, i < 30 ? 900 : 100 + i, {
      isFailure: i < 30,
      label: i === 0 ? 'login' : 'home',
      threads: i < 30 ? 9 : 5
    })
  )

  test('judges the rest, with an apdex computed with the target of the service', async () => {
    const lines = 'error_rate < 1%\np95 < 200ms\nsamples == 30\napdex >= 1\napdex{label="home"} >= 1'
    const { verdict, apdex, warmUp, measurements, means, summary } = await judge(
      { grid1: csvOf(rows) },
      { lines }
    )
    expect({ verdict, apdex }).toEqual({ verdict: 'passed', apdex: { score: 1, targetMs: 500 } })
    expect(warmUp).toMatchObject({ ms: 30_000, samples: 30, failures: 30 })
    expect(warmUp?.whole.figures({})?.samples).toBe(60)
    expect(measurements?.series?.failures.every((count) => count === 0)).toBe(true)
    // What the service says has the warm-up in it.
    expect(means).toEqual({})
    expect(summary).toMatch(/ \(These figures include the warm-up\.\)$/)
  })

  test('checks the load by the whole run', async () => {
    const [seen, collection] = await gather(
      { grid1: csvOf(rows) },
      { warmUpMs: 30_000 },
      { durationSeconds: 60, threads: 9 }
    )
    const settings = { ...gate.settings, warmUpMs: 30_000 }
    expect(conclude(settings, { run: seen, collection })).toMatchObject({ verdict: 'passed', warnings: [] })
    expect(collection.spansMs.get('grid1')).toBe(59_159)
  })

  test('compares and records the figures without it', async () => {
    const [run, collection] = await gather({ grid1: csvOf(rows) }, { warmUpMs: 30_000 })
    expect(comparedRun({ run, collection })).toMatchObject({
      apdex: { score: 1, targetMs: 500 },
      labels: ['home']
    })
    const facts = { fingerprint: {}, commit: 'a', nowMs: START_MS + 3_600_000, unusable: null }
    expect(asRecorded(gate.settings, { run, collection }, facts)).toMatchObject({
      atMs: START_MS,
      apdex: { score: 1 },
      scopes: [{ samples: 30, failures: 0 }, {}, {}]
    })
  })

  test('without one reads nothing twice and says nothing of it', async () => {
    const { warmUp, apdex } = await judge({ grid1: csvOf(rows) }, { warmUpMs: 0 })
    expect({ warmUp, apdex }).toEqual({ warmUp: undefined, apdex: { score: 0.93, targetMs: 500 } })
  })

  test.each([
    [
      59_001,
      'inconclusive',
      'The run is not longer than its warm-up: all 60 samples start within the first 59 s, and the last one ends after 59.2 s. Make the run longer, or warm-up shorter.'
    ],
    [59_000, 'passed', 'No thresholds were given, so this is only a report.']
  ])('of %i ms, with the last start after 59 s: %s', async (warmUpMs, verdict, reason) => {
    const outcome = await judge({ grid1: csvOf(rows) }, { warmUpMs })
    expect(outcome).toMatchObject({ verdict, reason, warmUp: { ms: warmUpMs } })
  })

  test.each([
    'p95 < 10s',
    'failures < 1',
    'samples < 5',
    'apdex >= 0.1',
    'p95{label="home"} < 10s',
    'error_rate{grid="*"} < 1%'
  ])('a run that is not longer than it holds nothing: %s', async (lines) => {
    const { verdict, judgements } = await judge({ grid1: csvOf(rows) }, { lines, warmUpMs: 90_000 })
    expect([verdict, judgements[0]?.verdict]).toEqual(['inconclusive', 'inconclusive'])
  })

  test.each([
    'p95 < 10s',
    'p95{grid="grid2"} < 10s',
    'failures{region="*"} < 1',
    'failures{grid="grid1"} < 1'
  ])('a grid with samples within it only has no part in the load: %s', async (lines) => {
    const csvs = { grid1: csvOf(rows), grid2: csvOf(ofOther(rows.slice(0, 20))) }
    const { verdict, reason, judgements } = await judge(csvs, { lines })
    expect([verdict, judgements[0]?.verdict]).toEqual(['inconclusive', 'inconclusive'])
    expect(reason).toBe(
      'All samples of grid grid2 start within the warm-up of 30 s, so it is not in the figures. Check what ended its load, or make warm-up shorter.'
    )
  })

  test('a label with samples within it only', async () => {
    const named = await judge({ grid1: csvOf(rows) }, { lines: 'p95{label="login"} < 10s' })
    expect(named.verdict).toBe('inconclusive')
    expect(named.judgements[0]?.reason).toBe(
      'no label matches "login"; there is "home"; all samples that match start within the warm-up'
    )
    const matched = await judge({ grid1: csvOf(rows) }, { lines: 'p95{label="*"} < 10s' })
    expect(matched).toMatchObject({
      verdict: 'passed',
      warnings: ['Samples within the warm-up only, so no threshold was judged on this label: "login".']
    })
  })

  test('a label with samples within it only on one of the grids', async () => {
    const logins = [...rows.slice(0, 59), plain(59_000, 100, { label: 'login' })]
    const csvs = { grid1: csvOf(logins), grid2: csvOf(ofOther(rows)) }
    const lines = 'p95{label="login", grid="*"} < 10s\np95{label="home", grid="*"} < 10s'
    expect(await judge(csvs, { lines })).toMatchObject({
      verdict: 'passed',
      warnings: [
        'Samples within the warm-up only, so no threshold was judged on this label: "login" on grid grid2.'
      ]
    })
    const named = await judge(csvs, { lines: 'p95{label="login", grid="grid2"} < 10s' })
    expect(named).toMatchObject({ verdict: 'inconclusive', warnings: [] })
    expect(named.judgements[0]?.reason).toBe(
      'p95 is unknown: there are no samples in any such combination; all samples that match start within the warm-up'
    )
  })

  test.each([
    ['no target', { apdex: null }, 'the service gave no apdex for this run, so the target for computing'],
    ['an odd one', { apdex: 'good' }, 'so the target for computing the apdex without the warm-up is unknown']
  ])('apdex is unknown with %s', async (_, run, words) => {
    const { verdict, judgements } = await judge({ grid1: csvOf(rows) }, { lines: 'apdex >= 0.1', ...run })
    expect(verdict).toBe('inconclusive')
    expect(judgements[0]?.reason).toContain(words)
  })

  test('apdex is unknown without the times of the samples', async () => {
    const tidy = [
      'Time,Measurement,Value,Label',
      ...[0, 1, 2, 3].flatMap((i) => [
        `${START_MS + i * 15_000},passed,5,a`,
        `${START_MS + i * 15_000},failed,0,a`
      ]),
      ''
    ]
    const { verdict, judgements } = await judge(
      { grid1: tidy.join('\n') },
      { lines: 'apdex >= 0.1\nfailures < 1' }
    )
    expect(verdict).toBe('inconclusive')
    expect(judgements.map((one) => one.verdict)).toEqual(['inconclusive', 'passed'])
    expect(judgements[0]?.reason).toContain('the CSVs do not have the time of each sample')
  })

  test('samples without a start cannot be told apart, and nothing is judged by them', async () => {
    const untimed = `elapsed,label,success\n${'9000,home,false\n'.repeat(50)}`
    const { verdict, reason, judgements, measurements } = await judge(
      { grid1: untimed },
      { lines: 'error_rate < 1%' }
    )
    expect([verdict, judgements[0]?.verdict]).toEqual(['inconclusive', 'inconclusive'])
    expect(reason).toContain('its rows have no timeStamp, so those of the warm-up of 30 s cannot be left out')
    expect(measurements?.figures({})).toBeUndefined()
  })

  test('nothing is judged if the CSV cannot be read again', async () => {
    const [, { scans = [] }] = await gather({ grid1: csvOf(rows) }, {})
    const { measurements, warmUp } = leaveOutAll(scans, 30_000, 'no such file')
    expect(measurements.figures({})).toBeUndefined()
    expect(measurements.sources[0]?.problems).toEqual([
      'it could not be read again to leave out the warm-up: no such file'
    ])
    expect(warmUp.whole.figures({})?.samples).toBe(60)
  })
})
