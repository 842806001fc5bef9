import { describe, expect, test } from '@jest/globals'
import type { Figures, Measurements } from '../../../../src/analysis/results/figures/measurements.js'
import { parseAbsolute } from '../../../support/data/parse-absolute.js'
import { judgeThresholds } from '../../../../src/analysis/thresholds/judge/judge.js'
import { type Evidence } from '../../../../src/analysis/thresholds/judge/evidence.js'
import { type Judgement } from '../../../../src/analysis/thresholds/judge/judgement.js'
import {
  makeCounted,
  makeEvidence,
  makeFigures,
  makeMeasurements,
  makeSamples,
  makeSource,
  type MeasurementChanges,
  type Sample
} from '../make-evidence.js'
import { startCpuTimer } from '../../../support/cpu-time.js'

function judge(line: string, evidence: Evidence): Judgement {
  const { thresholds, problems } = parseAbsolute(line)
  expect(problems).toEqual([])
  return judgeThresholds(thresholds, evidence)[0]!
}

function judgeSamples(line: string, samples: readonly Sample[], changes: MeasurementChanges = {}): Judgement {
  return judge(line, makeEvidence({ measurements: makeMeasurements(samples, changes) }))
}

const NO_SAMPLES = makeMeasurements([])
const EVERY_METRIC = [
  'apdex{label="*"} >= 0',
  'error_rate <= 100%',
  'throughput >= 0/s',
  'mean >= 0ms',
  'median >= 0ms',
  'p99.9 >= 0ms',
  'min >= 0ms',
  'max >= 0ms',
  'samples >= 0',
  'failures >= 0',
  'concurrency >= 0'
]

describe('every metric, overall', () => {
  // 100, 200, … 1000 ms, two of ten failed, over 10 s
  const samples = makeSamples([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]).map((sample, index) => ({
    ...sample,
    isFailed: index < 2
  }))
  test.each<[string, Judgement['verdict'], number]>([
    ['error_rate <= 20%', 'passed', 0.2],
    ['error_rate < 20%', 'failed', 0.2],
    ['throughput >= 1/s', 'passed', 1],
    ['throughput > 60/min', 'failed', 1],
    ['mean == 550ms', 'passed', 550],
    ['mean < 0.55s', 'failed', 550],
    ['median <= 500ms', 'passed', 500],
    ['median < 500ms', 'failed', 500],
    ['p90 <= 900ms', 'passed', 900],
    ['p95 < 1s', 'failed', 1000],
    ['p91 <= 900ms', 'failed', 1000],
    ['p99.9 <= 1s', 'passed', 1000],
    ['min >= 100ms', 'passed', 100],
    ['max <= 999ms', 'failed', 1000],
    ['samples == 10', 'passed', 10],
    ['samples > 10', 'failed', 10],
    ['failures < 3', 'passed', 2],
    ['failures == 0', 'failed', 2],
    ['concurrency <= 7', 'passed', 7],
    ['apdex >= 0.6', 'passed', 0.6],
    ['apdex > 0.6', 'failed', 0.6]
  ])('%s: %s with %d', (line, verdict, actual) => {
    const apdex = { score: 0.6, targetMs: 500 }
    const judgement = judge(line, makeEvidence({ apdex, measurements: makeMeasurements(samples) }))
    expect(judgement).toMatchObject({ verdict, actual, scopesChecked: 1 })
    expect(judgement).not.toHaveProperty('scope')
  })
})

