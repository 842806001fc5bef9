import { describe, expect, test } from '@jest/globals'
import type { Trend, TrendPoint } from '../../../src/analysis/baseline/build-trend.js'
import {
  axisRange,
  connectedStretches,
  describePlan,
  describePoint,
  describeTrend,
  planTrend,
  renderTrendTable,
  startOfBand,
  writeDates
} from '../../../src/report/page/trend-plan.js'
import type { TrendPlan } from '../../../src/report/page/trend-plan.js'
import { HOSTILE, makeTrend, makeTrendPoint } from '../../support/data/make-outcome.js'

const points = (...changes: Partial<TrendPoint>[]): Trend =>
  makeTrend(changes.length, (index) => changes[index] ?? {})
const p95Of = (trend: Trend): TrendPlan => planTrend(trend)[0]!

describe('the charts', () => {
  test('are p95, throughput and error rate, in their units', () => {
    const plans = planTrend(points({ p95Ms: 300, throughput: 50, errorRate: 0.01 }))
    expect(plans.map(({ title, unit, values }) => [title, unit, values])).toEqual([
      ['p95', 'ms', [300]],
      ['Throughput', '/s', [50]],
      ['Error rate', '%', [1]]
    ])
    expect(plans.map(({ values, write }) => write(values[0]!))).toEqual(['300 ms', '50/s', '1 %'])
    expect(plans[2]?.band).toEqual({ low: 0, centre: 0.2, high: 0.64 })
  })

  test('are only of what some run has', () => {
    const plans = planTrend(
      points({ p95Ms: undefined, errorRate: undefined }, { p95Ms: undefined, errorRate: undefined })
    )
    expect(plans.map(({ title }) => title)).toEqual(['Throughput'])
  })
})

describe('the line', () => {
  test('has a gap where what was run changed, and goes past runs that are not usable', () => {
    const trend = points(
      {},
      { unusable: 'timed out' },
      {},
      { isAfterChange: true },
      {},
      { p95Ms: undefined },
      {}
    )
    expect(connectedStretches(p95Of(trend), trend.points)).toEqual([
      [0, 2],
      [3, 4, 6]
    ])
    expect(startOfBand(trend.points)).toBe(3)
  })

  test('reaches the run that was judged, usable or not', () => {
    const trend = points({}, { unusable: 'ran for a pull request' })
    expect(connectedStretches(p95Of(trend), trend.points)).toEqual([[0, 1]])
    expect(startOfBand(trend.points)).toBe(0)
  })
})

describe('the axis', () => {
  const rangeOf = (trend: Trend): [number, number] => axisRange(p95Of(trend), trend.points)

  test('shows the runs and the band', () => {
    const [low, high] = rangeOf(points({ p95Ms: 300 }, { p95Ms: 400 }))
    expect(low).toBeLessThan(272)
    expect(low).toBeGreaterThan(200)
    expect(high).toBeGreaterThan(400)
    expect(high).toBeLessThan(450)
  })

  test('is not stretched by a run that is not usable', () => {
    const [, high] = rangeOf(points({ p95Ms: 300 }, { p95Ms: 60_000, unusable: 'timed out' }, { p95Ms: 310 }))
    expect(high).toBeLessThan(500)
  })

  test.each([0, 5, 1e9])('of one run of %d ms has a length, and no negative part', (p95Ms) => {
    const trend = makeTrend(1, () => ({ p95Ms }), { bands: {} })
    const [low, high] = rangeOf(trend)
    expect(low).toBeGreaterThanOrEqual(0)
    expect(low).toBeLessThanOrEqual(p95Ms)
    expect(high).toBeGreaterThan(p95Ms)
  })
})

describe('in words', () => {
  test('what the charts show, and nothing that they do not', () => {
    expect(describeTrend(makeTrend(6))).toBe(
      'The last 5 runs of main and this one (◆). Shaded: where the next run is expected.'
    )
    expect(describeTrend(makeTrend(1, () => ({}), { bands: {} }))).toBe(
      'This run; there is no earlier one of main yet.'
    )
    expect(describeTrend(makeTrend(2, () => ({}), { bands: {} }))).toBe(
      'The run before, of main, and this one (◆).'
    )
    expect(describeTrend(makeTrend(1, () => ({ isHead: false }), { bands: {} }))).toBe(
      'The run before, of main.'
    )
    const all = describeTrend(points({}, { unusable: 'timed out' }, { isAfterChange: true }))
    expect(all).toContain('Hollow: runs that are not part of the baseline.')
    expect(all).toContain('Dotted line: what was run changed')
  })

  test('days below a chart, and times where all runs are of one day', () => {
    const at = (...times: string[]) =>
      writeDates(times.map((time) => makeTrendPoint(0, { atMs: Date.parse(time) })))
    expect(at('2026-11-17T23:59Z', '2026-11-18T00:01Z')).toEqual(['Nov 17', 'Nov 18'])
    expect(at('2026-11-18T00:01Z', '2026-11-18T11:19Z')).toEqual(['00:01', '11:19'])
    expect(at('2026-11-18T00:01Z')).toEqual(['Nov 18'])
    expect(writeDates([undefined])).toEqual([''])
  })

  test('a run by time and commit, with what sets it apart', () => {
    expect(describePoint(makeTrendPoint(0))).toBe(`2026-02-01 10:30 UTC · ${makeTrendPoint(0).commit}`)
    const strange = makeTrendPoint(0, {
      atMs: 1e300,
      commit: 'abc',
      unusable: 'timed out',
      isHead: true,
      isAfterChange: true
    })
    expect(describePoint(strange)).toBe(
      'abc · this run; not comparable with the run before; not used: timed out'
    )
  })

  test('a chart for those who do not see it', () => {
    const trend = points({ p95Ms: 300 }, { p95Ms: 386 })
    expect(describePlan(p95Of(trend), trend.points)).toBe(
      'p95 of 2 runs, from 300 ms to 386 ms; this run 386 ms; the next run is expected between 272 ms and 348 ms'
    )
  })
})

test('the table has all runs, the newest first, and nothing of theirs is markup', () => {
  const table = renderTrendTable(
    points({ commit: HOSTILE, runId: HOSTILE, unusable: HOSTILE }, { commit: 'abcdef0' })
  )
  expect(table.match(/<tr>/g)).toHaveLength(3)
  expect(table.indexOf('abcdef0')).toBeLessThan(table.indexOf('onerror'))
  expect(table).not.toMatch(/<img|<\/details|<!--/)
})
