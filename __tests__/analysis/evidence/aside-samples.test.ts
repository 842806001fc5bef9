import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeAside } from '../../../src/analysis/evidence/aside-samples.js'
import { readResults, type CountOptions } from '../../../src/analysis/evidence/count-results.js'
import { decideRun } from '../../../src/analysis/evidence/decide-run.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { isAbsoluteThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import { judgeThresholds } from '../../../src/analysis/thresholds/judge/judge.js'

const START_MS = 1_760_000_000_000
const HEADER = 'timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'aside-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const row = (atMs: number, label: string, thread: string, failure?: string): string =>
  `${[START_MS + atMs, 100, label, failure ?? '200', failure === undefined ? 'OK' : 'Server Error', thread, failure === undefined, 1].join(',')}\n`
const load = (fromMs: number, toMs: number): string[] =>
  Array.from({ length: (toMs - fromMs) / 100 }, (_, i) => row(fromMs + i * 100 + 1, 'home', 'users 1-1'))

async function read(
  rows: readonly string[],
  { grid = 'g', ...options }: Partial<CountOptions> & { grid?: string } = {}
) {
  const path = join(folder, `${grid}.csv`)
  writeFileSync(path, HEADER + rows.join(''))
  const asideGroups = ['setUp', 'tearDown']
  return readResults([{ path, grid, region: 'r', asideGroups }], { warmUpMs: 0, ...options })
}

const SET_UP = [
  row(0, 'login', 'setUp 1-1', '500'),
  row(10, 'login', 'setUp 1-2'),
  row(20, 'cart', 'setUp 1-1', '404')
]
const TEAR_DOWN = [row(41_000, 'logout', 'tearDown 1-1')]

describe('the time of a run with setUp and tearDown groups', () => {
  test('begins and ends with its load', async () => {
    const { measurements, spansMs } = await read([...SET_UP, ...load(30_000, 40_000), ...TEAR_DOWN])
    expect(measurements!.startMs).toBe(START_MS + 30_001)
    expect(measurements!.endMs).toBe(START_MS + 40_001)
    expect(spansMs.get('g')).toBe(10_000)
    expect(measurements!.figures({})).toMatchObject({ samples: 100, failures: 0, throughput: 10 })
    expect(measurements!.figures({ label: 'login' })).toMatchObject({ samples: 2, failures: 1 })
    expect(measurements!.figures({ label: 'logout' })).toMatchObject({ samples: 1 })
  })

  test('a warm-up is counted from the first sample of the load, and leaves out none of setUp', async () => {
    const rows = [...SET_UP, ...load(30_000, 40_000), ...TEAR_DOWN]
    const { measurements, warmUp, gaps } = await read(rows, { warmUpMs: 4_000 })
    expect(gaps).toEqual([])
    expect(warmUp).toMatchObject({ startMs: START_MS + 30_001, samples: 40, failures: 0 })
    expect(measurements!.figures({})!.samples).toBe(60)
    expect(measurements!.figures({ label: 'login' })).toMatchObject({ samples: 2, failures: 1 })
  })

  test('a warm-up longer than the load leaves nothing to judge', async () => {
    const { gaps } = await read([...SET_UP, ...load(30_000, 40_000)], { warmUpMs: 20_000 })
    expect(gaps[0]).toMatch(/^The run is not longer than its warm-up: all 100 samples/)
  })
})

test.each([0, 5_000])(
  'rows of another time are not of this run, whatever their thread (warm-up %i)',
  async (warmUpMs) => {
    const stray = row(-3_600_000, 'login', 'setUp 1-1')
    const times = { startedMs: START_MS - 1_000, stoppedMs: START_MS + 45_000 }
    const rows = [stray, ...SET_UP, ...load(30_000, 40_000), ...TEAR_DOWN]
    const { foreign, measurements } = await read(rows, { times, warmUpMs })
    expect(foreign).toEqual([expect.stringContaining('1 of the 105 rows of grid g is not from this run')])
    expect(measurements!.figures({ label: 'login' })!.samples).toBe(2)
  }
)