describe('reason and margin', () => {
  test.each<[string, number, string, number | undefined]>([
    ['p95 < 800ms', 1240, 'p95 is 1,240 ms, must be < 800 ms: 55 % over', -0.55],
    ['p95 < 800ms', 600, 'p95 is 600 ms, must be < 800 ms: 25 % below the limit', 0.25],
    ['p95 < 800ms', 800, 'p95 is 800 ms, must be < 800 ms: exactly at the limit', 0],
    ['p95 <= 800ms', 800.4, 'p95 is 800.4 ms, must be <= 800 ms: 0.05 % over', -0.0005],
    ['min >= 100ms', 50, 'min is 50 ms, must be >= 100 ms: 50 % short', -0.5],
    ['max == 100ms', 150, 'max is 150 ms, must be == 100 ms: 50 % above the required value', -0.5],
    ['p95 <= 0ms', 5, 'p95 is 5 ms, must be <= 0 ms: 5 ms over', undefined],
    ['failures <= 0', 5, 'failures is 0, must be <= 0: exactly at the limit', 0]
  ])('%s with %d ms', (line, elapsedMs, reason, margin) => {
    const judgement = judgeSamples(line, makeSamples([elapsedMs]))
    expect(judgement.reason).toBe(reason)
    // Infinity stands for "no margin", which toBeCloseTo cannot take.
    expect(judgement.margin ?? Infinity).toBeCloseTo(margin ?? Infinity, 10)
  })
  test('one failure in a hundred is 1 %', () => {
    expect(judgeSamples('error_rate == 1%', makeCounted(100, 1)).verdict).toBe('passed')
    expect(judgeSamples('error_rate < 1%', makeCounted(100, 1)).verdict).toBe('failed')
    expect(judgeSamples('error_rate <= 0.7%', makeCounted(1000, 7)).verdict).toBe('passed')
    expect(judgeSamples('error_rate <= 0.7%', makeCounted(1000, 8)).verdict).toBe('failed')
  })
  test('warn lines are judged alike', () => {
    const judgement = judgeSamples('warn: p95 < 800ms', makeSamples([1240]))
    expect(judgement).toMatchObject({ verdict: 'failed', threshold: { level: 'warn' } })
  })
  test('each threshold is judged, in order, whatever the others say', () => {
    const { thresholds } = parseAbsolute('p95 < 1ms\np95{label="x"} < 1s\nsamples > 1\nwarn: mean < 1s')
    const verdicts = judgeThresholds(thresholds, makeEvidence()).map(({ verdict }) => verdict)
    expect(verdicts).toEqual(['failed', 'inconclusive', 'passed', 'passed'])
  })
})

describe('apdex', () => {
  test.each<[string, Partial<Evidence>, Judgement['verdict'], string]>([
    ['the service has none', { apdex: undefined }, 'inconclusive', 'apdex is unknown: the service gave none'],
    [
      'the reason is known',
      { apdex: undefined, apdexProblem: 'the apdex is "n/a"' },
      'inconclusive',
      'apdex is unknown: the apdex is "n/a"'
    ],
    [
      'not a number',
      { apdex: { score: NaN, targetMs: 500 } },
      'inconclusive',
      'apdex is unknown: the service gave NaN, which is not a valid apdex'
    ],
    [
      'out of range',
      { apdex: { score: 85, targetMs: 500 } },
      'inconclusive',
      'apdex is unknown: the service gave 85, which is not a valid apdex'
    ],
    [
      'no CSVs are needed',
      { measurements: undefined, measurementsProblem: 'none arrived' },
      'passed',
      'apdex is 0.9, must be >= 0.85: 5.9 % above the limit'
    ],
    [
      'CSVs of an unknown shape do not matter',
      { measurements: makeMeasurements([], { sources: [makeSource({ shape: 'unknown' })] }) },
      'passed',
      'apdex is 0.9, must be >= 0.85: 5.9 % above the limit'
    ],
    [
      'an apdex of no samples is not believed',
      { measurements: NO_SAMPLES },
      'inconclusive',
      'apdex is unknown: the service gave one, but there are no samples in the CSVs'
    ],
    [
      'no target is needed',
      { apdex: { score: 0.8, targetMs: undefined } },
      'failed',
      'apdex is 0.8, must be >= 0.85: 5.9 % short'
    ]
  ])('without a selector: %s', (_, changes, verdict, reason) => {
    expect(judge('apdex >= 0.85', makeEvidence(changes))).toMatchObject({ verdict, reason })
  })

  test('with a selector it is computed with the target', () => {
    // satisfied, tolerated, frustrated, failed
    const samples = makeSamples([500, 2000, 2001, 100]).map((sample, index) => ({
      ...sample,
      isFailed: index === 3
    }))
    const evidence = makeEvidence({ measurements: makeMeasurements(samples) })
    expect(judge('apdex{label="checkout"} >= 0.85', evidence)).toMatchObject({
      verdict: 'failed',
      actual: 0.375,
      scope: { label: 'checkout' }
    })
  })
  test.each<[string, Evidence['apdex']]>([
    ['no apdex', undefined],
    ['no target', { score: 0.9, targetMs: undefined }],
    ['target 0', { score: 0.9, targetMs: 0 }],
    ['target NaN', { score: 0.9, targetMs: NaN }],
    ['target Infinity', { score: 0.9, targetMs: Infinity }]
  ])('with a selector and %s it is inconclusive', (_, apdex) => {
    expect(judge('apdex{label="*"} >= 0.1', makeEvidence({ apdex }))).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      reason:
        "apdex of checkout is unknown: the target is unknown: it is the number in brackets in the service's apdex"
    })
  })
})

