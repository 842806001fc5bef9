import { describe, expect, test } from '@jest/globals'
import { ThreadProfile } from '../../../src/service/samples/merge-samples.js'

describe('the threads of a node over time', () => {
  test('are the most of each second, and the last known in between', () => {
    const profile = new ThreadProfile()
    for (const [atMs, threads] of [
      [5000, 2],
      [5999, 4],
      [5500, 3],
      [9000, 7]
    ] as const)
      profile.add(atMs, threads)
    const seen = [0, 4999, 5000, 5999, 6000, 8999, 9000, 9999, 10_000].map((atMs) => profile.at(atMs))
    expect(seen).toEqual([0, 0, 4, 4, 4, 4, 7, 7, 0])
  })

  test('of a node without samples are none', () => {
    expect(new ThreadProfile().at(1000)).toBe(0)
  })

  test('may be asked for and added to in turns', () => {
    const profile = new ThreadProfile()
    profile.add(1000, 1)
    expect(profile.at(2000)).toBe(0)
    profile.add(3000, 2)
    expect(profile.at(2000)).toBe(1)
  })
})
