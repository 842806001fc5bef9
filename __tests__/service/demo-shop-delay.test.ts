import { expect, test } from '@jest/globals'
import { comparedDelayMs } from '../../src/service/demo-shop.js'

/** The same numbers each time. */
function makeRandom(): () => number {
  let state = 42
  return () => (state = (state * 48271) % 2147483647) / 2147483647
}

function draw(slowerBy: number): number[] {
  const random = makeRandom()
  return Array.from({ length: 20_000 }, () => comparedDelayMs(10, slowerBy, random))
}

const meanOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length

test('times vary from request to request, by about a fifth', () => {
  const logs = draw(0).map(Math.log)
  const centre = meanOf(logs)
  expect(Math.exp(centre)).toBeCloseTo(200, -1)
  expect(Math.sqrt(meanOf(logs.map((log) => (log - centre) ** 2)))).toBeCloseTo(0.2, 2)
})

test.each([0.2, 0.05, 0])('a share of %d makes every time longer by it', (share) => {
  const plain = draw(0)
  const slower = draw(share)
  expect(Math.max(...slower.map((ms, at) => Math.abs(ms / plain[at]! - 1 - share)))).toBeLessThan(1e-12)
})

test('the extremes of the random numbers give a time too', () => {
  const times = [0, 0.5, 1 - 2 ** -53].map((number) => comparedDelayMs(10, 0, () => number))
  expect(times.every((ms) => Number.isFinite(ms) && ms > 0)).toBe(true)
})