describe('selectors', () => {
  const samples = [
    ...makeSamples([100, 900], { label: 'checkout', region: 'us-east-1', grid: 'g1' }),
    ...makeSamples([200], { label: 'GET /cart', region: 'us-east-1', grid: 'g2' }),
    ...makeSamples([300], { label: 'GET /cart', region: 'us-west-2', grid: 'g3' }),
    ...makeSamples([1240], { label: 'pay', region: 'eu-west-1', grid: 'g4' })
  ]
  test.each<[string, Judgement['verdict'], number, object, number, string]>([
    [
      'p95{label="checkout"} < 800ms',
      'failed',
      900,
      { label: 'checkout' },
      1,
      'p95 of checkout is 900 ms, must be < 800 ms: 13 % over'
    ],
    [
      'p95{label="*"} < 800ms',
      'failed',
      1240,
      { label: 'pay' },
      3,
      'p95 of pay is 1,240 ms, must be < 800 ms: 55 % over; broken in 2 of 3 scopes'
    ],
    [
      'p95{label="*"} < 2s',
      'passed',
      1240,
      { label: 'pay' },
      3,
      'p95 of pay is 1,240 ms, must be < 2,000 ms: 38 % below the limit; the closest of 3 scopes'
    ],
    [
      'samples{region="us-*"} >= 2',
      'failed',
      1,
      { region: 'us-west-2' },
      2,
      'samples in us-west-2 is 1, must be >= 2: 50 % short; broken in 1 of 2 scopes'
    ],
    [
      'max{label="*", region="us-*"} < 250ms',
      'failed',
      900,
      { label: 'checkout', region: 'us-east-1' },
      3,
      'max of checkout in us-east-1 is 900 ms, must be < 250 ms: 260 % over; broken in 2 of 3 scopes'
    ],
    [
      'min{label="GET*", region="*", grid="g*"} >= 150ms',
      'passed',
      200,
      { label: 'GET /cart', region: 'us-east-1', grid: 'g2' },
      2,
      'min of "GET /cart" in us-east-1 on grid g2 is 200 ms, must be >= 150 ms: 33 % above the limit; the closest of 2 scopes'
    ],
    [
      'samples{grid="*"} == 1',
      'failed',
      2,
      { grid: 'g1' },
      4,
      'samples on grid g1 is 2, must be == 1: 100 % above the required value; broken in 1 of 4 scopes'
    ],
    [
      'failures{label="*"} <= 0',
      'passed',
      0,
      { label: 'checkout' },
      3,
      'failures of checkout is 0, must be <= 0: exactly at the limit; the closest of 3 scopes'
    ]
  ])('%s', (line, verdict, actual, scope, scopesChecked, reason) => {
    const judgement = judgeSamples(line, samples)
    expect(judgement).toMatchObject({ verdict, actual, scopesChecked, reason })
    expect(judgement.scope).toEqual(scope)
  })

  test.each([
    ['p95{label="chekout"} < 1s', 'no label matches "chekout"; there is "checkout", "pay", "GET /cart"'],
    ['p95{label="check"} < 1s', 'no label matches "check"; there is "checkout", "pay", "GET /cart"'],
    [
      'p95{region="us-est-*"} < 1s',
      'no region matches "us-est-*"; there is "us-east-1", "us-west-2", "eu-west-1"'
    ],
    [
      'p95{grid="G1", label="nope"} < 1s',
      'no grid matches "G1"; the nearest of 4 are "g1", "g2", "g3"; no label matches "nope"; there is "pay", "checkout", "GET /cart"'
    ],
    ['p95{label=""} < 1s', 'no label matches ""; there is "pay", "checkout", "GET /cart"'],
    ['p95{label="pay", region="us-*"} < 10s', 'p95 is unknown: there are no samples in any such combination']
  ])('that match nothing: %s', (line, reason) => {
    expect(judgeSamples(line, samples)).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      margin: undefined,
      scopesChecked: 0,
      reason
    })
  })
  test('that match nothing because the CSVs name nothing', () => {
    expect(judgeSamples('p95{region="x"} < 1s', samples, { regions: [] }).reason).toBe(
      'no region matches "x"; there is none in the CSVs'
    )
  })
  test.each(['p95{grid="*"} < 10s', 'p95{grid="*", label="*"} < 10s', 'p95{region="*", label="*"} < 10s'])(
    'a grid or region without samples does not vanish from %s',
    (line) => {
      const judgement = judgeSamples(line, samples, {
        grids: ['g1', 'g2', 'g3', 'g4', 'g5'],
        regions: ['us-east-1', 'us-west-2', 'eu-west-1', 'sa-east-1']
      })
      expect(judgement).toMatchObject({ verdict: 'inconclusive', actual: undefined })
      expect(judgement.reason).toMatch(/^p95 (on grid g5|in sa-east-1) is unknown: there are no samples$/u)
    }
  )
  test('a label with line breaks stays one sentence', () => {
    const { reason } = judgeSamples(
      'p95{label="*"} < 1s',
      makeSamples([1], { label: `a\r\n::error::b ${'x'.repeat(500)}` })
    )
    expect(reason).not.toMatch(/\p{Cc}/u)
    expect(reason.length).toBeLessThan(200)
  })
})

