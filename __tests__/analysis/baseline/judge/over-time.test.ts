import { describe, expect, test } from '@jest/globals'
import type {
  ComparedRun,
  ComparisonRules,
  ComparisonEvidence
} from '../../../../src/analysis/baseline/judge/sides.js'
import type { RecordedRun } from '../../../../src/contract/baseline.js'
import { asComparedRun } from '../../../../src/analysis/baseline/document/compared.js'
import {
  decodeBaseline,
  encodeBaseline,
  addRun
} from '../../../../src/analysis/baseline/document/baseline-document.js'
import { recordRun } from '../../../../src/analysis/baseline/document/record-run.js'
import { judgeBaselineLines } from '../../../../src/analysis/baseline/judge-lines.js'
import type { Measurements } from '../../../../src/analysis/results/figures/measurements.js'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import { isBaselineThreshold } from '../../../../src/analysis/thresholds/grammar/threshold.js'
import type { Judgement } from '../../../../src/analysis/thresholds/judge/judgement.js'
import { csvOf, measure, START_MS, type ClosedLoop } from '../../../support/stalls/closed-loop.js'

const APDEX = { score: 0.98, targetMs: 500 }
const STILL: NonNullable<ClosedLoop['stalls']> = [[8000, 5000]]

function linesOf(...lines: string[]) {
  const { thresholds, problems } = parseThresholds(lines.join('\n'))
  expect(problems).toEqual([])
  return thresholds.filter(isBaselineThreshold)
}

function makeRun(measurements: Measurements): ComparedRun {
  const { labels, regions } = measurements
  return { apdex: APDEX, startMs: START_MS, labels, regions, figures: (scope) => measurements.figures(scope) }
}

/** With enough samples for p95. */
function runOf(load: ClosedLoop = {}): ComparedRun {
  return makeRun(measure(csvOf({ thinkMs: 200, ...load }), [['home']]))
}

function recorded(number: number, load: ClosedLoop = {}): RecordedRun {
  const facts = {
    ...{ commit: `c${number}`, runId: `r${number}`, atMs: number, unusable: null },
    ...{ fingerprint: { plan: 'p' }, apdex: APDEX }
  }
  const measurements = measure(csvOf({ thinkMs: 200, elapsedMs: 148 + number, ...load }), [['home']])
  return recordRun(facts, measurements, linesOf('p95{label="home"} <= baseline + 10%'))
}

/** Written and read again. */
function readBack(runs: readonly RecordedRun[]): RecordedRun[] {
  const document = runs.reduce<ReturnType<typeof addRun> | undefined>(
    (all, run) => addRun(all, run, 'main'),
    undefined
  )
  return [...decodeBaseline(encodeBaseline(document!)).runs]
}

const RECORDED = readBack([1, 2, 3, 4].map((number) => recorded(number)))

function judge(
  line: string,
  evidence: Partial<Extract<ComparisonEvidence, { kind: 'recorded' }>>,
  changes: Partial<ComparisonRules> = {}
): Judgement {
  const base = RECORDED.map(asComparedRun)
  const head = [runOf({ stalls: STILL })]
  const rules: ComparisonRules = { noise: 0.05, onMissing: 'warn', onUnsure: 'warn', ...changes }
  return judgeBaselineLines(linesOf(line), { kind: 'recorded', base, head, ...evidence }, rules)[0]!
}

function without(runs: readonly RecordedRun[]): ComparedRun[] {
  return runs.map((run) =>
    asComparedRun({
      ...run,
      scopes: run.scopes.map(({ overTime, ...scope }) => {
        expect(overTime).toBeDefined()
        return scope
      })
    })
  )
}

const LINE = 'p95 <= baseline + 20%'

describe('a run that stood still, compared with recorded runs that did not', () => {
  test.each([LINE, 'p95{label="home"} <= baseline + 20%', 'apdex >= baseline - 0.05'])('%s', (line) => {
    const judged = judge(line, {})
    expect(judged).toMatchObject({ verdict: 'failed', overTime: { effect: 'fails' } })
    expect(judged.actual).toBe(judged.overTime?.value)
  })

  test('says why', () => {
    expect(judge(LINE, {}).reason).toMatch(
      /^p95 is 3,\d+ ms, \+\S+ % against the baseline's 15\d ms \(.*\); it must be <= 18\d ms \(baseline \+ 20%\); it is 150 ms for the requests that were sent, but at least 3\.\d s over time: at 0:08 nothing was answered for 5 s while 12 users waited$/
    )
  })

  test('warns', () => {
    const judged = judge(LINE, {}, { onStall: 'warn' })
    expect(judged).toMatchObject({ verdict: 'passed', actual: 150, overTime: { effect: 'warns' } })
    expect(judged.warning).toMatch(/it is 150 ms for the requests that were sent, but at least 3\.\d s over/)
  })

  test('is compared by samples with on-stall: ignore', () => {
    const judged = judge(LINE, {}, { onStall: 'ignore' })
    expect(judged).toMatchObject({ verdict: 'passed', actual: 150, overTime: { effect: 'ignored' } })
    expect(judged).not.toHaveProperty('warning')
  })

  test('is a warning with two users', () => {
    const judged = judge(LINE, {
      head: [runOf({ users: 2, seconds: 200, thinkMs: 1, stalls: [[8000, 50_000]] })]
    })
    expect(judged).toMatchObject({ verdict: 'passed', overTime: { effect: 'warns' } })
  })

  test('is compared with those that have figures over time', () => {
    const [first, ...others] = RECORDED
    const base = [...without([first!]), ...others.map(asComparedRun)]
    expect(judge(LINE, { base })).toMatchObject({ verdict: 'failed', overTime: { effect: 'fails' } })
    expect(judge('apdex >= baseline - 0.05', { base }).verdict).toBe('failed')
  })

  test('is compared by samples where none of them has', () => {
    const judged = judge(LINE, { base: without(RECORDED) })
    expect(judged).toMatchObject({ verdict: 'passed', overTime: { effect: 'none' } })
  })
})

