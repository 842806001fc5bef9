import { describe, expect, test } from '@jest/globals'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { judgeMade } from '../../support/evidence/judge-made.js'
import type { JudgeOptions } from '../../support/evidence/judge-made.js'
import { asEpoch, asZonelessDate, changeGrid, csvOf, shiftGrid } from '../../support/evidence/made-run.js'
import type { MadeGrid, MadeRow, MadeRun } from '../../support/evidence/made-run.js'

const STARTED_MS = Date.UTC(2026, 2, 1, 10)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface Load {
  readonly fromMs?: number
  readonly seconds?: number
  readonly everyMs?: number
  readonly elapsedMs?: number
}

function rowsOf({ fromMs = STARTED_MS, seconds = 60, everyMs = 100, elapsedMs = 50 }: Load = {}): MadeRow[] {
  return Array.from({ length: (seconds * 1000) / everyMs }, (_, index) => {
    return { startMs: fromMs + index * everyMs, elapsedMs, user: 1, isFailure: false }
  })
}

function grid(id: string, rows: readonly MadeRow[], changes: Partial<MadeGrid> = {}): MadeGrid {
  return { id, nodeCount: 2, status: 'started', nodes: [], users: 1, rows, ...changes }
}

/** A minute of load. */
function runOf(grids: readonly MadeGrid[], changes: Partial<MadeRun> = {}): MadeRun {
  const times = { startedMs: STARTED_MS, stoppedMs: STARTED_MS + 61_000 }
  return { id: 'run1', durationSeconds: 60, ...times, grids, writeTime: asEpoch, ...changes }
}

const judge = (run: MadeRun, lines: string, options: JudgeOptions = {}): Promise<Outcome> =>
  judgeMade(run, { lines, ...options })

const twoGrids = (): MadeGrid[] => [grid('g1', rowsOf()), grid('g2', rowsOf({ fromMs: STARTED_MS + 7 }))]
const TEN_MINUTES: Load = { seconds: 600, everyMs: 1_000 }
const OF_TEN_MINUTES = { durationSeconds: 600, stoppedMs: STARTED_MS + 601_000 }
const NO_TIMES = { startedMs: undefined, stoppedMs: undefined }

/** Buckets of 9 samples, unless it says otherwise. */
function tidyCsv(timesMs: readonly number[], samplesAt: (index: number) => number = () => 9): string {
  const rows = timesMs.flatMap((atMs, index) =>
    ['passed', 'failed'].map((word) => {
      const samples = word === 'passed' ? samplesAt(index) : 0
      return `${STARTED_MS + atMs},${word},__all,1,1,1,1,us-east-1,${samples}`
    })
  )
  return `${['Time,Measurement,Label,Account,Run,Project,Grid,Region,Value', ...rows].join('\n')}\n`
}

