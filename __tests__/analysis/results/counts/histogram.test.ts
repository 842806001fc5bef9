import { describe, expect, test } from '@jest/globals'
import { countAt, Histogram } from '../../../../src/analysis/results/counts/histogram.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

function listRuns(histogram: Histogram, cells: number): [number, number][][] {
  const runs = histogram.toRuns(cells)
  const { offsets, values } = runs
  return Array.from({ length: cells }, (_, cell) =>
    Array.from({ length: offsets[cell + 1]! - offsets[cell]! }, (_run, i): [number, number] => [
      values[offsets[cell]! + i]!,
      countAt(runs, offsets[cell]! + i, offsets[cell]!)
    ])
  )
}

describe('counts', () => {
  test.each([
    ['a small value of an early cell', 0, 7],
    ['a large value of an early cell', 0, 5000],
    ['a value of a late cell', 900, 7]
  ])('of %s may pass what sixteen bits hold', (_, cell, value) => {
    const histogram = new Histogram(16)
    for (let i = 0; i < 200_000; i++) histogram.add(cell, value)
    expect(listRuns(histogram, cell + 1)[cell]).toEqual([[value, 200_000]])
  })

  test('are exact below 2^bits, for any number of cells', () => {
    const random = makeRandom(5)
    const histogram = new Histogram(16)
    const cells = 3000
    const expected = Array.from({ length: cells }, () => new Map<number, number>())
    for (let i = 0; i < 60_000; i++) {
      const cell = Math.floor(random() * cells)
      const value = Math.floor(random() ** 4 * 65_536)
      histogram.add(cell, value)
      expected[cell]!.set(value, (expected[cell]!.get(value) ?? 0) + 1)
    }
    expect(listRuns(histogram, cells)).toEqual(
      expected.map((counts) => [...counts].sort((a, b) => a[0] - b[0]))
    )
  })

  test.each([9, 16])('above 2^%i are within the width of a bucket', (bits) => {
    const histogram = new Histogram(bits)
    const values = Array.from({ length: 31 - bits }, (_, i) => 2 ** (bits + i) + 2 ** (bits + i - 1) + 12_345)
    for (const value of values) histogram.add(0, value)
    const found = listRuns(histogram, 1)[0]!.map(([value]) => value)
    const errors = values.map((value, i) => (value - found[i]!) / value)
    expect(Math.min(...errors)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...errors)).toBeLessThanOrEqual(2 ** (1 - bits))
  })
})