test('a run that stood still as the recorded ones did holds', () => {
  const base = readBack([1, 2, 3, 4].map((number) => recorded(number, { stalls: STILL }))).map(asComparedRun)
  expect(judge(LINE, { base })).toMatchObject({ verdict: 'passed', overTime: { effect: 'none' } })
})

test('a run with more stalls than are recorded holds against itself', () => {
  const load = {
    ...{ seconds: 300, users: 4, elapsedMs: 20, thinkMs: 20 },
    stalls: Array.from({ length: 250 }, (_, i): [number, number] => [i * 1000 + 500, 300])
  }
  const base = readBack([1, 2, 3, 4].map((number) => recorded(number, load))).map(asComparedRun)
  const judged = judge('p90 <= baseline + 10%', { base, head: [runOf(load)] })
  expect(judged).toMatchObject({ verdict: 'passed', overTime: { effect: 'none' } })
})

test('a recorded run that stood still hides no change of the others', () => {
  const base = readBack([...[1, 2, 3].map((number) => recorded(number)), recorded(4, { stalls: STILL })])
  const head = [runOf({ elapsedMs: 400 })]
  expect(judge(LINE, { base: base.map(asComparedRun), head }).verdict).toBe('failed')
})

test('without stalls there is nothing to say', () => {
  expect(judge(LINE, { head: [runOf()] })).not.toHaveProperty('overTime')
})

describe('side by side', () => {
  const judgePairs = (line: string, stalls: typeof STILL): Judgement => {
    const pairs = [0, 1, 2, 3, 4].map((round) => ({
      base: runOf({ elapsedMs: 150 + round }),
      head: runOf({ elapsedMs: 150 + round, stalls })
    }))
    const rules: ComparisonRules = { noise: 0.05, onMissing: 'warn', onUnsure: 'warn' }
    return judgeBaselineLines(linesOf(line), { kind: 'side-by-side', pairs }, rules)[0]!
  }

  test('a head that stands still in every segment is broken', () => {
    expect(judgePairs(LINE, STILL)).toMatchObject({ verdict: 'failed', overTime: { effect: 'fails' } })
  })

  test('one that does not holds', () => {
    expect(judgePairs(LINE, []).verdict).toBe('passed')
  })
})

describe('documents', () => {
  test('have the longest stalls of what lines name, and no more', () => {
    const stalls = Array.from({ length: 120 }, (_, i): [number, number] => [i * 1000 + 500, 400 + i])
    const run = readBack([recorded(1, { seconds: 130, users: 4, stalls })])[0]!
    const [overall] = run.scopes
    expect(overall?.overTime?.stallsMs).toHaveLength(100)
    expect(overall?.overTime?.stallsMs).toEqual(overall?.overTime?.stallsMs.toSorted((a, b) => b - a))
    expect(run.scopes.filter(({ overTime }) => overTime).map(({ label }) => label)).toEqual([
      undefined,
      undefined,
      'home'
    ])
  })

  test('give the figures of the run', () => {
    const measurements = measure(csvOf({ stalls: STILL }))
    const found = asComparedRun(recorded(1, { thinkMs: 400, elapsedMs: 150, stalls: STILL }))
      .figures({})
      ?.overTime()
    const live = measurements.figures({})?.overTime()
    expect(found).toMatchObject({ spanMs: (live as { spanMs: number }).spanMs })
    const percentile = (one: typeof found): number => (typeof one === 'object' ? one.percentileMs(99) : NaN)
    expect(percentile(found)).toBe(percentile(live))
  })

  test.each([
    ['stalls in another order', { spanMs: 1000, stallsMs: [1, 2] }, 'stallsMs is not in descending order'],
    ['more stalls than time', { spanMs: 10, stallsMs: [9, 8] }, 'stallsMs is longer than the run'],
    ['too many', { spanMs: 1e6, stallsMs: Array(101).fill(1) }, 'stallsMs has more than 100 entries'],
    ['no span', { stallsMs: [] }, 'spanMs is not a number']
  ])('with %s are refused', (_, overTime, words) => {
    const run = recorded(1)
    const changed = { ...run, scopes: run.scopes.map((scope) => ({ ...scope, overTime })) } as RecordedRun
    expect(() => readBack([changed])).toThrow(words)
  })
})
