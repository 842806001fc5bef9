import { describe, expect, test } from '@jest/globals'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { Random } from '../../../support/baseline/random.js'
import { judgeRuns, PROMISED, tallyCells } from '../../../support/stalls/judge-cells.js'
import { percentileOf, runClosed, runOpen, type Scenario } from '../../../support/stalls/simulate.js'
import { writeRows } from '../../../support/stalls/write-rows.js'
import { slice } from '../../../support/slice.js'

describe('lines judged by the worse of both figures', () => {
  const tally = tallyCells(judgeRuns(5, slice(40, 400)))

  test('break for nothing as seldom as promised', () => {
    expect(tally.holding).toBeGreaterThan(60)
    // One of a few may be chance.
    expect(tally.falseAlarms).toBeLessThanOrEqual(Math.max(1, PROMISED.falseAlarms * tally.holding))
  })

  test('miss no more than promised of what users would have felt', () => {
    expect(tally.broken).toBeGreaterThan(30)
    expect(tally.missed / tally.broken).toBeLessThanOrEqual(PROMISED.missed)
    expect(tally.missed).toBeLessThan(tally.missedBySamples)
  })

  test('are judged by samples where no server stood still', () => {
    expect(tally.unstalled).toBeGreaterThan(20)
    expect(tally.aboveSamplesAlone).toBe(0)
  })
})

/** 12 users without a pause, and a server that stands still for 5 of 25 s. */
const STANDSTILL: Scenario = {
  server: { workers: 16, spread: 0.18, slowShare: 0, stalls: [{ fromMs: 8000, toMs: 13_000 }] },
  plan: {
    ...{ users: 12, pollingUsers: 0, thinkMs: 0, spanMs: 25_000, rampUpMs: 0, rampDownMs: 0, grids: 1 },
    kinds: [{ label: 'home', meanMs: 115, isPoll: false }]
  }
}

describe('a server that stands still for 5 of 25 s', () => {
  const closed = runClosed(STANDSTILL, new Random(1))
  const scanner = new ByteScanner({ grid: 'g', region: 'r' })
  scanner.push(Buffer.from(writeRows(closed.grids[0]!.samples, 12)))
  const figures = mergeScans([scanner.end()]).figures({})!
  const overTime = figures.overTime()

  test('costs one slow sample per user', () => {
    expect(figures.samples).toBeGreaterThan(2000)
    expect(figures.samples).toBeLessThan(2150)
    expect(figures.percentileMs(99)).toBeLessThan(200)
  })

  test('is one stall in which all of them waited', () => {
    expect(overTime).toMatchObject({ stalls: [{ waiting: 12 }] })
    expect(overTime).toHaveProperty('stalls.0.ms', expect.closeTo(5000, -2))
  })

  test('shows over time', () => {
    const [p99, p95] = [99, 95].map((percent) =>
      typeof overTime === 'object' ? overTime.percentileMs(percent) : NaN
    )
    expect(p99).toBeGreaterThan(4500)
    expect(p95).toBeGreaterThan(3500)
    // An open load of the same rate has waited at least as long.
    const open = runOpen(STANDSTILL, closed, new Random(2))
    expect(percentileOf(open, 95)).toBeGreaterThan(p95!)
    expect(percentileOf(open, 95)).toBeLessThan(5000)
    expect(percentileOf(open, 99)).toBeGreaterThan(p99!)
  })
})
