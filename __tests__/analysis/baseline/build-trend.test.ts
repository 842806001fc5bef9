import { describe, expect, test } from '@jest/globals'
import { buildTrend } from '../../../src/analysis/baseline/build-trend.js'
import { makeDocument, makeRun, makeRuns, makeScope } from '../../support/baseline/make-recorded.js'

const NOISE = { noise: 0.05 }
const HEAD = makeRun({ runId: 'head', atMs: 1_800_000_000_000 })

describe('the trend', () => {
  test('has the last thirty runs, and then the head', () => {
    const trend = buildTrend(makeDocument(makeRuns(40)), HEAD, NOISE)!
    expect(trend.branch).toBe('main')
    expect(trend.points.map(({ runId }) => runId)).toEqual([
      ...Array.from({ length: 30 }, (_, i) => `run${i + 10}`),
      'head'
    ])
    expect(trend.points.map(({ isHead }) => isHead).lastIndexOf(false)).toBe(29)
    expect(trend.points.at(-1)).toEqual({
      atMs: HEAD.atMs,
      commit: HEAD.commit,
      runId: 'head',
      unusable: undefined,
      isHead: true,
      isAfterChange: false,
      p95Ms: 200,
      throughput: 50,
      errorRate: 0.01
    })
  })

  test('has the head once, even if it was recorded', () => {
    const trend = buildTrend(makeDocument([...makeRuns(2), HEAD]), HEAD, NOISE)!
    expect(trend.points.map(({ runId }) => runId)).toEqual(['run0', 'run1', 'head'])
  })

  test('says where the fingerprint changed, and which runs cannot be used', () => {
    const runs = makeRuns(4, (i) => ({
      fingerprint: { plan: i < 2 ? 'a' : 'b' },
      unusable: i === 1 ? 'it was cancelled' : null
    }))
    const { points } = buildTrend(makeDocument(runs), undefined, NOISE)!
    expect(points.map(({ isAfterChange }) => isAfterChange)).toEqual([false, false, true, false])
    expect(points.map(({ unusable }) => unusable)).toEqual([
      undefined,
      'it was cancelled',
      undefined,
      undefined
    ])
  })

  test('leaves out figures that a run does not have', () => {
    const runs = makeRuns(2, (i) => ({
      scopes: i === 0 ? [] : [makeScope({ percentilesMs: {}, throughput: null })]
    }))
    const { points, bands } = buildTrend(makeDocument(runs), undefined, NOISE)!
    expect(points.map(({ p95Ms, throughput, errorRate }) => [p95Ms, throughput, errorRate])).toEqual([
      [undefined, undefined, undefined],
      [undefined, undefined, 0.01]
    ])
    expect(Object.keys(bands)).toEqual(['errorRate'])
  })

  test('is nothing without a recorded run', () => {
    expect(buildTrend(undefined, HEAD, NOISE)).toBeUndefined()
    expect(buildTrend(makeDocument([]), HEAD, NOISE)).toBeUndefined()
  })
})

describe('the bands', () => {
  test('lie around the figures of the runs', () => {
    const { bands } = buildTrend(makeDocument(makeRuns(10)), undefined, NOISE)!
    expect(bands.p95Ms!.centre).toBeCloseTo(200, 6)
    expect(bands.p95Ms!.low).toBeLessThan(200)
    expect(bands.p95Ms!.high).toBeGreaterThan(200)
    expect(bands.throughput!.centre).toBeCloseTo(50, 6)
    expect(bands.errorRate!.centre).toBeCloseTo(0.01, 6)
  })

  test('come from usable runs alone, comparable with the head, without the head', () => {
    const slow = [makeScope({ percentilesMs: { '95': 900 } })]
    const runs = makeRuns(9, (i) =>
      i % 3 === 1
        ? { scopes: slow, unusable: 'no' }
        : i % 3 === 2
          ? { scopes: slow, fingerprint: { plan: 'b' } }
          : {}
    )
    const { bands } = buildTrend(makeDocument(runs), { ...HEAD, scopes: slow }, NOISE)!
    expect(bands.p95Ms!.centre).toBeCloseTo(200, 6)
  })

  test('are absent if nothing is comparable', () => {
    expect(buildTrend(makeDocument(makeRuns(3)), { ...HEAD, fingerprint: {} }, NOISE)!.bands).toEqual({})
  })
})