describe('numbers that are missing in some scopes', () => {
  const labels = ['good', 'bad', 'blank']
  function makeMixed(worstMs: number): Measurements {
    const figuresOf: Record<string, Figures> = {
      good: makeFigures(makeSamples([100])),
      bad: makeFigures(makeSamples([worstMs])),
      blank: { ...makeFigures(makeSamples([100])), percentileMs: () => undefined }
    }
    const whole = makeMeasurements(makeSamples([100]))
    return {
      ...whole,
      labels,
      figures: ({ label }) => (label === undefined ? whole.figures({}) : figuresOf[label])
    }
  }
  test('a broken scope outweighs them', () => {
    expect(judge('p95{label="*"} < 800ms', makeEvidence({ measurements: makeMixed(1240) }))).toMatchObject({
      verdict: 'failed',
      actual: 1240,
      scope: { label: 'bad' },
      scopesChecked: 3,
      reason: 'p95 of bad is 1,240 ms, must be < 800 ms: 55 % over; broken in 1 of 3 scopes, unknown in 1'
    })
  })
  test('without a broken one they make it inconclusive', () => {
    expect(judge('p95{label="*"} < 800ms', makeEvidence({ measurements: makeMixed(700) }))).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      margin: undefined,
      scope: { label: 'blank' },
      scopesChecked: 3,
      reason: 'p95 of blank is unknown: not available in this CSV'
    })
  })
})

