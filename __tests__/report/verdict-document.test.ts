import { describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readFileSync } from 'node:fs'
import type { Outcome } from '../../src/analysis/outcome.js'
import { bytesOf } from '../../src/report/escape.js'
import {
  metricsOutput,
  printVerdict,
  thresholdsOutput,
  verdictDocument
} from '../../src/report/verdict-document.js'
import type { OverTimeFigure } from '../../src/analysis/thresholds/judge/judgement.js'
import type { Measurements } from '../../src/analysis/results/figures/measurements.js'
import {
  HOSTILE,
  makeBaselineFacts,
  makeBroken,
  makeCompared,
  makeErrors,
  makeGridFacts,
  makeJudgement,
  makeNode,
  makeOutcome,
  makeRunFacts,
  makeStoppedEarly,
  makeTrend
} from '../support/data/make-outcome.js'
import { csvOf, measure } from '../support/stalls/closed-loop.js'
import { makeFigures, makeMeasurements, makeSamples } from '../analysis/thresholds/make-evidence.js'

const MOST_OUTPUT_BYTES = 64 * 1024

const SERIES = {
  bucketMs: 1000,
  atMs: [0, 1000],
  throughput: [2, 0],
  failures: [1, 0],
  p50Ms: [100, null],
  p95Ms: [200, null],
  p99Ms: [200, null],
  activeThreads: [5, null]
}
const MEASURED = makeMeasurements(
  [...makeSamples([100, 200]), ...makeSamples([300, 400, 500], { label: 'search', region: 'eu-west-1' })],
  {
    series: SERIES,
    errors: () => makeErrors({ count: 2 }, { label: undefined, code: '', message: 'other errors' })
  }
)

/** Every scope has figures; as many labels as requested. */
function makeMany(changes: Partial<Pick<Measurements, 'labels' | 'regions' | 'grids'>>): Measurements {
  const figures = makeFigures(makeSamples([100, 200]))
  return { ...makeMeasurements([]), figures: () => figures, ...changes }
}

