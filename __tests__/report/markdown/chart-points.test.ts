import { describe, expect, test } from '@jest/globals'
import { chartPoints } from '../../../src/report/markdown/charts.js'
import { makeSeries } from '../../support/data/make-series.js'

describe('a run in few points', () => {
  test.each([
    [2, 1000, { length: 2, widthMs: 1000, unit: 'seconds', end: 1 }],
    [60, 1000, { length: 60, widthMs: 1000, unit: 'seconds', end: 59 }],
    [61, 1000, { length: 31, widthMs: 2000, unit: 'seconds', end: 60 }],
    [600, 1000, { length: 60, widthMs: 10_000, unit: 'seconds', end: 590 }],
    [601, 1000, { length: 41, widthMs: 15_000, unit: 'minutes', end: 10 }],
    [600, 2000, { length: 40, widthMs: 30_000, unit: 'minutes', end: 19.5 }],
    [450, 16_000, { length: 30, widthMs: 240_000, unit: 'minutes', end: 116 }],
    [601, 1_024_000, { length: 41, widthMs: 15_360_000, unit: 'minutes', end: 10_240 }]
  ])('%i buckets of %i ms', (points, bucketMs, expected) => {
    const made = chartPoints(makeSeries({ points, bucketMs }))
    expect({ ...made, length: made?.throughput.length }).toMatchObject(expected)
  })

  test.each([
    ['no bucket', 0],
    ['one bucket', 1]
  ])('%s makes no line', (_name, points) => {
    expect(chartPoints(makeSeries({ points }))).toBeUndefined()
  })

  test('old versions of Mermaid, which add up steps, find a place for every point', () => {
    const counts = Array.from({ length: 47 }, (_, index) => 3 + index * 13)
    const misfits = counts.flatMap((points) =>
      [1000, 2000, 4000, 8000, 64_000].filter((bucketMs) => {
        const { end, throughput } = chartPoints(makeSeries({ points, bucketMs }))!
        let places = 0
        for (let at = 0; at <= end; at += end / (throughput.length - 1)) places++
        return places !== throughput.length
      })
    )
    expect(misfits).toEqual([])
  })
})

describe('what a point stands for', () => {
  const points = 120
  const isLast = (index: number): boolean => index === points - 1

  test('throughput is the mean of its buckets, failures their sum', () => {
    const made = chartPoints(
      makeSeries({ points, throughput: (index) => index, failures: (index) => (isLast(index) ? 5 : 1) })
    )!
    expect(made.throughput.slice(0, 2)).toEqual([0.5, 2.5])
    expect(made.failures.at(0)).toBe(2)
    expect(made.failures.at(-1)).toBe(6)
  })

  test('a percentile is the mean of those of its buckets, by samples', () => {
    const made = chartPoints(
      makeSeries({
        points,
        throughput: (index) => (index % 2 === 0 ? 30 : 10),
        p95Ms: (index) => (index % 2 === 0 ? 100 : 500)
      })
    )!
    expect(made.p95Ms?.at(0)).toBe(200)
    expect(made.p50Ms?.at(0)).toBe(100)
    expect(made.hasGaps).toBe(false)
  })

  test('a gap lies on the line between its neighbours, and at the ends on the level of the nearest', () => {
    const p95Ms = [null, 100, null, null, 400, null]
    const made = chartPoints(
      makeSeries({
        points: 6,
        throughput: (index) => (p95Ms[index] === null ? 0 : 1),
        p95Ms: (index) => p95Ms[index] ?? null
      })
    )!
    expect(made.p95Ms).toEqual([100, 100, 200, 300, 400, 400])
    expect(made.hasGaps).toBe(true)
  })

  test('without any percentile there is no line of them', () => {
    expect(chartPoints(makeSeries({ points: 3, p95Ms: () => null }))).toMatchObject({
      p50Ms: undefined,
      p95Ms: undefined
    })
  })
})
