import { describe, expect, test } from '@jest/globals'
import {
  compareRecorded,
  describeBase,
  differenceVariance
} from '../../../../src/analysis/baseline/statistics/evidence-of-change.js'

describe('the spread from run to run', () => {
  test('is half the mean square of successive differences', () => {
    // d = 0.02, -0.01, 0.03
    expect(differenceVariance([0, 0.02, 0.01, 0.04])).toBeCloseTo((0.0004 + 0.0001 + 0.0009) / 3 / 2, 12)
  })

  test('is unknown with one run', () => {
    expect(differenceVariance([5])).toBe(0)
  })

  test('cuts what stands out from six runs on', () => {
    // |d| = 0.01, 0.01, 0.01, 0.01, 1: the median is 0.01.
    const cut = 3 * 1.4826 * 0.01
    expect(differenceVariance([0, 0.01, 0, 0.01, 0, 1])).toBeCloseTo((4 * 0.0001 + cut ** 2) / 5 / 2, 12)
    expect(differenceVariance([0, 0.01, 0, -0.01, 0, -1])).toBeCloseTo((4 * 0.0001 + cut ** 2) / 5 / 2, 12)
  })

  test('takes the mean of the two in the middle as the median of an even number', () => {
    // |d| = 0.01, 0.01, 0.01, 0.03, 0.03, 1: the median is 0.02.
    const cut = 3 * 1.4826 * 0.02
    const squares = 3 * 0.0001 + 2 * 0.0009 + cut ** 2
    expect(differenceVariance([0, 0.01, 0, 0.01, 0.04, 0.01, 1.01])).toBeCloseTo(squares / 6 / 2, 12)
  })

  test('does not cut with five runs', () => {
    expect(differenceVariance([0, 0.01, 0, 0.01, 1.01])).toBeCloseTo((3 * 0.0001 + 1) / 4 / 2, 12)
  })

  test('counts a step on the branch once', () => {
    const stepped = [0, 0.01, 0, 0.01, 0, 0.15, 0.16, 0.15, 0.16, 0.15]
    // The plain variance of these is 0.0063.
    expect(differenceVariance(stepped)).toBeLessThan(0.0002)
  })

  test('is assumed for as much as four runs', () => {
    const { spread, dof } = describeBase([0, 0.02, 0.01, 0.04], 0.05)
    expect(spread ** 2).toBeCloseTo((4 * 0.0025 + 3 * (0.0014 / 6)) / 7, 12)
    expect(dof).toBe(7)
    expect(describeBase([0.3], 0.05)).toMatchObject({ spread: 0.05, dof: 4, centreRuns: 1, centre: 0.3 })
  })
})

describe('the centre', () => {
  test.each([
    ['takes five of many runs', [9, 9, 0, 0, 0, 0, 0], 5, 0],
    ['takes all of a few', [0, 0.01, 0.02], 3, 0.01],
    ['ends before a step', [0, 0, 0, 0, 0, 0.3, 0.31], 2, 0.305],
    ['is the newest run right after a step', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.3], 1, 0.3],
    ['ends before a run that was off', [0, 0, 0, 0, 0.4, 0, 0, 0], 3, 0]
  ])('%s', (_, base, runs, centre) => {
    const described = describeBase(base, 0.05)
    expect(described.centreRuns).toBe(runs)
    expect(described.centre).toBeCloseTo(centre, 12)
  })

  test('goes back as far as one and a half deviations of the difference', () => {
    // With s from the prior alone: d = 0 until the oldest, which is at the edge.
    const at = (distance: number) => describeBase([distance, 0], 0.05).centreRuns
    // s² = (4 · 0.0025 + d²/2) / 5 and 1.5 · s · √2 meet at d ≈ 0.1124.
    const edge = Math.sqrt((4.5 * 4 * 0.0025) / 5 / (1 - 4.5 / 10))
    expect(at(edge - 1e-6)).toBe(2)
    expect(at(edge + 1e-6)).toBe(1)
  })
})

describe('compareRecorded', () => {
  test('compares with one run', () => {
    const change = compareRecorded({ base: [6], head: [6.2], sigma0: 0.05 })
    const se = 0.05 * Math.SQRT2
    expect(change.delta).toBeCloseTo(0.2, 12)
    expect(change.se).toBeCloseTo(se, 12)
    expect(change.dof).toBe(4)
    // t = 2.828427 with 4 degrees of freedom
    expect(change.p).toBeCloseTo(0.0237, 4)
    expect(change.interval[0]).toBeCloseTo(0.2 - 3.746947 * se, 6)
    expect(change.interval[1]).toBeCloseTo(0.2 + 3.746947 * se, 6)
    expect(change.resolution).toBeCloseTo((3.746947 + 1.28) * se, 6)
  })

  test('weighs confirming runs and the runs of the centre', () => {
    const base = [0, 0.02, 0.01, 0.04]
    const change = compareRecorded({ base, head: [0.1, 0.2, 0.3], sigma0: 0.05 })
    const { spread, centre, centreRuns } = describeBase(base, 0.05)
    expect(centreRuns).toBe(4)
    expect(change.delta).toBeCloseTo(0.2 - centre, 12)
    expect(change.se).toBeCloseTo(spread * Math.sqrt(1 / 3 + 1 / 4), 12)
    expect(change.dof).toBe(7)
  })

  test('is sure where nothing varies', () => {
    const compare = (head: number) => compareRecorded({ base: [1, 1], head: [head], sigma0: 0 }).p
    expect([compare(1.1), compare(1), compare(0.9)]).toEqual([0, 0.5, 1])
  })
})

describe('a step that no second run confirms', () => {
  const compare = (base: readonly number[]) => compareRecorded({ base, head: [0.4], sigma0: 0.05 })
  const nine = [0, 0.01, 0, 0.01, 0, 0.01, 0, 0.01, 0]

  test('is compared without the newest run too', () => {
    const { before, ...change } = compare([...nine, 0.4])
    expect(change).toMatchObject({ centre: 0.4, centreRuns: 1, delta: 0 })
    expect(before).toEqual(compare(nine))
    expect(before?.centreRuns).toBe(5)
  })

  test.each([
    ['a second run confirms it', [...nine, 0.4, 0.41]],
    ['it is one to the better', [...nine, -0.4]],
    ['there are two runs', [0, 0.9]],
    ['there is no step', nine]
  ])('unless %s', (_, base) => {
    expect(compare(base).before).toBeUndefined()
  })
})
