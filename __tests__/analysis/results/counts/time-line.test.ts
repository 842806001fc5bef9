import { describe, expect, test } from '@jest/globals'
import { MAX_BUCKETS, TimeLine } from '../../../../src/analysis/results/counts/time-line.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const START_MS = 1_700_000_000_000

function makeLine(endsMs: readonly number[]): TimeLine {
  const line = new TimeLine()
  endsMs.forEach((endMs, i) => line.add(endMs, i % 900, i % 2, i % 5))
  return line
}

describe('buckets', () => {
  test('hold what ended in them', () => {
    const line = new TimeLine()
    line.add(START_MS + 999, 5, 0, -1)
    line.add(START_MS + 2000, 7, 1, 3)
    line.add(START_MS, 6, 1, 2)
    line.add(START_MS, -1, 0, 1)
    const { times, ...counts } = line.toScan()
    expect(counts).toEqual({
      bucketMs: 1000,
      buckets: new Float64Array([START_MS / 1000, START_MS / 1000 + 2]),
      samples: new Float64Array([3, 1]),
      failures: new Float64Array([1, 1]),
      threads: new Float64Array([2, 3])
    })
    expect(times).toEqual({
      offsets: new Uint32Array([0, 2, 3]),
      values: new Uint32Array([5, 6, 7]),
      upTo: new Uint32Array([1, 2, 1])
    })
  })

  test.each([
    ['ten minutes', 600, 1000],
    ['a second more than fits', 601, 2000],
    ['an hour', 3600, 8000],
    ['a year', 31_536_000, 65_536_000]
  ])('are never too many: %s', (_, seconds, bucketMs) => {
    const scan = makeLine([START_MS, START_MS + seconds * 1000]).toScan()
    expect(scan.bucketMs).toBe(bucketMs)
    expect(scan.buckets.at(-1)! - scan.buckets[0]!).toBeLessThan(MAX_BUCKETS)
    expect([...scan.samples]).toEqual([1, 1])
  })

  test('do not depend on the order in which samples come', () => {
    const random = makeRandom(9)
    const samples = Array.from({ length: 3000 }, (_, i) => ({
      endMs: START_MS + Math.floor(random() ** 3 * 5_000_000),
      elapsedMs: Math.floor(random() * 100_000),
      threads: i % 7
    }))
    const scans = [samples, samples.toReversed(), samples.toSorted((a, b) => a.endMs - b.endMs)].map(
      (list) => {
        const line = new TimeLine()
        for (const { endMs, elapsedMs, threads } of list) line.add(endMs, elapsedMs, threads % 2, threads)
        return line.toScan()
      }
    )
    expect(scans[1]).toEqual(scans[0])
    expect(scans[2]).toEqual(scans[0])
  })

  test('that were counted elsewhere are added', () => {
    const line = makeLine([START_MS])
    const times = new Int32Array(2304)
    times[0] = 2
    times[2303] = 1
    line.absorb(START_MS, 3, 1, 9, times)
    const scan = line.toScan()
    expect([scan.samples[0], scan.failures[0], scan.threads[0]]).toEqual([4, 1, 9])
    expect([[...scan.times.values], [...(scan.times.upTo ?? [])]]).toEqual([
      [0, 65_408],
      [3, 4]
    ])
  })
})