describe('rows outside of the time of the run', () => {
  const old = rowsOf({ fromMs: STARTED_MS - 2 * HOUR_MS, seconds: 6, everyMs: 10, elapsedMs: 20 })
  const own = rowsOf({ everyMs: 2_000, elapsedMs: 5_000 })

  test('are left out of all figures: fast ones of an earlier run do not make slow ones hold', async () => {
    const outcome = await judge(runOf([grid('g1', [...old, ...own])]), 'p95 < 1s\nmean < 1s')
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason:
        '600 of the 630 rows of grid g1 are not from this run and left out of all figures: the first one started at 2026-03-01T08:00:00.000Z, and the run took place from 2026-03-01T10:00:00.000Z to 2026-03-01T10:01:01.000Z. Check where the CSVs come from.'
    })
    expect(outcome.measurements?.figures({})).toMatchObject({ samples: 30, meanMs: 5_000 })
    expect(outcome.judgements.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'inconclusive'])
  })

  test('are left out together with the warm-up, which begins with the first one within', async () => {
    const late = rowsOf({ fromMs: STARTED_MS + HOUR_MS, seconds: 1 })
    const outcome = await judge(runOf([grid('g1', [...old, ...rowsOf(), ...late])]), '', { warmUpMs: 30_000 })
    expect(outcome.warmUp).toMatchObject({ startMs: STARTED_MS, samples: 300 })
    expect(outcome.measurements?.figures({})?.samples).toBe(300)
    expect(outcome.reason).toContain('610 of the 1210 rows of grid g1 are not from this run')
  })

  test.each([
    ['a minute and a moment before its start', -MINUTE_MS - 1],
    ['a minute and a moment after its end', 61_000 + MINUTE_MS + 1],
    ['a year later', 365 * 24 * HOUR_MS]
  ])('even if it is one, %s', async (_, atMs) => {
    const [row] = rowsOf({ fromMs: STARTED_MS + atMs })
    const rows = [...rowsOf(), row!].sort((one, other) => one.startMs - other.startMs)
    const { verdict, reason, measurements } = await judge(runOf([grid('g1', rows)]), 'p95 < 1s')
    expect([verdict, measurements?.figures({})?.samples]).toEqual(['inconclusive', 600])
    expect(reason).toMatch(/^1 of the 601 rows of grid g1 is not from this run and left out of all figures: /)
  })

  test.each([
    ['a minute before its start', -MINUTE_MS],
    ['a minute after its end', MINUTE_MS]
  ])('begin %s', async (_, ms) => {
    const run = runOf([shiftGrid(grid('g1', rowsOf(TEN_MINUTES)), ms)], OF_TEN_MINUTES)
    expect(await judge(run, 'samples == 600')).toMatchObject({ verdict: 'passed', warnings: [] })
  })

  test.each<[string, MadeRow[], Partial<MadeRun>]>([
    ['before it', [...rowsOf({ fromMs: STARTED_MS - 56_000, seconds: 54, elapsedMs: 5 }), ...rowsOf()], {}],
    ['after it', [...rowsOf(), ...rowsOf({ fromMs: STARTED_MS + 62_000, seconds: 50 })], {}],
    [
      'before it, which was cut off',
      [...rowsOf({ fromMs: STARTED_MS - 56_000, seconds: 54 }), ...rowsOf({ seconds: 6 })],
      { stoppedMs: STARTED_MS + 8_000 }
    ],
    [
      'before it, of which there are none',
      rowsOf({ fromMs: STARTED_MS - 59_000 }),
      { stoppedMs: STARTED_MS + 8_000 }
    ]
  ])('are those of the run %s, if all together take longer than the run', async (_, rows, times) => {
    const { verdict, reason } = await judge(runOf([grid('g1', rows)], times), 'median < 1s')
    expect([verdict, reason]).toEqual([
      'inconclusive',
      expect.stringMatching(
        /^The results of grid g1 are not from this run alone: .* which is shorter\. Check/
      )
    ])
  })

  test.each<[string, Partial<MadeRun>]>([
    ['started a moment late', { startedMs: STARTED_MS + 3_000 }],
    ['in whole minutes', { startedMs: STARTED_MS, stoppedMs: STARTED_MS + MINUTE_MS }],
    [
      'of a moment, in whole minutes',
      { startedMs: STARTED_MS + MINUTE_MS, stoppedMs: STARTED_MS + MINUTE_MS }
    ]
  ])('are none where the times of the run are rough: %s', async (_, times) => {
    const run = runOf([grid('g1', rowsOf())], times)
    expect(await judge(run, 'samples == 600')).toMatchObject({ verdict: 'passed', warnings: [] })
  })

  test('do not begin where a request that started within ends long after', async () => {
    const rows = [
      ...rowsOf(),
      { startMs: STARTED_MS + 59_000, elapsedMs: 10 * MINUTE_MS, user: 1, isFailure: false }
    ]
    const outcome = await judge(runOf([grid('g1', rows)]), 'samples == 601')
    expect(outcome).toMatchObject({ verdict: 'passed', warnings: [] })
  })

  test.each([
    ['with the times of the run', {}, 'the run took place from 2026-03-01T10:00:00.000Z'],
    ['by the time of its creation', NO_TIMES, 'the run was created at 2026-03-01T10:00:00.000Z']
  ])('are all of them, of another year: %s', async (_, times, words) => {
    const rows = rowsOf({ fromMs: STARTED_MS - 365 * 24 * HOUR_MS })
    const run = runOf([grid('g1', rows)], times)
    const { verdict, reason } = await judge(run, 'p95 < 1s\napdex >= 0.9', { createdMs: STARTED_MS })
    expect(verdict).toBe('inconclusive')
    expect(reason).toContain(
      'The results of grid g1 are not from this run: their samples are from 2025-03-01'
    )
    expect(reason).toContain(words)
  })

  test('are unknown where nobody knows when the run was: a warning', async () => {
    const outcome = await judge(runOf([grid('g1', rowsOf())], NO_TIMES), 'p95 < 1s')
    expect(outcome).toMatchObject({
      verdict: 'passed',
      warnings: [
        'The service does not say when the run took place, so nothing shows that the results are from this run.'
      ]
    })
  })

  test('in buckets, too', async () => {
    const csvs = new Map([['g1', tidyCsv([-2 * HOUR_MS, 0, 15_000, 30_000, 45_000])]])
    const outcome = await judge(runOf([grid('g1', rowsOf())]), 'samples == 45', { csvs })
    expect(outcome.reason).toMatch(/^9 of the 45 samples of grid g1 are not from this run/)
    expect(outcome.measurements?.figures({})?.samples).toBe(36)
  })

  test('not in a bucket whose samples may be within', async () => {
    const csvs = new Map([['g1', tidyCsv([0, 1, 2, 3, 4].map((bucket) => bucket * 15_000 - 70_000))]])
    const run = runOf([grid('g1', rowsOf())])
    expect(await judge(run, 'samples == 45', { csvs })).toMatchObject({ verdict: 'passed', warnings: [] })
  })
})