const names = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`)

const COMPARED = (['holds', 'broken', 'unsure', 'no baseline', 'not comparable'] as const).map((outcome) =>
  makeCompared(outcome)
)

const OVER_TIME: OverTimeFigure = {
  value: 4600,
  bySamples: 174,
  effect: 'fails',
  longest: { startMs: 8000, ms: 4800, waiting: 12 }
}

const UNKNOWN_FACTS = {
  ...{ startedMs: null, rows: null, threads: null, cpuLimit: null, restarts: null, throttled: null }
}

describe('verdict.json', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../schema/verdict.schema.json', import.meta.url), 'utf8')
  ) as Record<string, unknown>
  const validate = new Ajv2020({ allErrors: true, strictRequired: false, allowUnionTypes: true }).compile(
    schema
  )
  const documentOf = (outcome: Outcome): unknown => JSON.parse(JSON.stringify(verdictDocument(outcome)))
  const problemsOf = (document: unknown): unknown[] => {
    validate(document)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }

  const nothing = { run: undefined, apdex: undefined, summary: undefined, judgements: [], grids: [] }
  test.each<[string, Outcome]>([
    ['a passed gate', makeOutcome({ measurements: MEASURED })],
    [
      'a failed one',
      makeOutcome({
        verdict: 'failed',
        measurements: MEASURED,
        judgements: [
          makeBroken({ scope: { label: 'search', grid: 'g1' } }),
          makeJudgement({ verdict: 'inconclusive', actual: undefined, margin: undefined })
        ]
      })
    ],
    [
      'figures that are not known',
      makeOutcome({
        apdex: undefined,
        measurements: makeMeasurements(makeSamples([100]), {
          changeFigures: {
            errorRate: undefined,
            throughput: undefined,
            meanMs: undefined,
            percentileMs: () => undefined
          }
        })
      })
    ],
    ['no sample', makeOutcome({ measurements: makeMeasurements([]) })],
    ['a rehearsal', makeOutcome({ rehearsal: true })],
    [
      'a warm-up',
      makeOutcome({
        measurements: MEASURED,
        warmUp: { ms: 30_000, samples: 3, failures: 1, whole: MEASURED }
      })
    ],
    [
      'stalls',
      makeOutcome({
        measurements: measure(csvOf({ stalls: [[8000, 5000]] })),
        judgements: [makeBroken({ overTime: OVER_TIME })]
      })
    ],
    ['hardly anything', makeOutcome({ verdict: 'error', ...nothing })],
    [
      'facts that are missing',
      makeOutcome({
        run: makeRunFacts({ url: undefined, name: undefined, threads: undefined, startedMs: undefined }),
        grids: [makeGridFacts({ nodeCount: undefined, bytes: undefined, problem: HOSTILE })],
        notes: [HOSTILE]
      })
    ],
    [
      'every outcome of a comparison, a trend and an early stop',
      makeOutcome({
        judgements: COMPARED,
        baseline: makeBaselineFacts({ fingerprint: { plan: 'ab12' }, notes: [HOSTILE] }),
        shownComparisons: COMPARED,
        trend: makeTrend(30, (index) => ({ unusable: index === 3 ? HOSTILE : undefined, commit: HOSTILE })),
        stoppedEarly: makeStoppedEarly()
      })
    ],
    [
      'nodes',
      makeOutcome({
        nodes: [makeNode(), makeNode({ ...UNKNOWN_FACTS, place: HOSTILE, throttled: 1, lost: HOSTILE })]
      })
    ],
    [
      'no baseline, and a trend without figures',
      makeOutcome({
        baseline: makeBaselineFacts({
          ...{ state: 'no baseline', branch: undefined, commit: undefined, runs: [], reason: 'none' }
        }),
        trend: makeTrend(1, () => ({ p95Ms: undefined, throughput: Infinity, errorRate: NaN }), { bands: {} })
      })
    ],
    [
      'numbers that JSON does not have',
      makeOutcome({
        judgements: [
          makeCompared('unsure', {
            comparison: { interval: [-90, Infinity], resolutionPct: Infinity, p: NaN }
          })
        ]
      })
    ]
  ])('of %s is as its schema says', (_, outcome) => {
    expect(problemsOf(documentOf(outcome))).toEqual([])
  })

  test('the schema rejects what does not match', () => {
    const document = documentOf(makeOutcome({ measurements: MEASURED })) as Record<string, unknown>
    expect(problemsOf({ ...document, verdict: 'green' })).not.toEqual([])
    expect(problemsOf({ ...document, apdex: '0.93' })).not.toEqual([])
    expect(problemsOf({ ...document, more: 1 })).not.toEqual([])
    expect(problemsOf({ ...document, metrics: { overall: { samples: 1 } } })).not.toEqual([])
    expect(problemsOf({ ...document, reason: undefined })).not.toEqual([])
    expect(problemsOf({ ...document, errors: [{ label: null, code: 503, message: '', count: 1 }] })).toEqual([
      '/errors/0/code must be string'
    ])
  })

  test('holds every output but those of the artifact', () => {
    const document = verdictDocument(makeOutcome({ measurements: MEASURED }))
    expect(document).toMatchObject({
      schema: 1,
      verdict: 'passed',
      reason: 'The threshold holds.',
      'run-id': 'run1',
      'run-url': 'https://service.example/runs/run1',
      status: 'finished',
      apdex: 0.93,
      'apdex-target': 500,
      means: { mean_response_time: 120.5 },
      series: SERIES,
      metrics: { overall: { samples: 5, failures: 0, error_rate: 0, mean: 300, p95: 500, apdex: 1 } }
    })
    expect(document.errors).toEqual([
      { label: 'checkout', code: '503', message: 'Service Unavailable', count: 2 },
      { label: null, code: '', message: 'other errors', count: 1 }
    ])
    expect(document.thresholds).toEqual([
      {
        text: 'p95 < 800ms',
        level: 'fail',
        verdict: 'passed',
        actual: 640,
        actual_text: '640 ms',
        limit: 800,
        margin: 0.2,
        scope: null,
        reason: 'p95 is 640 ms, 20 % below the limit of 800 ms'
      }
    ])
  })

  test('gives each line that names a baseline its outcome and figures, and no other line', () => {
    const { thresholds } = verdictDocument(
      makeOutcome({ judgements: [makeJudgement(), makeCompared('broken'), makeCompared('no baseline')] })
    )
    expect(thresholds[0]).not.toHaveProperty('outcome')
    expect(thresholds[0]).not.toHaveProperty('base')
    expect(thresholds[1]).toEqual({
      ...{ text: 'p95 <= baseline + 10%', level: 'fail', verdict: 'failed', outcome: 'broken' },
      ...{ actual: 385.6, actual_text: '386 ms', limit: 341, margin: null, scope: null },
      ...{ base: 310, baseRuns: 10, changePct: 24.4, interval: [14.2, 35.6], resolutionPct: 12.5, p: 0.0004 },
      reason: 'p95 compared with the baseline: broken'
    })
    expect(thresholds[2]).toMatchObject({
      ...{ verdict: 'inconclusive', outcome: 'no baseline', actual: null, limit: null },
      ...{ base: null, baseRuns: 0, changePct: null, interval: null, resolutionPct: null, p: null }
    })
  })

  test('has the baseline, the trend and what an early stop saved, or null', () => {
    expect(verdictDocument(makeOutcome())).toMatchObject({
      ...{ baseline: null, trend: null, stopped_early: null, 'saved-seconds': null, shown_comparisons: [] }
    })
    const fingerprint = { plan: 'ab12', tool: 'jmeter 5.6.3' }
    const document = verdictDocument(
      makeOutcome({
        baseline: makeBaselineFacts({ fingerprint, notes: ['a note'] }),
        trend: makeTrend(2, (index) => ({ unusable: index === 0 ? 'timed out' : undefined })),
        stoppedEarly: makeStoppedEarly()
      })
    )
    expect(document.baseline).toMatchObject({
      ...{
        state: 'compared',
        kind: 'recorded',
        branch: 'main',
        reason: null,
        notes: ['a note'],
        fingerprint
      },
      runs: expect.arrayContaining(['base0', 'base9'])
    })
    expect(document.trend?.points).toMatchObject([
      { runId: 'run0', unusable: 'timed out', isHead: false },
      { runId: 'run1', unusable: null, isHead: true }
    ])
    expect(document.trend?.bands.p95Ms).toEqual({ low: 272, centre: 308, high: 348 })
    expect(document).toMatchObject({ 'saved-seconds': 480, stopped_early: { afterSeconds: 120 } })
  })

  test('the schema knows which figures belong together', () => {
    const document = documentOf(makeOutcome({ judgements: [makeJudgement(), makeCompared('holds')] })) as {
      thresholds: Record<string, unknown>[]
    }
    const [absolute, compared] = document.thresholds
    const problems = (line: object): unknown[] => problemsOf({ ...document, thresholds: [line] })
    expect(problems({ ...absolute, limit: null })).not.toEqual([])
    expect(problems({ ...absolute, base: 310 })).not.toEqual([])
    expect(problems({ ...compared, outcome: 'green' })).not.toEqual([])
    expect(problems({ ...absolute, outcome: 'holds' })).not.toEqual([])
    expect(problems({ ...compared, limit: null })).toEqual([])
  })

  test('says that a rehearsal is one', () => {
    expect(verdictDocument(makeOutcome({ rehearsal: true }))).toMatchObject({
      rehearsal: true,
      note: 'rehearsal, synthetic samples'
    })
  })

  test('has the thousand most frequent errors, and the others together', () => {
    const errors = makeErrors(...Array.from({ length: 1200 }, (_, index) => ({ message: `reason ${index}` })))
    const document = verdictDocument(makeOutcome({ measurements: { ...makeMany({}), errors: () => errors } }))
    expect(document.errors).toHaveLength(1001)
    expect(document.errors.at(-1)).toEqual({ label: null, code: '', message: 'other errors', count: 200 })
    expect(problemsOf(JSON.parse(JSON.stringify(document)))).toEqual([])
  })

  test('is written with its lists of numbers on one line each, and means the same', () => {
    const outcome = makeOutcome({
      measurements: { ...MEASURED, series: { ...SERIES, throughput: [1e-7, 0.5] } },
      notes: ['[\n  1,\n  2\n]', '']
    })
    const text = printVerdict(outcome)
    expect(text).toContain('"throughput": [1e-7, 0.5]')
    expect(text).toContain('"p95Ms": [200, null]')
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(verdictDocument(outcome))))
  })

  test('of before there were details is one too', () => {
    const { details, ...old } = verdictDocument(makeOutcome())
    expect(details).toBeNull()
    expect(problemsOf(JSON.parse(JSON.stringify(old)))).toEqual([])
  })

  test('has everything, however much', () => {
    const measurements = makeMany({ labels: names(10_000, 'label') })
    const judgements = Array.from({ length: 3000 }, () => makeBroken())
    const document = verdictDocument(makeOutcome({ measurements, judgements }))
    expect([document.metrics.labels.length, document.thresholds.length]).toEqual([10_000, 3000])
  })
})

describe('the metrics output', () => {
  test('is whole when it fits, labels with the most samples first', () => {
    const metrics = JSON.parse(metricsOutput(MEASURED, 500)) as { labels: object[]; regions: object[] }
    expect(metrics).not.toHaveProperty('truncated')
    expect(metrics.labels).toMatchObject([
      { label: 'search', samples: 3, mean: 400, apdex: 1 },
      { label: 'checkout', samples: 2, mean: 150 }
    ])
    expect(metrics.regions).toMatchObject([{ region: 'us-east-1' }, { region: 'eu-west-1' }])
  })

  test('has no apdex without a target, and nothing without measurements', () => {
    expect(JSON.parse(metricsOutput(MEASURED, undefined))).toMatchObject({ overall: { apdex: null } })
    expect(JSON.parse(metricsOutput(undefined, 500))).toEqual({
      overall: null,
      labels: [],
      regions: [],
      grids: []
    })
  })

  test.each([
    ['10,000 labels', { labels: names(10_000, 'label'), regions: ['us-east-1'] }],
    ['10,000 labels of many bytes', { labels: names(10_000, '漢字🚀'.repeat(20)) }],
    ['one label of a megabyte', { labels: ['x'.repeat(1_000_000)] }],
    ['5,000 grids', { labels: names(50, 'label'), grids: names(5000, 'grid') }],
    ['a region of a megabyte', { labels: names(50, 'label'), regions: ['x'.repeat(1_000_000)] }]
  ])('fits with %s, and says that it was cut', (_, changes) => {
    const output = metricsOutput(makeMany(changes), 500)
    expect(bytesOf(output)).toBeLessThanOrEqual(MOST_OUTPUT_BYTES)
    expect(JSON.parse(output)).toMatchObject({ truncated: true, overall: { samples: 2 } })
  })

  test('keeps as many labels as fit', () => {
    const output = metricsOutput(makeMany({ labels: names(10_000, 'label') }), 500)
    expect(bytesOf(output)).toBeGreaterThan(MOST_OUTPUT_BYTES - 1000)
  })
})

describe('the thresholds output', () => {
  test('is a list when it fits', () => {
    expect(JSON.parse(thresholdsOutput([makeBroken()]))).toMatchObject([
      { text: 'p95 < 800ms', level: 'fail', actual: 1200, verdict: 'failed', margin: -0.5 }
    ])
    expect(thresholdsOutput([])).toBe('[]')
  })

  test.each([
    ['thousands', Array.from({ length: 5000 }, () => makeBroken())],
    ['one of a megabyte', [makeBroken({ reason: '漢'.repeat(400_000) })]]
  ])('fits with %s, and says that it was cut', (_, judgements) => {
    const output = thresholdsOutput(judgements)
    expect(bytesOf(output)).toBeLessThanOrEqual(MOST_OUTPUT_BYTES)
    expect(JSON.parse(output)).toMatchObject({ truncated: true })
  })

  test('keeps a broken one whose texts are of a megabyte, and cuts them', () => {
    const huge = '漢'.repeat(400_000)
    const broken = makeBroken({ threshold: { text: huge }, reason: huge, scope: { label: huge } })
    const { thresholds } = JSON.parse(thresholdsOutput([makeJudgement(), broken])) as {
      thresholds: Record<string, unknown>[]
    }
    const cut = `${'漢'.repeat(166)}…`
    expect(thresholds).toMatchObject([
      { verdict: 'failed', text: cut, reason: cut, scope: { label: cut }, actual: 1200 },
      { verdict: 'passed' }
    ])
  })

  test('gives the outcome of a comparison, also where it was cut', () => {
    const many = Array.from({ length: 5000 }, () => makeJudgement())
    const { thresholds } = JSON.parse(thresholdsOutput([...many, makeCompared('unsure')])) as {
      thresholds: object[]
    }
    expect(thresholds[0]).toMatchObject({ outcome: 'unsure', base: 310, changePct: 2.1, p: 0.29 })
  })

  test('keeps the broken ones when it must leave some out', () => {
    const judgements = [
      ...Array.from({ length: 5000 }, () => makeJudgement()),
      makeBroken({ threshold: { text: 'the broken one' } })
    ]
    const { thresholds } = JSON.parse(thresholdsOutput(judgements)) as { thresholds: { text: string }[] }
    expect(thresholds.map(({ text }) => text)).toContain('the broken one')
  })
})
