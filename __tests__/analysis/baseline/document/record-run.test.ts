import { describe, expect, test } from '@jest/globals'
import {
  encodeBaseline,
  decodeBaseline,
  addRun
} from '../../../../src/analysis/baseline/document/baseline-document.js'
import { asComparedRun } from '../../../../src/analysis/baseline/document/compared.js'
import type { RunToRecord } from '../../../../src/analysis/baseline/document/record-run.js'
import { recordRun } from '../../../../src/analysis/baseline/document/record-run.js'
import type { Measurements } from '../../../../src/analysis/results/figures/measurements.js'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import { makeCommit } from '../../../support/baseline/make-recorded.js'
import { makeRandom } from '../../../support/data/seeded-random.js'
import { makeCounted, makeMeasurements, makeSamples } from '../../thresholds/make-evidence.js'

const FACTS: RunToRecord = {
  commit: makeCommit('a1'),
  runId: 'run1',
  atMs: 1_700_000_000_000,
  unusable: undefined,
  fingerprint: { plan: 'a' },
  apdex: { score: 0.87, targetMs: 500 }
}

function record(measurements: Measurements, lines = '', facts: Partial<RunToRecord> = {}) {
  return recordRun({ ...FACTS, ...facts }, measurements, parseThresholds(lines).thresholds)
}

/** As another run will see it. */
function recall(measurements: Measurements, lines = '', facts: Partial<RunToRecord> = {}) {
  const document = addRun(undefined, record(measurements, lines, facts), 'main')
  return asComparedRun(decodeBaseline(encodeBaseline(document)).runs[0]!)
}

/** Times as services have them: most are short, a few are very long. */
function makeTimes(count: number): number[] {
  const random = makeRandom(7)
  return Array.from({ length: count }, () => Math.round(40 * Math.exp(7 * random() ** 4)))
}

const MIXED = makeMeasurements([
  ...makeSamples(makeTimes(400)),
  ...makeSamples(makeTimes(100), { label: 'search', region: 'eu-west-1' }),
  ...makeCounted(50, 20, { label: 'search' })
])

describe('a recorded run', () => {
  test.each([{}, { label: 'checkout' }, { region: 'eu-west-1' }, { label: 'search', region: 'us-east-1' }])(
    'has the figures of %j as they were measured',
    (scope) => {
      const [was, is] = [MIXED.figures(scope)!, recall(MIXED).figures(scope)!]
      expect([is.samples, is.failures, is.errorRate]).toEqual([was.samples, was.failures, was.errorRate])
      expect(is.meanMs).toBeCloseTo(was.meanMs!, 3)
      expect(is.throughput).toBeCloseTo(was.throughput!, 5)
      for (const percent of [50, 75, 90, 95, 99, 99.9]) {
        expect(is.percentileMs(percent)).toBe(was.percentileMs(percent))
      }
      expect(is.apdex(500)).toBeCloseTo(was.apdex(500)!, 6)
    }
  )

  test('has any other percentile within 0.5 %, and Apdex with any other target', () => {
    const times = makeTimes(3000)
    const measured = makeMeasurements(makeSamples(times))
    const [was, is] = [measured.figures({})!, recall(measured).figures({})!]
    const sorted = [...times].sort((a, b) => a - b)
    // Of 3,000 samples, each 0.1 % are three.
    const off = Array.from({ length: 999 }, (_, i) => i + 1)
      .filter((tenths) => ![500, 750, 900, 950, 990, 999].includes(tenths))
      .map((tenths) => Math.abs(is.percentileMs(tenths / 10)! / sorted[3 * tenths - 1]! - 1))
    expect(Math.max(...off)).toBeLessThan(0.005)
    expect(is.apdex(100)).toBeCloseTo(was.apdex(100)!, 6)
    expect(is.apdex(2000)).toBeCloseTo(was.apdex(2000)!, 2)
  })

  test('counts failed samples as frustrated in Apdex', () => {
    const measured = makeMeasurements(makeCounted(10, 4))
    expect(recall(measured).figures({})!.apdex(100)).toBe(0.6)
  })

  test('knows labels, regions and Apdex of the run', () => {
    expect(recall(MIXED)).toMatchObject({
      labels: ['checkout', 'search'],
      regions: ['eu-west-1', 'us-east-1'],
      apdex: { score: 0.87, targetMs: 500 }
    })
    expect(recall(MIXED).figures({ label: 'gone' })).toBeUndefined()
    expect(recall(MIXED).figures({ grid: 'g1' })).toBeUndefined()
    expect(recall(MIXED).figures({ label: 'checkout', region: 'eu-west-1' })).toBeUndefined()
  })

  test('with one region has its labels in that region', () => {
    const compared = recall(makeMeasurements(makeSamples([100, 200])))
    expect(compared.figures({ label: 'checkout', region: 'us-east-1' })!.samples).toBe(2)
    expect(compared.figures({ label: 'checkout', region: 'elsewhere' })).toBeUndefined()
  })

  test('without single response times has no percentiles, and says so by none', () => {
    const changeFigures = {
      percentileMs: () => undefined,
      apdex: () => undefined,
      countTimes: () => undefined,
      throughput: undefined
    }
    const figures = recall(makeMeasurements(makeSamples([100]), { changeFigures }), '', {
      apdex: null
    }).figures({})!
    expect([
      figures.percentileMs(95),
      figures.percentileMs(42),
      figures.apdex(500),
      figures.throughput
    ]).toEqual(Array(4).fill(undefined))
    expect(figures.meanMs).toBe(100)
  })

  test('without samples has no scope', () => {
    expect(record(makeMeasurements([])).scopes).toEqual([])
  })

  test('with a label called __proto__', () => {
    const compared = recall(makeMeasurements(makeSamples([7], { label: '__proto__' })))
    expect(compared.figures({ label: '__proto__' })!.percentileMs(95)).toBe(7)
  })
})

describe('histograms', () => {
  const labels = Array.from({ length: 250 }, (_, i) => `label ${String(i).padStart(3, '0')}`)
  const many = makeMeasurements(
    labels.flatMap((label, i) =>
      makeSamples(
        Array.from({ length: i < 249 ? 2 : 1 }, () => 5),
        { label }
      )
    )
  )
  const detailed = (lines: string): string[] =>
    record(many, lines).scopes.flatMap(({ label, histogram }) =>
      histogram && label !== undefined ? [label] : []
    )

  test('are of the 200 labels with the most samples', () => {
    expect(detailed('')).toEqual(labels.slice(0, 200))
  })

  test('and of those that thresholds name', () => {
    const found = detailed('p97{label="label 249"} < 1s\np95{label="label 24*"} < 1s')
    expect(found).toHaveLength(210)
    expect(found).toEqual(expect.arrayContaining(labels.slice(240)))
  })

  test('of labels without one give no other percentile', () => {
    const figures = recall(many).figures({ label: 'label 249' })!
    expect([figures.percentileMs(95), figures.percentileMs(97), figures.apdex(3)]).toEqual([
      5,
      undefined,
      undefined
    ])
  })
})

test('labels that are too long are left out, the rest is bounded', () => {
  const samples = [
    ...makeSamples([1], { label: 'x'.repeat(2001) }),
    ...makeSamples([1], { label: 'x'.repeat(2000) })
  ]
  const run = record(makeMeasurements(samples), '', { unusable: 'y'.repeat(9999), commit: makeCommit('A1') })
  expect(run.scopes.flatMap(({ label }) => label?.length ?? [])).toEqual([2000])
  expect(run.unusable).toHaveLength(500)
  expect(run.commit).toBe(makeCommit('a1'))
})