describe('a clock', () => {
  const shifted = (ms: number): MadeRun => runOf(twoGrids().map((each) => shiftGrid(each, ms)))

  test.each([
    ['ahead', 30 * MINUTE_MS, 'about 30 min ahead of'],
    ['behind', -HOUR_MS, 'about 1 h behind'],
    ['a little behind', -90_000, 'about 90 s behind']
  ])('of all machines that is %s: a warning that names it', async (_, ms, words) => {
    const outcome = await judge(shifted(ms), 'throughput > 19/s')
    expect(outcome).toMatchObject({
      verdict: 'passed',
      warnings: [
        `The times in the results are ${words} the service's clock. Check the clocks of the machines, and that these are not the results of an earlier run.`
      ]
    })
    expect(outcome.measurements?.series).toBeDefined()
  })

  test('does not explain rows that are further off', async () => {
    expect(await judge(shifted(HOUR_MS + MINUTE_MS), 'p95 < 1s')).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining('are not from this run')
    })
  })

  test('does not explain a shorter run of before', async () => {
    const rows = rowsOf({ fromMs: STARTED_MS - 30 * MINUTE_MS, seconds: 30 })
    expect((await judge(runOf([grid('g1', rows)]), 'p95 < 1s')).reason).toContain('are not from this run')
  })

  test('of one grid is named; its figures stand, throughput and charts over all grids do not', async () => {
    const run = changeGrid(runOf(twoGrids()), 1, (each) => shiftGrid(each, HOUR_MS))
    const lines = [
      ...['p95 < 1s', 'throughput{grid="g1"} > 9/s', 'throughput{grid="g2"} > 9/s'],
      ...['throughput > 9/s', 'throughput{label="home"} > 9/s']
    ]
    const outcome = await judge(run, lines.join('\n'))
    const [passed, inconclusive] = ['passed', 'inconclusive']
    expect(outcome.judgements.map(({ verdict }) => verdict)).toEqual([
      ...[passed, passed, passed],
      ...[inconclusive, inconclusive]
    ])
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      warnings: [
        "The times in the results of grid g2 are about 1 h ahead of the service's clock: figures of single grids stand, but throughput and charts over all of them do not. Check the clocks of the machines, and that these are not the results of an earlier run."
      ]
    })
    expect(outcome.reason).toContain('the clocks of the grids differ')
    expect(outcome.measurements?.figures({ grid: 'g2' })?.throughput).toBeCloseTo(10, 0)
    expect(outcome.measurements?.series).toBeUndefined()
    expect((await judge(run, 'p95 < 1s')).verdict).toBe('passed')
  })

  test('of one grid is seen without the times of the run, where the grids never ran at the same time', async () => {
    const run = changeGrid(runOf(twoGrids(), NO_TIMES), 1, (each) => shiftGrid(each, HOUR_MS))
    const outcome = await judge(run, 'throughput > 1/s', { createdMs: STARTED_MS })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.warnings[0]).toMatch(/^The first sample of grid g2 starts 1 h after the first of all/)
  })

  test('is not why a grid starts when the others have ended, nor does that leave a silence', async () => {
    const late = rowsOf({ fromMs: STARTED_MS + 5 * MINUTE_MS })
    const run = runOf([grid('g1', rowsOf()), grid('g2', late)], { stoppedMs: STARTED_MS + 6 * MINUTE_MS })
    expect(await judge(run, 'p95 < 1s')).toMatchObject({
      verdict: 'passed',
      warnings: ['The load of grid g2 started 5 min after that of the first one.']
    })
  })

  test('is not why a grid starts late, as long as its rows are within the time of the run', async () => {
    const late = rowsOf({ ...TEN_MINUTES, fromMs: STARTED_MS + 5 * MINUTE_MS })
    const grids = [grid('g1', rowsOf(TEN_MINUTES)), grid('g2', late)]
    const run = runOf(grids, { ...OF_TEN_MINUTES, stoppedMs: STARTED_MS + 16 * MINUTE_MS })
    expect(await judge(run, 'throughput > 1/s')).toMatchObject({
      verdict: 'passed',
      warnings: ['The load of grid g2 started 5 min after that of the first one.']
    })
  })
})