describe('never a false pass', () => {
  test.each(EVERY_METRIC)('%s holds when there is something to judge', (line) => {
    expect(judge(line, makeEvidence()).verdict).toBe('passed')
  })
  test.each(EVERY_METRIC)('%s without samples', (line) => {
    const judgement = judge(line, makeEvidence({ measurements: NO_SAMPLES }))
    expect(judgement).toMatchObject({ verdict: 'inconclusive', actual: undefined, scopesChecked: 0 })
    expect(judgement.reason).toMatch(/^\S+ is unknown: there are no samples$/u)
  })
  test.each(EVERY_METRIC)('%s with figures that count no samples', (line) => {
    const measurements = makeMeasurements(makeSamples([1]), { changeFigures: { samples: 0 } })
    expect(judge(line, makeEvidence({ measurements })).verdict).toBe('inconclusive')
  })
  test.each(EVERY_METRIC)('%s without measurements', (line) => {
    const evidence = makeEvidence({
      measurements: undefined,
      measurementsProblem: 'the CSV of grid g1 never came'
    })
    expect(judge(line, evidence)).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      reason: expect.stringMatching(/^\S+ is unknown: the CSV of grid g1 never came$/u)
    })
  })
  test('without measurements and without a reason', () => {
    expect(judge('p95 < 1s', makeEvidence({ measurements: undefined })).reason).toBe(
      'p95 is unknown: there are no measurements'
    )
  })
  test.each(
    EVERY_METRIC.flatMap((line) =>
      [NaN, Infinity, -Infinity, -1].map((value): [string, number] => [line, value])
    )
  )('%s with %d', (line, value) => {
    const changeFigures: Partial<Figures> = {
      samples: value,
      failures: value,
      errorRate: value,
      throughput: value,
      meanMs: value,
      minMs: value,
      maxMs: value,
      concurrency: value,
      percentileMs: () => value,
      apdex: () => value
    }
    const withSamples = line.startsWith('samples') ? changeFigures : { ...changeFigures, samples: 4 }
    const judgement = judgeSamples(line, makeSamples([1]), { changeFigures: withSamples })
    expect(judgement).toMatchObject({ verdict: 'inconclusive', actual: undefined, margin: undefined })
  })
  test('impossible figures are not judged', () => {
    const changeFigures = { errorRate: 1.5 }
    expect(judgeSamples('error_rate > 1%', makeSamples([1]), { changeFigures }).reason).toBe(
      'error_rate is unknown: the result is 1.5, which is impossible'
    )
  })
  test.each(['p95 < 10s', 'median < 10s', 'min >= 0ms', 'max < 10s', 'apdex{label="*"} >= 0'])(
    '%s is not available in a tidy CSV',
    (line) => {
      const changeFigures = {
        percentileMs: () => undefined,
        minMs: undefined,
        maxMs: undefined,
        apdex: () => undefined
      }
      const judgement = judgeSamples(line, makeSamples([1]), { changeFigures })
      expect(judgement.verdict).toBe('inconclusive')
      expect(judgement.reason).toMatch(/ is unknown: not available in this CSV$/u)
    }
  )
  test.each<[string, MeasurementChanges, string]>([
    [
      'a CSV that is not whole',
      { sources: [makeSource(), makeSource({ grid: 'g2', problems: ['row 17 is cut off', 'no end'] })] },
      'p95 cannot be judged: the CSV of grid g2 (us-east-1) is incomplete: row 17 is cut off, no end; in what could be read, p95 is 1 ms, must be < 1,000 ms: 99.9 % below the limit'
    ],
    [
      'a CSV of unknown shape',
      { sources: [makeSource({ shape: 'unknown', header: 'when,what\thow' })] },
      'p95 cannot be judged: the CSV of grid g1 (us-east-1) has an unknown format: its header is "when,what how"; in what could be read, p95 is 1 ms, must be < 1,000 ms: 99.9 % below the limit'
    ],
    [
      'a CSV without a header',
      { sources: [makeSource({ shape: 'unknown', header: '', problems: ['empty'] })] },
      'p95 cannot be judged: the CSV of grid g1 (us-east-1) has an unknown format: it has no header, empty; in what could be read, p95 is 1 ms, must be < 1,000 ms: 99.9 % below the limit'
    ],
    [
      'a grid that brought no rows',
      { sources: [makeSource(), makeSource({ grid: 'g2', rows: 0 })] },
      'p95 cannot be judged: the CSV of grid g2 (us-east-1) has no rows; in what could be read, p95 is 1 ms, must be < 1,000 ms: 99.9 % below the limit'
    ]
  ])('%s', (_, changes, reason) => {
    expect(judgeSamples('p95 < 1s', makeSamples([1]), changes)).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      reason
    })
  })
  test('a breach in part of the samples is not a breach yet', () => {
    const sources = [makeSource({ problems: ['cut off'] })]
    expect(judgeSamples('p95 < 1s', makeSamples([5000]), { sources }).verdict).toBe('inconclusive')
  })
  test('many gaps are named three at a time', () => {
    const sources = ['a', 'b', 'c', 'd', 'e'].map((grid) => makeSource({ grid, problems: ['cut'] }))
    expect(judgeSamples('p95 < 1s', makeSamples([1]), { sources }).reason).toMatch(
      /grid c .*; and 2 more; in what/u
    )
  })
  test('a problem reported besides the measurements counts too', () => {
    const evidence = makeEvidence({ measurementsProblem: 'one of two CSVs never came' })
    expect(judge('samples > 1', evidence)).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringMatching(
        /^samples cannot be judged: one of two CSVs never came; in what could be read, /u
      )
    })
  })
  test.each([NaN, Infinity])('a limit of %d that did not come from the grammar', (value) => {
    const [threshold] = parseAbsolute('p95 <= 1s').thresholds
    expect(judgeThresholds([{ ...threshold!, value }], makeEvidence())[0]!.verdict).toBe('inconclusive')
  })
})

