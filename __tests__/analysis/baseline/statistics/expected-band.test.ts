import { expect, test } from '@jest/globals'
import { expectedBand } from '../../../../src/analysis/baseline/build-trend.js'

test('is as wide as what one run is judged by', () => {
  // One run: 4 degrees of freedom, t = 3.746947.
  const reach = Math.exp(3.746947 * 0.05 * Math.SQRT2)
  const band = expectedBand([400], 'time', { noise: 0.05 })!
  expect(band.centre).toBeCloseTo(400, 8)
  expect(band.high).toBeCloseTo(400 * reach, 3)
  expect(band.low).toBeCloseTo(400 / reach, 3)
})

test('follows a step on the branch and narrows with more runs', () => {
  const one = expectedBand([400], 'time', { noise: 0.05 })!
  const many = expectedBand([400, 404, 398, 402, 600, 604, 597, 601, 599], 'time', { noise: 0.05 })!
  expect(many.centre).toBeCloseTo(600.2, 0)
  expect(many.high / many.centre).toBeLessThan(one.high / one.centre)
})

test('keeps throughput upright', () => {
  const band = expectedBand([100, 101, 99], 'throughput', { noise: 0.05 })!
  expect(band.centre).toBeCloseTo(100, 0)
  expect(band.low).toBeLessThan(90)
  expect(band.high).toBeGreaterThan(110)
})

test('stays within possible error rates', () => {
  const few = expectedBand([0, 0, 0.001], 'error_rate', { noise: 0.05, samples: 5000 })!
  expect(few.low).toBe(0)
  expect(few.high).toBeGreaterThan(0.005)
  const all = expectedBand([1], 'error_rate', { noise: 0.05, samples: 10 })!
  expect(all).toMatchObject({ centre: 1, high: 1 })
})

test('is wider for error rates of fewer samples', () => {
  const width = (samples: number) => expectedBand([0.3], 'error_rate', { noise: 0.05, samples })!.high
  expect(width(100)).toBeGreaterThan(width(10_000) + 0.1)
})

test('leaves out what is no figure', () => {
  expect(expectedBand([], 'time', { noise: 0.05 })).toBeUndefined()
  expect(expectedBand([NaN], 'time', { noise: 0.05 })).toBeUndefined()
  expect(expectedBand([NaN, 400], 'time', { noise: 0.05 })?.centre).toBeCloseTo(400, 8)
  expect(expectedBand([0, 0], 'throughput', { noise: 0.05 })).toBeUndefined()
})