describe('a time zone', () => {
  const local = (ms: number, writeTime: MadeRun['writeTime']): MadeRun => ({
    ...runOf(twoGrids().map((each) => shiftGrid(each, ms))),
    writeTime
  })

  test.each([2 * HOUR_MS, -5 * HOUR_MS, 5.75 * HOUR_MS, -14 * HOUR_MS])(
    'of %d ms in dates without one: a warning',
    async (ms) => {
      const outcome = await judge(local(ms, asZonelessDate), 'throughput > 19/s')
      expect(outcome.verdict).toBe('passed')
      expect(outcome.warnings).toEqual([
        expect.stringMatching(/^The times in the results are .* They are written without a time zone: /)
      ])
    }
  )

  test.each<[string, number, MadeRun['writeTime']]>([
    ['in epoch ms', 2 * HOUR_MS, asEpoch],
    ['in dates with one', 2 * HOUR_MS, (ms) => new Date(ms).toISOString()],
    ['of more than 14 h', 14.25 * HOUR_MS, asZonelessDate],
    ['that is none', 2 * HOUR_MS + 7 * MINUTE_MS, asZonelessDate]
  ])('%s explains nothing', async (_, ms, writeTime) => {
    expect((await judge(local(ms, writeTime), 'p95 < 1s')).reason).toContain('are not from this run')
  })
})

describe('a run that was cut off after 6 of 60 s', () => {
  test.each([
    ['at its planned end', 59_000, {}],
    ['at its planned end, and no times', 59_000, NO_TIMES],
    ['within a minute of its own end', 55_000, { stoppedMs: STARTED_MS + 6_000 }],
    ['before its start', -50_000, { stoppedMs: STARTED_MS + 6_000 }],
    ['an hour later', HOUR_MS, {}]
  ])('is not made whole by a stray row %s', async (_, atMs, times) => {
    const [row] = rowsOf({ fromMs: STARTED_MS + atMs })
    const rows = [...rowsOf({ seconds: 6 }), row!].sort((one, other) => one.startMs - other.startMs)
    expect((await judge(runOf([grid('g1', rows)], times), 'p95 < 1s')).verdict).toBe('inconclusive')
  })

  test('is told by the rows that are its own', async () => {
    const [row] = rowsOf({ fromMs: STARTED_MS + 59_000 })
    const { reason } = await judge(runOf([grid('g1', [...rowsOf({ seconds: 6 }), row!])]), 'p95 < 1s')
    expect(reason).toMatch(/^The samples of grid g1 span 6 s of the 60 s requested/)
  })
})