describe("the service's apdex beside that of the samples", () => {
  /** Ten samples, of which so many are within the target. */
  const beside = (score: number, satisfied: number, more: MeasurementChanges = {}) =>
    makeEvidence({
      apdex: { score, targetMs: 500 },
      measurements: makeMeasurements(
        makeSamples(Array.from({ length: 10 }, (_, i) => (i < satisfied ? 100 : 9000))),
        more
      )
    })

  test('far above, a line that holds is inconclusive, with both figures', () => {
    expect(judge('apdex >= 0.85', beside(0.95, 8))).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      reason:
        "apdex is 0.95, but it is 0.8 by the samples, with the same target of 500 ms, so the service's figure is not trusted"
    })
  })

  test.each<[string, Evidence, Judgement['verdict']]>([
    ['0.1 above is not more than 0.1', beside(0.9, 8), 'passed'],
    ['below', beside(0.86, 10), 'passed'],
    ['far below, and broken', beside(0.4, 10), 'failed'],
    ['above, and broken', beside(0.8, 1), 'failed'],
    [
      'not all rows are there',
      beside(0.95, 1, { sources: [makeSource({ problems: ['cut off'] })] }),
      'passed'
    ],
    ['no row for each sample', beside(0.95, 1, { changeFigures: { apdex: () => undefined } }), 'passed']
  ])('%s', (_, evidence, verdict) => {
    expect(judge('apdex >= 0.85', evidence).verdict).toBe(verdict)
  })

  test('nothing but failures', () => {
    const evidence = makeEvidence({
      apdex: { score: 0.95, targetMs: 500 },
      measurements: makeMeasurements(makeCounted(300, 300))
    })
    const { verdict, reason } = judge('apdex >= 0.85', evidence)
    expect(verdict).toBe('inconclusive')
    expect(reason).toMatch(
      /^apdex is 0\.95, but it is 0 by the samples.*; 300 of 300 samples failed, so apdex says little$/
    )
  })

  test('most samples failed, and the rows do not have their times', () => {
    const evidence = makeEvidence({
      measurements: makeMeasurements(makeCounted(10, 6), { changeFigures: { apdex: () => undefined } })
    })
    expect(judge('apdex >= 0.85', evidence).reason).toBe(
      'apdex is 0.9, but 6 of 10 samples failed, so apdex says little'
    )
  })
})

describe('throughput and apdex where more than half the samples failed', () => {
  test.each([
    ['throughput >= 0.5/s', 'throughput is 1/s, but 6 of 10 samples failed, so throughput says little'],
    ['throughput < 50/s', 'throughput is 1/s, but 6 of 10 samples failed, so throughput says little'],
    ['throughput{label="*"} >= 0.5/s', 'throughput of checkout is 1/s, but 6 of 10'],
    ['apdex{label="*"} >= 0.3', 'apdex of checkout is 0.4, but 6 of 10 samples failed, so apdex says little']
  ])('%s is inconclusive', (line, words) => {
    const judgement = judgeSamples(line, makeCounted(10, 6))
    expect(judgement).toMatchObject({ verdict: 'inconclusive', actual: undefined })
    expect(judgement.reason).toContain(words)
    expect(judgeSamples(line, makeCounted(10, 5)).verdict).toBe('passed')
  })

  test.each(['throughput >= 50/s', 'apdex{label="*"} >= 0.85'])('%s: a broken one stays broken', (line) => {
    expect(judgeSamples(line, makeCounted(10, 10)).verdict).toBe('failed')
  })
})

