import { describe, expect, test } from '@jest/globals'
import { renderJUnit } from '../../src/report/junit.js'
import { describeStalls, stallsDocument } from '../../src/report/stalls.js'
import { terminalLines } from '../../src/cli/outcome-text.js'
import { metricsOutput, thresholdsOutput, verdictDocument } from '../../src/report/verdict-document.js'
import type { OverTimeFigure } from '../../src/analysis/thresholds/judge/judgement.js'
import { makeBroken, makeOutcome } from '../support/data/make-outcome.js'
import { csvOf, measure } from '../support/stalls/closed-loop.js'
import { makeMeasurements, makeSamples } from '../analysis/thresholds/make-evidence.js'

const SENTENCE = 'At 0:08 nothing was answered for 5 s while 12 users waited.'
const STALLED = measure(csvOf({ stalls: [[8000, 5000]] }))
const OVER_TIME: OverTimeFigure = {
  value: 4600,
  bySamples: 174,
  effect: 'fails',
  longest: { startMs: 8000, ms: 4800, waiting: 12 }
}

describe('one stall', () => {
  const outcome = makeOutcome({ measurements: STALLED, judgements: [makeBroken({ overTime: OVER_TIME })] })

  test('is one line of the terminal, and of JUnit', () => {
    const { stalls, rows } = terminalLines(outcome)
    expect(stalls).toEqual([SENTENCE])
    expect(rows[0]?.[2]).toBe('at least 4.6 s over time, 174 ms by samples')
    expect(renderJUnit(outcome)).toContain(SENTENCE)
  })

  test('is in verdict.json, with both figures of each line and of the run', () => {
    const { stalls, thresholds, metrics } = verdictDocument(outcome)
    expect(stalls).toMatchObject({ count: 1, longest: [{ waiting: 12 }] })
    expect(stalls?.longest[0]?.atMs).toBeGreaterThan(7900)
    expect(stalls?.longest[0]?.atMs).toBeLessThan(8100)
    expect(thresholds[0]).toMatchObject({ over_time: 4600, by_samples: 174, stall_effect: 'fails' })
    expect(metrics.overall?.over_time).toMatchObject({ median: 0, p99: 4764 })
    expect(metrics.labels[0]).not.toHaveProperty('over_time')
  })

  test('is in the outputs', () => {
    expect(JSON.parse(thresholdsOutput(outcome.judgements))).toMatchObject([
      { over_time: 4600, by_samples: 174 }
    ])
    expect(JSON.parse(metricsOutput(STALLED, 500))).toMatchObject({ overall: { over_time: { p99: 4764 } } })
  })
})

test('of many, the twenty longest are listed in order of time, and the longest is told', () => {
  const stalls = Array.from({ length: 30 }, (_, i): [number, number] => [i * 2500 + 500, 500 + 50 * i])
  const measurements = measure(csvOf({ seconds: 80, thinkMs: 20, stalls }))
  const found = stallsDocument({ measurements })
  expect(found?.count).toBe(30)
  expect(found?.longest).toHaveLength(20)
  const times = found?.longest.map(({ atMs }) => atMs)
  expect(times).toEqual(times?.toSorted((one, other) => one - other))
  expect(times?.[0]).toBeGreaterThan(15_000)
  expect(describeStalls({ measurements, judgements: [] })?.sentence).toMatch(
    /^Nothing was answered 30 times, for 38\.8 s in all; the longest time was 2 s at 1:10, while 12 users waited\.$/
  )
})

test.each([
  ['no stalls', measure(csvOf()), { count: 0, longest: [] }],
  ['stalls that nobody knows', makeMeasurements(makeSamples([100])), null],
  ['no results', undefined, null]
])('%s are not told', (_, measurements, document) => {
  const outcome = makeOutcome({ measurements })
  expect(terminalLines(outcome).stalls).toEqual([])
  expect(verdictDocument(outcome).stalls).toEqual(document)
})