test.each([0, 5_000])('a grid with rows of setUp only never passes (warm-up %i)', async (warmUpMs) => {
  const results = await read(SET_UP, { warmUpMs })
  const gap =
    'All samples of grid g are of setUp and tearDown thread groups, so it has no part in the figures. Check what kept its load from starting.'
  expect(results.gaps[0]).toBe(gap)
  const { measurements, gaps, foreign } = results
  expect(measurements?.figures({})).toBeUndefined()
  expect(
    decideRun([], {
      ...{ status: 'finished', hasEndedWell: true, remoteErrors: [], shortfalls: [], reportsStops: false },
      ...{ requestedSeconds: undefined, tookMs: undefined, nodes: undefined, lackOfResults: undefined },
      ...{ results: { measurements, spansMs: results.spansMs }, gaps, foreign }
    })
  ).toEqual({ verdict: 'inconclusive', reason: gap })
})

test('a grid whose load did not start has the time of its setUp', async () => {
  const { spansMs } = await read(SET_UP)
  expect(spansMs.get('g')).toBe(120)
})

describe('what people are told', () => {
  test('how many there were, and what failed', async () => {
    const { scans } = await read([...SET_UP, ...load(30_000, 31_000), ...TEAR_DOWN])
    expect(describeAside(scans)).toEqual({
      warnings: [
        '4 samples of setUp and tearDown thread groups count for their labels only, not overall. 2 of them failed: "login" (500 Server Error) and "cart" (404 Server Error).'
      ],
      notes: []
    })
  })

  test('in large numbers and with many labels', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => row(i, `step ${i % 4}`, 'setUp 1-1', '500'))
    const { scans } = await read([...many, ...load(30_000, 31_000)])
    const [told] = describeAside(scans).warnings
    expect(told).toMatch(
      /^1,000 samples .* 1,000 of them failed: .* \(500 Server Error\),? and 1 more label\.$/
    )
  })

  test.each([
    [TEAR_DOWN, [], ['1 sample of setUp and tearDown thread groups counts for its label only, not overall.']],
    [
      SET_UP.slice(0, 1),
      [
        '1 sample of setUp and tearDown thread groups counts for its label only, not overall. It failed: "login" (500 Server Error).'
      ],
      []
    ],
    [[], [], []]
  ])('one of them, or none', async (aside, warnings, notes) => {
    const { scans } = await read([...aside, ...load(30_000, 31_000)])
    expect(describeAside(scans)).toEqual({ warnings, notes })
  })

  test('why they failed is among the errors, marked', async () => {
    const { measurements } = await read([...SET_UP, ...load(30_000, 31_000)])
    const message = 'Server Error (setUp or tearDown)'
    const login = { label: 'login', code: '500', message, count: 1 }
    expect(measurements!.errors({})).toEqual([{ ...login, label: 'cart', code: '404' }, login])
    expect(measurements!.errors({ label: 'login' })).toEqual([login])
  })
})

test('samples outside of the load do not count for throughput', async () => {
  const shared = row(30_500, 'login', 'users 1-1')
  const { measurements } = await read([...SET_UP, ...load(30_000, 40_000), shared])
  const line = (text: string) =>
    judgeThresholds(parseThresholds(text).thresholds.filter(isAbsoluteThreshold), {
      ...{ measurements, apdex: undefined, missing: [] }
    })[0]
  expect(line('throughput{label="cart"} > 0.01/s')).toMatchObject({
    verdict: 'inconclusive',
    reason:
      'throughput of cart is unknown: samples of setUp and tearDown thread groups are outside the time of the load'
  })
  expect(line('throughput{label="home"} > 9/s')).toMatchObject({ verdict: 'passed' })
  expect(line('throughput{label="login"} < 0.15/s')).toMatchObject({ verdict: 'passed' })
  expect(line('throughput{label="*"} > 0.01/s')).toMatchObject({ verdict: 'passed', scopesChecked: 2 })
  expect(line('throughput{label="c*"} > 0.01/s')).toMatchObject({ verdict: 'inconclusive' })
})
