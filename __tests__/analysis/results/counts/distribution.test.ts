import { describe, expect, test } from '@jest/globals'
import { Distribution } from '../../../../src/analysis/results/counts/distribution.js'
import { Histogram } from '../../../../src/analysis/results/counts/histogram.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const PERCENTS = [0.001, 1, 33.3, 50, 90, 95, 99, 99.9, 99.999, 100]

describe('a distribution is that of all samples of its runs', () => {
  // More than eight are summed up once, fewer are searched as they are.
  test.each([0, 1, 2, 3, 8, 9, 40])('%i runs', (size) => {
    const random = makeRandom(size)
    for (const most of [1, 40, 3000, 60_000, 400_000]) {
      const all: number[] = []
      const runs = Array.from({ length: size }, () => {
        const histogram = new Histogram(22)
        const [least, samples] = [Math.floor(random() * most), Math.floor(random() ** 3 * 500)]
        for (let i = 0; i < samples; i++) {
          const value = least + Math.floor(random() * most)
          all.push(value)
          histogram.add(1, value)
        }
        return { runs: histogram.toRuns(3), index: 1 }
      })
      all.sort((one, other) => one - other)
      const found = new Distribution(runs)
      expect(found.total).toBe(all.length)
      for (const percent of PERCENTS) {
        // In whole numbers, where no product is slightly off.
        const rank = Math.ceil((Math.round(percent * 1000) * all.length) / 100_000)
        expect(found.percentile(percent)).toBe(all[rank - 1])
      }
      for (const value of [-1, 0, 1.5, most / 2, most, most * 2, Infinity])
        expect(found.countUpTo(value)).toBe(all.filter((each) => each <= value).length)
      const { values, counts } = found.toCounts()
      expect(values.flatMap((value, i) => new Array<number>(counts[i]!).fill(value))).toEqual(all)
    }
  })
})