describe('times where more than half the samples failed', () => {
  const TIMES = ['mean < 1s', 'median < 1s', 'p95 < 1s', 'min < 1s', 'max < 1s', 'p95{label="*"} < 1s']

  test.each(TIMES)('%s is inconclusive, and says what failed most', (line) => {
    const errors = [
      { label: 'checkout', code: 'Non HTTP response code', message: 'Connection refused', count: 6 }
    ]
    const judgement = judgeSamples(line, makeCounted(10, 6), { errors: () => errors })
    expect(judgement).toMatchObject({ verdict: 'inconclusive', actual: undefined })
    expect(judgement.reason).toMatch(
      / is 100 ms, but 6 of 10 samples failed, most often with "Non HTTP response code" "Connection refused", so response times say little$/
    )
  })

  test.each(TIMES)('%s: half of them is not more than half', (line) => {
    expect(judgeSamples(line, makeCounted(10, 5)).verdict).toBe('passed')
  })

  test('where errors are not counted, the reason does without', () => {
    expect(judgeSamples('p95 < 1s', makeCounted(10, 10)).reason).toBe(
      'p95 is 100 ms, but 10 of 10 samples failed, so response times say little'
    )
  })

  test.each(['p95 < 50ms', 'mean > 1s'])('%s: a broken one stays broken', (line) => {
    expect(judgeSamples(line, makeCounted(10, 10)).verdict).toBe('failed')
  })

  test.each(['samples >= 1', 'failures >= 1', 'error_rate <= 100%'])('%s counts failures too', (line) => {
    expect(judgeSamples(line, makeCounted(10, 10)).verdict).toBe('passed')
  })

  test('one scope of several is enough', () => {
    const samples = [...makeCounted(10, 0, { label: 'home' }), ...makeCounted(3, 3, { label: 'cart' })]
    expect(judgeSamples('p95 < 1s', samples).verdict).toBe('passed')
    expect(judgeSamples('p95{label="home"} < 1s', samples).verdict).toBe('passed')
    const judgement = judgeSamples('p95{label="*"} < 1s', samples)
    expect(judgement).toMatchObject({ verdict: 'inconclusive', scope: { label: 'cart' } })
  })

  test.each([
    ['error_rate < 1%', 'passed'],
    ['failures < 5', 'passed'],
    ['apdex{label="*"} > 0.9', 'passed'],
    ['warn: error_rate < 1%', 'inconclusive'],
    ['error_rate < 100%', 'inconclusive'],
    ['throughput > 1000/s', 'inconclusive']
  ])('beside "%s" the times are %s', (line, verdict) => {
    const { thresholds } = parseAbsolute(`${line}\np95 < 1s`)
    const evidence = makeEvidence({ measurements: makeMeasurements(makeCounted(10, 9)) })
    expect(judgeThresholds(thresholds, evidence)[1]?.verdict).toBe(verdict)
  })
})

describe('10,000 labels', () => {
  const labels = Array.from(
    { length: 10_000 },
    (_, index) => `GET /products/${index}/details?page=${index % 7}`
  )
  const byLabel = new Map(labels.map((label, index) => [label, makeFigures(makeSamples([index]))]))
  const all = makeFigures(makeSamples([1]))
  const regions = ['us-east-1', 'us-west-2', 'eu-west-1']
  const grids = Array.from({ length: 20 }, (_, index) => `g${index}`)
  const measurements: Measurements = {
    ...makeMeasurements(makeSamples([1])),
    labels,
    regions,
    grids,
    // Grid n is in region n modulo 3.
    figures: ({ label, region, grid }) => {
      const doMeet = !region || !grid || grids.indexOf(grid) % 3 === regions.indexOf(region)
      return doMeet ? (label === undefined ? all : byLabel.get(label)) : undefined
    }
  }
  test.each<[string, string, number]>([
    ['max{label="*"} < 9990ms', 'max of "GET /products/9999/details?page=3" is 9,999 ms', 10_000],
    ['max{label="*/1*/*page=*"} < 1s', 'max of "GET /products/1999/details?page=4" is 1,999 ms', 1111],
    [
      'max{label="*", region="*", grid="*"} < 1s',
      'max of "GET /products/9999/details?page=3" in us-east-1 on grid g0 is 9,999 ms',
      200_000
    ],
    [
      'max{label="GET /product/77/detials"} < 1s',
      'no label matches "GET /product/77/detials"; the nearest of 10000 are',
      0
    ]
  ])('%s', (line, reason, scopesChecked) => {
    const cpuMs = startCpuTimer()
    const judgement = judge(line, makeEvidence({ measurements }))
    expect(judgement.reason).toContain(reason)
    expect(judgement.scopesChecked).toBe(scopesChecked)
    expect(cpuMs()).toBeLessThan(10_000)
  })
})
