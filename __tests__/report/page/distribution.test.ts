import { describe, expect, test } from '@jest/globals'
import {
  makeEdges,
  makeHistogram,
  makeSpark,
  makeZones,
  writeShares
} from '../../../src/report/page/distribution.js'
import type { Figures } from '../../../src/analysis/results/figures/measurements.js'
import { measure } from '../../support/data/sample-csv.js'
import { makeRandom } from '../../support/data/seeded-random.js'

function figuresOf(times: readonly number[], failedCount = 0): Figures {
  const rows = times.map((ms, i) => `${1_700_000_000_000 + i},${ms},a,${i >= failedCount}`)
  return measure(['timeStamp,elapsed,label,success', ...rows, ''].join('\n')).figures({})!
}

const random = makeRandom(7)
const spread = Array.from({ length: 3_001 }, () => Math.round(5 * Math.exp(random() * 6)))

describe('a histogram', () => {
  test.each<[string, readonly number[]]>([
    ['widely spread times', spread],
    ['times of a few ms', [0, 0, 1, 1, 2, 3, 3, 3]],
    ['one time', [250]],
    ['zero alone', [0, 0]]
  ])('of %s counts every sample in the bin where it belongs', (_, times) => {
    const figures = figuresOf(times)
    const edges = makeEdges(figures.minMs!, figures.maxMs!)
    const { shares } = makeHistogram(figures, edges)!
    const counts = edges
      .slice(1)
      .map((edge, i) => times.filter((ms) => ms <= edge && (i === 0 || ms > edges[i]!)).length)
    shares.forEach((share, i) => expect(share).toBeCloseTo(counts[i]! / times.length, 4))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(times.length)
  })

  test('has rising edges at whole milliseconds', () => {
    const edges = makeEdges(3, 9_000)
    expect(edges[0]).toBe(2)
    expect(edges.at(-1)).toBe(9_000)
    expect(edges.every((edge, i) => Number.isInteger(edge) && (i === 0 || edge > edges[i - 1]!))).toBe(true)
  })

  test('does not exist without individual times', () => {
    const tidy = measure(
      'Time,Measurement,Label,Account,Run,Project,Grid,Region,Value\n1493022120000,passed,__all,1,2,3,4,r,10\n'
    ).figures({})!
    expect(makeHistogram(tidy, [1, 2])).toBeUndefined()
    expect(makeZones(tidy, 100)).toBeUndefined()
    expect(makeSpark(tidy, [1, 100])).toBe('')
  })
})

describe('the zones of the apdex', () => {
  test('include their limits', () => {
    const times = [99, 100, 101, 400, 401, 5_000, 6_000, 7_000]
    expect(makeZones(figuresOf(times), 100)).toEqual({
      ...{ targetMs: 100, satisfied: 2 / 8, tolerated: 2 / 8, frustrated: 4 / 8, failed: 0 }
    })
  })

  test('count a failed sample once, as failed, and agree with the apdex', () => {
    // The first two failed, one fast and one slow.
    const figures = figuresOf([10, 900, 20, 30, 40, 300, 350, 2_000], 2)
    const zones = makeZones(figures, 100)!
    expect(zones).toEqual({
      ...{ targetMs: 100, satisfied: 3 / 8, tolerated: 2 / 8, frustrated: 1 / 8, failed: 2 / 8 }
    })
    expect(zones.satisfied + zones.tolerated / 2).toBe(figures.apdex(100))
  })

  test.each<[readonly number[], readonly string[]]>([
    [
      [0.748, 0, 0, 0.252],
      ['74.8 %', '0 %', '0 %', '25.2 %']
    ],
    [
      [1 / 3, 1 / 3, 1 / 3, 0],
      ['33.4 %', '33.3 %', '33.3 %', '0 %']
    ],
    [
      [0.99999, 0, 0, 0.00001],
      ['99.9 %', '0 %', '0 %', '< 0.1 %']
    ],
    [
      [0, 0, 0, 1],
      ['0 %', '0 %', '0 %', '100 %']
    ]
  ])('%j are written as %j, which add up to 100 %%', (shares, written) => {
    expect(writeShares(shares)).toEqual(written)
    const numbers = written.map((text) => parseFloat(text.replace('<', '')))
    expect(numbers.reduce((sum, part) => sum + part, 0)).toBeCloseTo(100, 9)
  })
})

describe('a spark', () => {
  test('is tallest where the samples are', () => {
    expect(makeSpark(figuresOf([10, 10, 10, 10]), [10, 1_000])).toMatch(/^950{22}$/)
    expect(makeSpark(figuresOf([1_000, 1_000]), [10, 1_000])).toMatch(/^0{22}59$/)
    expect(makeSpark(figuresOf([10, 1_000]), [10, 1_000])).toMatch(/^950{20}59$/)
  })

  test('is there for times that are all the same', () => {
    expect(makeSpark(figuresOf([0, 0]), [0, 0])).toMatch(/^\d{24}$/)
    expect(makeSpark(figuresOf([7]), [7, 7])).toMatch(/^\d{24}$/)
  })
})
