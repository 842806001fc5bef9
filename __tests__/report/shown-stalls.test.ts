import { afterAll, describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeStalls, placeStalls } from '../../src/report/stalls.js'
import { readResults } from '../../src/analysis/evidence/count-results.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import type { Measurements } from '../../src/analysis/results/figures/measurements.js'
import { mergeRuns } from '../../src/analysis/results/figures/merge.js'
import type { Judgement } from '../../src/analysis/thresholds/judge/judgement.js'
import { createFolders } from '../service/support.js'
import { makeOutcome } from '../support/data/make-outcome.js'
import { scanText } from '../support/data/sample-csv.js'
import {
  makeBrokenOverTime,
  measureStalled,
  STALLED_START_MS,
  writeStalled
} from '../support/stalls/stalled-run.js'
import { makeMeasurements, makeSamples } from '../analysis/thresholds/make-evidence.js'

const FEW = { users: 4, answerMs: 100 }
const folders = createFolders()
afterAll(() => folders.remove())

const told = (measurements: Measurements, judgements: readonly Judgement[] = []): Outcome =>
  makeOutcome({ measurements, judgements })

describe('when nothing was answered', () => {
  test('is said with its length, its time and those who waited', () => {
    expect(describeStalls(told(measureStalled()))).toMatchObject({
      sentence: 'At 0:08 nothing was answered for 4.8 s while 12 users waited.',
      rows: [{ when: '0:08', clock: '2026-03-01 10:00:08 UTC', howLong: '4.8 s', waiting: 12 }],
      others: 0
    })
  })

  test('several times: how often, how long in all, and the longest', () => {
    const stalls = [
      [5000, 1100],
      [9000, 3000],
      [17_000, 2000]
    ] as const
    const found = describeStalls(told(measureStalled({ stalls })))
    expect(found?.sentence).toMatch(
      /^Nothing was answered 3 times, for 6(\.\d)? s in all; the longest time was [23](\.\d)? s at 0:0[89], while 12 users waited\.$/
    )
    expect(found?.rows).toHaveLength(3)
  })

  test('very often: the twenty longest in order of time, and how many more', () => {
    const stalls = Array.from({ length: 30 }, (_, i) => [1000 + i * 1500, 700 + ((i * 7) % 30) * 10] as const)
    const outcome = told(measureStalled({ ...FEW, seconds: 50, stalls }))
    const found = describeStalls(outcome)
    expect(found?.rows).toHaveLength(20)
    expect(found?.others).toBe(10)
    const clocks = found?.rows.map(({ clock }) => clock) ?? []
    expect(clocks).toEqual([...clocks].sort())
    const shortest = Math.min(...(found?.rows ?? []).map(({ howLong }) => parseFloat(howLong)))
    expect(shortest).toBeGreaterThan(750)
    expect(placeStalls(outcome, outcome.measurements)).toHaveLength(30)
  })

  test.each<[string, readonly (readonly [number, number])[]]>([
    ['none', []],
    ['a short one', [[8000, 250]]]
  ])('is not worth a word with %s', (_, stalls) => {
    const measurements = measureStalled({ ...FEW, seconds: 30, stalls })
    expect(describeStalls(told(measurements))).toBeUndefined()
    expect(placeStalls(told(measurements), measurements)).toEqual([])
  })

  test.each<[string, readonly (readonly [number, number])[], readonly Judgement[]]>([
    ['many short ones', Array.from({ length: 10 }, (_, i) => [1000 + i * 2000, 250] as const), []],
    ['a short one that breaks a threshold', [[8000, 250]], [makeBrokenOverTime()]]
  ])('is told with %s', (_, stalls, judgements) => {
    const measurements = measureStalled({ ...FEW, seconds: 30, stalls })
    expect(describeStalls(told(measurements, judgements))?.rows).toHaveLength(stalls.length)
  })

  test('is unknown without a row per sample', () => {
    expect(describeStalls(told(makeMeasurements(makeSamples([100]))))).toBeUndefined()
    expect(describeStalls(makeOutcome())).toBeUndefined()
  })

  test('is where it was on the axis of the charts', () => {
    const measurements = measureStalled()
    const bands = placeStalls(told(measurements), measurements)
    expect(bands.map(([atMs, ms]) => [Math.round(atMs / 100), Math.round((atMs + ms) / 100)])).toEqual([
      [81, 129]
    ])
  })

  test('of several runs has its time on the clock, and no place on their charts', () => {
    const scans = [writeStalled(), writeStalled().replaceAll('17723592', '17723692')].map((csv) => [
      scanText(csv)
    ])
    const measurements = mergeRuns(scans)
    const found = describeStalls(told(measurements))
    expect(found?.rows).toHaveLength(2)
    expect(found?.rows.map(({ when, clock }) => when === clock)).toEqual([true, true])
    expect(placeStalls(told(measurements), measurements)).toEqual([])
  })

  test('is timed from the first sample of the run, its warm-up included', async () => {
    const path = join(folders.create(), 'samples.csv')
    writeFileSync(path, writeStalled())
    const results = await readResults([{ path, grid: 'g', region: 'r' }], { warmUpMs: 5_000 })
    const outcome = makeOutcome({ ...results })
    expect(describeStalls(outcome)?.sentence).toBe(
      'At 0:08 nothing was answered for 4.8 s while 12 users waited.'
    )
    const { startMs = 0 } = results.measurements ?? {}
    expect(startMs).toBeGreaterThanOrEqual(STALLED_START_MS + 5_000)
    const [counted] = placeStalls(outcome, results.measurements)
    const [whole] = placeStalls(outcome, results.warmUp?.whole)
    expect((whole?.[0] ?? 0) - (counted?.[0] ?? 0)).toBe(5_000)
  })
})