describe('the same rows', () => {
  test('for both grids are not counted twice', async () => {
    const run = runOf([grid('g1', rowsOf()), grid('g2', rowsOf())])
    expect(await judge(run, 'throughput > 15/s\nthroughput < 15/s')).toMatchObject({
      verdict: 'inconclusive',
      reason:
        'The results of grid g2 begin with the same rows as those of grid g1, and cannot be the results of both. Check where the CSVs come from.'
    })
  })

  test('as those of an earlier run of the step', async () => {
    const earlierResults: NonNullable<JudgeOptions['earlierResults']> = []
    const run = runOf([grid('g1', rowsOf())])
    expect((await judge(run, 'p95 < 1s', { earlierResults })).verdict).toBe('passed')
    const again = { ...run, id: 'run2' }
    expect((await judge(again, 'p95 < 1s', { earlierResults })).reason).toContain(
      'begin with the same rows as those of run run1'
    )
  })

  test.each([
    ['all the same', 9, 'inconclusive'],
    ['the same until the load begins', 8, 'passed']
  ])('in buckets that are %s', async (_, samples, verdict) => {
    const timesMs = Array.from({ length: 40 }, (_, index) => index * 15_000)
    const csvs = new Map([
      ['g1', tidyCsv(timesMs, (index) => (index < 15 ? 0 : 9))],
      ['g2', tidyCsv(timesMs, (index) => (index < 15 ? 0 : samples))]
    ])
    const run = runOf(twoGrids(), { stoppedMs: STARTED_MS + 601_000 })
    expect((await judge(run, 'error_rate < 1%', { csvs })).verdict).toBe(verdict)
  })

  test.each([
    ['after those of the run before it on the same grid', 70_000, 60, 'g1', 'passed'],
    ['and those of the run before it on the same grid', 30_000, 100, 'g1', 'inconclusive'],
    ['at the same time, on another grid', 30_000, 60, 'g2', 'passed']
  ])('are not those of two runs: rows %s', async (_, laterMs, seconds, id, verdict) => {
    const earlierResults: NonNullable<JudgeOptions['earlierResults']> = []
    await judge(runOf([grid('g1', rowsOf())]), '', { earlierResults })
    const fromMs = STARTED_MS + laterMs
    const times = { startedMs: fromMs, stoppedMs: fromMs + seconds * 1000 }
    const next = runOf([grid(id, rowsOf({ fromMs, seconds }))], { id: 'run2', ...times })
    const outcome = await judge(next, 'p95 < 1s', { earlierResults })
    expect(outcome.verdict).toBe(verdict)
    expect(outcome.reason.includes('overlap in time with those of run run1 on the same grid')).toBe(
      verdict === 'inconclusive'
    )
  })

  test('of the same run, collected again, are its own', async () => {
    const earlierResults: NonNullable<JudgeOptions['earlierResults']> = []
    const run = runOf([grid('g1', rowsOf())])
    await judge(run, 'p95 < 1s', { earlierResults })
    expect((await judge(run, 'p95 < 1s', { earlierResults })).verdict).toBe('passed')
  })
})

describe('a link', () => {
  test.each([
    ['/api/runs/other1/result.csv?grid_id=g1', 'other1'],
    ['/api/result.csv?grid_id=g1&run_id=other2', 'other2']
  ])('to %s is not followed', async (href, other) => {
    const run = runOf([grid('g1', rowsOf(), { href })])
    expect(await judge(run, 'p95 < 1s')).toMatchObject({
      verdict: 'inconclusive',
      reason: `The CSV of grid g1 could not be downloaded completely: its link names another run, ${other}, and was not followed`
    })
  })
})

describe('grids and nodes', () => {
  const states = (...nodes: string[]): MadeRun => runOf([grid('g1', rowsOf(), { nodes })])

  test.each<[string, MadeRun, string]>([
    [
      'a grid that failed',
      runOf([grid('g1', rowsOf(), { status: 'Failed' })]),
      'The service says that grid g1 is "Failed".'
    ],
    [
      'a node that was lost',
      states('running', 'lost'),
      'The service says that node 10.0.0.2 of grid g1 is "lost".'
    ],
    [
      '1 of 2 nodes',
      states('running'),
      'The service lists 1 of the 2 nodes of grid g1: the others did not take part.'
    ]
  ])('%s: inconclusive', async (_, run, reason) => {
    expect(await judge(run, 'p95 < 1s')).toMatchObject({ verdict: 'inconclusive', reason })
  })

  test('1 of 2 nodes after the end, when the others may be gone', async () => {
    expect(await judge(states('stopping'), 'p95 < 1s', { isOver: true })).toMatchObject({
      verdict: 'passed',
      warnings: []
    })
  })

  test('a state that nobody knows: a warning', async () => {
    expect(await judge(states('running', 'dozing'), 'p95 < 1s')).toMatchObject({
      verdict: 'passed',
      warnings: [
        'The service says that node 10.0.0.2 of grid g1 is "dozing", which may mean that load is missing.'
      ]
    })
  })

  test('all of them, or none listed any more', async () => {
    for (const run of [states('stopping', 'terminated'), states()])
      expect(await judge(run, 'p95 < 1s')).toMatchObject({ verdict: 'passed', warnings: [] })
  })
})

test('a run as it should be has no warnings', async () => {
  const run = runOf(twoGrids())
  expect(csvOf(run.grids[0]!, run).split('\n')).toHaveLength(602)
  expect(await judge(run, 'throughput > 19/s')).toMatchObject({ verdict: 'passed', warnings: [] })
})
