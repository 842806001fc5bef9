import { describe, expect, test } from '@jest/globals'
import type {
  ComparedRun,
  ComparisonRules,
  ComparisonEvidence
} from '../../../src/analysis/baseline/judge/sides.js'
import {
  judgeBaselineLines,
  describeLoadChange,
  SHOWN_LINES
} from '../../../src/analysis/baseline/judge-lines.js'
import type { BaselineThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import type { Judgement } from '../../../src/analysis/thresholds/judge/judgement.js'
import {
  makeComparedRun,
  makeLine,
  makePlainLine,
  selectLabel,
  type FigureValues
} from '../../support/baseline/make-run.js'

const RULES: ComparisonRules = { noise: 0.05, onMissing: 'warn', onUnsure: 'pass' }

/** Ten base runs that hardly differ. */
const WOBBLE = [1, 1.02, 0.98, 1, 0.99, 1.02, 0.98, 1, 1.01, 0.99]

function recorded(base: readonly ComparedRun[], ...head: readonly ComparedRun[]): ComparisonEvidence {
  return { kind: 'recorded', base, head }
}

function runsWith(make: (factor: number) => Partial<FigureValues>, count = WOBBLE.length): ComparedRun[] {
  return WOBBLE.slice(-count).map((factor) => makeComparedRun({ overall: make(factor) }))
}

const p95Runs = (ms: number, count?: number) => runsWith((factor) => ({ percentileMs: ms * factor }), count)
const p95Run = (ms: number, more: Partial<FigureValues> = {}) =>
  makeComparedRun({ overall: { percentileMs: ms, ...more } })

function judgeOne(
  line: BaselineThreshold,
  evidence: ComparisonEvidence,
  rules: Partial<ComparisonRules> = {}
): Judgement & { comparison: NonNullable<Judgement['comparison']> } {
  const [judgement] = judgeBaselineLines([line], evidence, { ...RULES, ...rules })
  return judgement as Judgement & { comparison: NonNullable<Judgement['comparison']> }
}

describe('a head that fails more often than its base', () => {
  const failing = (share: number) => p95Run(400, { failures: 50_000 * share })

  test.each([
    ['as often as before', 0.04, 'holds'],
    ['far more often', 0.4, 'unsure']
  ])('%s: its times are %s', (_, share, outcome) => {
    const { comparison, reason } = judgeOne(makeLine(), recorded(p95Runs(400), failing(share)))
    expect(comparison.outcome).toBe(outcome)
    expect(reason.includes("40 % of the samples failed and 0 % of the baseline's")).toBe(outcome === 'unsure')
  })

  test('and is slower all the same breaks the line', () => {
    const slower = p95Run(600, { failures: 20_000 })
    expect(judgeOne(makeLine(), recorded(p95Runs(400), slower)).comparison.outcome).toBe('broken')
  })
})

describe('a step on the branch that no second run confirms', () => {
  const nine = WOBBLE.slice(1)
  const onMain = (base: readonly ComparedRun[], head: ComparedRun): ComparisonEvidence => ({
    kind: 'recorded',
    base,
    head: [head],
    branch: 'main'
  })
  const times = (newest: number) => [...nine.map((factor) => p95Run(400 * factor)), p95Run(newest)]

  test('opens no gate: what holds against the newest run alone and breaks against the others is unsure', () => {
    const judged = judgeOne(makeLine(), onMain(times(804), p95Run(600)))
    expect(judged).toMatchObject({
      verdict: 'inconclusive',
      margin: undefined,
      comparison: { outcome: 'unsure', baseRuns: 1, knownBaseRuns: 10 }
    })
    expect(judged.reason).toMatch(
      /^p95 is 600 ms, -25\.4 % against .*; but the newest run of main is 10\d % slower than the nine before it, and no second run confirms it; against those, 600 ms is \+50(\.\d)? % \(\d+ ms\): run it again there, or wait for the next run$/
    )
  })

  test('costs one unsure until the next run', () => {
    expect(judgeOne(makeLine(), onMain(times(804), p95Run(804))).comparison.outcome).toBe('unsure')
    expect(judgeOne(makeLine(), onMain([...times(804), p95Run(800)], p95Run(804))).comparison.outcome).toBe(
      'holds'
    )
  })

  test.each<[string, readonly ComparedRun[], number, string]>([
    ['worse than both is broken', times(804), 1200, 'broken'],
    ['as good as before holds', times(804), 404, 'holds'],
    ['a step to the better is the new base', times(200), 204, 'holds'],
    ['a step to the better breaks what is as before', times(200), 400, 'broken']
  ])('%s', (_, base, head, outcome) => {
    const line = makeLine({ text: 'p95 <= baseline + 40%', allowance: { ratio: 0.4 } })
    expect(judgeOne(line, onMain(base, p95Run(head))).comparison.outcome).toBe(outcome)
  })

  test('with three runs too', () => {
    const base = [p95Run(400), p95Run(404), p95Run(1200)]
    expect(judgeOne(makeLine(), onMain(base, p95Run(1200))).comparison.outcome).toBe('unsure')
  })

  test('is the same for error rates, throughput and apdex', () => {
    const [rate, throughput, apdex] = [
      makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 }),
      makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 }),
      makePlainLine('apdex', 'baseline - 0.02', { amount: 0.02 })
    ]
    const failing = makeComparedRun({ overall: { failures: 20_000 } })
    const judged = judgeOne(rate, onMain([...nine.map(() => makeComparedRun()), failing], failing))
    expect(judged.comparison.outcome).toBe('unsure')
    expect(judged.reason).toContain(
      'the error_rate of the newest run of main is 40 pp higher than that of the nine before it, and no second run confirms it'
    )
    const slow = makeComparedRun({
      overall: { throughput: 50, apdex: 0.6 },
      apdex: { score: 0.6, targetMs: 500 }
    })
    const usual = nine.map(() => makeComparedRun({ apdex: { score: 0.9, targetMs: 500 } }))
    expect(judgeOne(throughput, onMain([...usual, slow], slow)).reason).toContain(
      'the throughput of the newest run of main is 50 % lower than that of the nine before it'
    )
    expect(judgeOne(apdex, onMain([...usual, slow], slow)).reason).toContain('is 0.3 lower than')
  })

  test('without a name of the branch', () => {
    expect(judgeOne(makeLine(), recorded(times(804), p95Run(600))).reason).toContain(
      'but the newest run of the baseline branch is'
    )
  })
})

describe('a base that fails more often than the head', () => {
  const rate = (share: number) => 50_000 * share
  /** A tenth of its requests timed out, so that p95 is that of the time-outs. */
  const timedOut = p95Run(30_000, { failures: rate(0.1), meanMs: 3100, throughput: 10, apdex: 0.9 })
  const slower = p95Run(690, { meanMs: 500, throughput: 20 })
  const fine = p95Run(138)
  const LINES = [
    makeLine(),
    makePlainLine('mean', 'baseline + 10%', { ratio: 0.1 }),
    makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
  ]

  test.each(LINES)('is no base for $text: recorded runs', (line) => {
    const judged = judgeOne(line, recorded([timedOut, timedOut, timedOut], slower))
    expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'warn' })
    expect(judged.reason).toBe(
      `${line.name} cannot be compared: 3 of 3 recorded runs are left out, as more samples of the base failed (10 %, and 0 % of the head's); the next runs of the baseline branch that work are a new baseline`
    )
    const mixed = judgeOne(line, recorded([fine, fine, fine, fine, timedOut], slower))
    expect(mixed.comparison).toMatchObject({ outcome: 'broken', knownBaseRuns: 4 })
    expect(mixed.reason).toMatch(
      /; 1 of 5 recorded runs is left out, as more samples of the base failed \(10 %, and 0 % of the head's\)$/
    )
  })

  test.each(LINES)('is no base for $text: side by side, whatever on-missing-baseline says', (line) => {
    const pairs = (spoilt: number): ComparisonEvidence => ({
      kind: 'side-by-side',
      pairs: WOBBLE.map((_, i) => ({ base: i < spoilt ? timedOut : fine, head: slower }))
    })
    expect(judgeOne(line, pairs(2)).comparison).toMatchObject({ outcome: 'broken', baseRuns: 8 })
    expect(judgeOne(line, pairs(2)).reason).toContain('; 2 of 10 rounds are left out, as more samples of')
    for (const spoilt of [3, 10]) {
      const judged = judgeOne(line, pairs(spoilt), { onMissing: 'pass' })
      expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'fail' })
      expect(judged.reason).toBe(
        `${line.name} cannot be compared: ${spoilt} of 10 rounds are left out, as more samples of the base failed (10 %, and 0 % of the head's); at least 8 are needed: check that the server of the base works`
      )
    }
  })

  test('of the rounds that there were, not only of those that are complete', () => {
    const pairs = WOBBLE.slice(2).map((_, i) => ({ base: i < 1 ? timedOut : fine, head: slower }))
    const judged = judgeOne(makeLine(), { kind: 'side-by-side', pairs, rounds: 10 })
    expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'fail' })
    expect(judgeOne(makeLine(), { kind: 'side-by-side', pairs, rounds: 8 }).comparison.outcome).toBe('broken')
  })

  test.each<[string, number, number, 'holds' | 'not comparable']>([
    ['by one percentage point', 0.01, 0, 'holds'],
    ['by more', 0.0102, 0, 'not comparable'],
    ['not twice as often', 0.05, 0.03, 'holds'],
    ['twice as often', 0.06, 0.03, 'not comparable'],
    ['less often', 0.01, 0.03, 'holds']
  ])('%s: %d against %d', (_, before, now, outcome) => {
    const run = (share: number) => p95Run(400, { failures: rate(share) })
    const base = WOBBLE.map(() => run(before))
    expect(judgeOne(makeLine(), recorded(base, run(now))).comparison.outcome).toBe(outcome)
  })

  test('error rates are compared all the same', () => {
    const line = makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 })
    const judged = judgeOne(line, recorded(Array(10).fill(timedOut), fine))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', changePct: -10, knownBaseRuns: 10 })
  })

  test('in one label', () => {
    const run = (label: Partial<FigureValues>) => makeComparedRun({ labels: { pay: label } })
    const line = makeLine({ selector: selectLabel('*') })
    const base = Array.from({ length: 5 }, () => run({ percentileMs: 30_000, failures: rate(0.1) }))
    expect(judgeOne(line, recorded(base, run({ percentileMs: 690 }))).comparison.outcome).toBe(
      'not comparable'
    )
  })
})

describe("a service's apdex that the samples do not bear out", () => {
  const line = makePlainLine('apdex', 'baseline - 0.02', { amount: 0.02 })
  const run = (score: number, own: number) =>
    makeComparedRun({ overall: { apdex: own }, apdex: { score, targetMs: 500 } })

  test('of the head is not believed where the line holds', () => {
    const base = WOBBLE.map(() => run(0.9, 0.9))
    const judged = judgeOne(line, recorded(base, run(0.95, 0.2)))
    expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'fail' })
    expect(judged.reason).toContain('but it is 0.2 by the samples, with the same target of 500 ms')
    expect(judgeOne(line, recorded(base, run(0.5, 0.2))).comparison.outcome).toBe('broken')
    const pairs = base.map((one) => ({ base: one, head: run(0.95, 0.2) }))
    expect(judgeOne(line, { kind: 'side-by-side', pairs }).comparison.ifNotJudged).toBe('fail')
  })

  test('of a recorded run leaves it out', () => {
    const base = [...WOBBLE.map(() => run(0.8, 0.8)), run(0.99, 0.1)]
    const judged = judgeOne(line, recorded(base, run(0.8, 0.8)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
    expect(judged.reason).toContain(
      '1 of 11 recorded runs is left out, as the apdex of the base is not trusted'
    )
  })
})

describe('confirming runs that are full of errors', () => {
  const quickFailures = (share: number) => p95Run(5, { failures: 50_000 * share })

  test.each([0.2, 0.5, 1])('do not make a broken line hold: %d of the samples', (share) => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(520), quickFailures(share)))
    expect(judged.comparison.outcome).toBe('broken')
  })

  test('leave no line green', () => {
    const failed = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(400), quickFailures(1)))
    expect(failed.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'fail' })
    expect(failed.reason).toContain(
      'but 50000 of 50000 samples failed in 1 of 2 runs, so response times say little'
    )
    const some = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(400), quickFailures(0.2)))
    expect(some.comparison.outcome).toBe('unsure')
  })

  test('nor rounds', () => {
    const pairs = (head: number): ComparisonEvidence => ({
      kind: 'side-by-side',
      pairs: WOBBLE.map((wobble, i) => ({
        base: p95Run(400 * wobble),
        head: i === 3 ? quickFailures(1) : p95Run(head * WOBBLE[(i + 3) % 10]!)
      }))
    })
    expect(judgeOne(makeLine(), pairs(520)).comparison.outcome).toBe('broken')
    expect(judgeOne(makeLine(), pairs(400)).comparison).toMatchObject({
      outcome: 'not comparable',
      ifNotJudged: 'fail'
    })
  })
})

describe('recorded runs', () => {
  test('break a line', () => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(520)))
    expect(judged).toMatchObject({ verdict: 'failed', scopesChecked: 1, comparison: { outcome: 'broken' } })
    expect(judged.actual).toBe(520)
    expect(judged.comparison.base).toBeCloseTo(400, -1)
    expect(judged.comparison.limit).toBeCloseTo(judged.comparison.base! * 1.1, 8)
    expect(judged.comparison).toMatchObject({ baseRuns: 5, knownBaseRuns: 10 })
    expect(judged.comparison.changePct).toBeCloseTo((520 / judged.comparison.base! - 1) * 100, 8)
    expect(judged.comparison.p).toBeLessThan(0.001)
    expect(judged.margin).toBeCloseTo(1 - 520 / judged.comparison.limit!, 8)
    expect(judged.scope).toBeUndefined()
    expect(judged.reason).toBe(
      "p95 is 520 ms, +30 % against the baseline's 400 ms (the newest 5 of 10 runs; 98 % interval +18.6 % to +42.5 %); it must be <= 440 ms (baseline + 10%)"
    )
  })

  test('hold', () => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(412)))
    expect(judged).toMatchObject({ verdict: 'passed', comparison: { outcome: 'holds' } })
    expect(judged.margin).toBeGreaterThan(0)
    expect(judged.reason).toMatch(/^p95 is 412 ms, \+3 % against .*; within <= 440 ms \(baseline \+ 10%\)$/)
  })

  test('say where the newest run alone is the base, because those before differ', () => {
    const base = [...p95Runs(252), p95Run(208)]
    const judged = judgeOne(makeLine(), recorded(base, p95Run(208)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', baseRuns: 1, knownBaseRuns: 11 })
    expect(judged.reason).toMatch(
      /\(the newest 1 of 11 runs; .*; the run before it differs: 249 ms, so the baseline is the newest run alone; another run on the baseline branch confirms it$/
    )
    const two = judgeOne(makeLine(), recorded([...base, p95Run(208)], p95Run(208)))
    expect(two.comparison.baseRuns).toBe(2)
    expect(two.reason).toContain('(the newest 2 of 12 runs; before: 249 ms; 98 %')
    const known = [...base, p95Run(208)].map((run, day) => ({
      ...run,
      recorded: { commit: String(day % 10).repeat(40), atMs: Date.UTC(2026, 10, day + 1, 11, 19) }
    }))
    expect(judgeOne(makeLine(), recorded(known, p95Run(208))).reason).toContain(
      '(the newest 2 of 12 runs, since 0000000 (2026-11-11 11:19 UTC); before: 249 ms; 98 %'
    )
  })

  test("give the run's own figure", () => {
    expect(judgeOne(makeLine(), recorded([p95Run(401)], p95Run(648)))).toMatchObject({
      actual: 648,
      comparison: { base: 401 }
    })
  })

  test('are unsure where the limit is exceeded by what may be chance', () => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(400, 3), p95Run(450)))
    expect(judged).toMatchObject({
      verdict: 'inconclusive',
      margin: undefined,
      comparison: { outcome: 'unsure', ifNotJudged: 'pass' }
    })
    expect(judged.actual).toBeCloseTo(450, 8)
    expect(judged.reason).toMatch(
      /it must be <= 44\d ms \(baseline \+ 10%\), but the difference may be noise: these runs can only find changes above \d+(\.\d)? %; record more runs on the baseline branch, set noise to what `loadgate calibrate` measures, or compare side by side$/
    )
  })

  test('are unsure where a breach could go unnoticed, and say what one base run can find', () => {
    const judged = judgeOne(makeLine(), recorded([p95Run(400)], p95Run(404)), { onUnsure: 'fail' })
    expect(judged.comparison).toMatchObject({ outcome: 'unsure', baseRuns: 1, ifNotJudged: 'fail' })
    expect(judged.comparison.resolutionPct).toBeCloseTo(42.7, 1)
    expect(judged.reason).toContain('with one base run only changes above about +30.3 % can be found; record')
  })

  test('with one base run break only far beyond the limit', () => {
    const outcomes = [480, 500, 519, 524, 560].map(
      (ms) => judgeOne(makeLine(), recorded([p95Run(400)], p95Run(ms))).comparison.outcome
    )
    expect(outcomes).toEqual(['unsure', 'unsure', 'unsure', 'broken', 'broken'])
  })

  test('take the mean of confirming runs', () => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(400), p95Run(441), p95Run(420)))
    expect(judged.actual).toBeCloseTo(Math.cbrt(400 * 441 * 420), 6)
    expect(judged.reason).toContain('p95 is 420 ms (mean of 3 runs), +5 %')
  })

  test('never break by less than 2 ms', () => {
    const small = judgeOne(makeLine(), recorded(p95Runs(3), p95Run(4.9)))
    expect(small).toMatchObject({ verdict: 'passed', comparison: { outcome: 'holds' } })
    expect(small.comparison.limit).toBeCloseTo(5, 1)
    const more = judgeOne(makeLine(), recorded(p95Runs(3), p95Run(5.1)))
    expect(more.comparison.outcome).toBe('broken')
    const two = judgeOne(
      makeLine(),
      recorded(
        Array.from({ length: 10 }, () => p95Run(3)),
        p95Run(5)
      )
    )
    // What is said of the limit fits: 5 ms are not above 5 ms.
    expect(two.comparison).toMatchObject({ outcome: 'holds', limit: 5 })
    expect(more.comparison.limit).toBeCloseTo(5, 1)
  })

  test('do not doubt small times for changes that could not break anyway', () => {
    // These runs can find +43 %, which is less than 1 ms.
    expect(judgeOne(makeLine(), recorded([p95Run(2)], p95Run(2))).comparison.outcome).toBe('holds')
  })

  test('have figures for times of 0 ms', () => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(0), p95Run(0)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', changePct: 0, base: 0, limit: 2 })
    const broken = judgeOne(makeLine(), recorded(p95Runs(0), p95Run(3)))
    expect(broken.comparison).toMatchObject({ outcome: 'broken', base: 0, limit: 2 })
    expect(broken.reason).toMatch(/^p95 is 3 ms, .* against the baseline's 0 ms .*; it must be <= 2 ms /)
  })

  test('allow the larger of two limits', () => {
    const line = makeLine({
      text: 'p95 <= baseline + max(10%, 60ms)',
      allowance: { ratio: 0.1, amount: 60 }
    })
    const judged = judgeOne(line, recorded(p95Runs(400), p95Run(455)))
    expect(judged.comparison.outcome).toBe('holds')
    expect(judged.comparison.limit).toBeCloseTo(judged.comparison.base! + 60, 8)
    expect(judged.reason).toContain('(baseline + max(10%, 60ms))')
    expect(judgeOne(line, recorded(p95Runs(900), p95Run(1100))).comparison.outcome).toBe('broken')
  })
})

describe('other figures', () => {
  test('throughput may fall only so far', () => {
    const line = makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
    const judged = judgeOne(
      line,
      recorded(
        runsWith((factor) => ({ throughput: 100 * factor })),
        makeComparedRun({ overall: { throughput: 80 } })
      )
    )
    expect(judged).toMatchObject({ verdict: 'failed', comparison: { outcome: 'broken' } })
    expect(judged.comparison.changePct).toBeCloseTo(-20, 0)
    expect(judged.comparison.interval![0]).toBeLessThan(-20)
    expect(judged.comparison.interval![1]).toBeGreaterThan(-20)
    expect(judged.comparison.interval![1]).toBeLessThan(0)
    expect(judged.comparison.resolutionPct).toBeLessThan(0)
    expect(judged.comparison.limit).toBeCloseTo(judged.comparison.base! * 0.95, 8)
    expect(judged.margin).toBeLessThan(0)
    expect(judged.reason).toMatch(/^throughput is 80\/s, -20(\.\d)? % against the baseline's 100\/s/)
    const more = makeComparedRun({ overall: { throughput: 300 } })
    expect(
      judgeOne(
        line,
        recorded(
          runsWith((factor) => ({ throughput: 100 * factor })),
          more
        )
      ).comparison.outcome
    ).toBe('holds')
  })

  test('a throughput of 0 is no figure', () => {
    const line = makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
    const none = makeComparedRun({ overall: { throughput: 0 } })
    expect(judgeOne(line, recorded(p95Runs(400), none)).comparison.outcome).toBe('not comparable')
    const judged = judgeOne(line, recorded([none, ...p95Runs(400)], p95Run(400)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
  })

  test('error rates are compared in percentage points', () => {
    const line = makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 })
    const base = runsWith(() => ({ samples: 5000, failures: 5 }))
    const broken = judgeOne(
      line,
      recorded(base, makeComparedRun({ overall: { samples: 5000, failures: 100 } }))
    )
    expect(broken.comparison.outcome).toBe('broken')
    expect(broken.comparison.changePct).toBeCloseTo(1.9, 8)
    expect(broken.comparison.limit).toBeCloseTo(0.006, 8)
    expect(broken.reason).toMatch(
      /^error_rate is 2 %, \+1\.9 pp against the baseline's 0\.1 % \(the newest 5 of 10 runs; 98 % interval \+1\.\d+ pp to \+2\.\d+ pp\); it must be <= 0\.6 % \(baseline \+ 0\.5pp\)$/
    )
    const same = judgeOne(line, recorded(base, makeComparedRun({ overall: { samples: 5000, failures: 8 } })))
    expect(same.comparison.outcome).toBe('holds')
  })

  test('a line without any allowance for failures says what to do', () => {
    const line = makePlainLine('error_rate', 'baseline', {})
    const base = runsWith(() => ({ failures: 0 }))
    expect(judgeOne(line, recorded(base, makeComparedRun())).comparison.outcome).toBe('holds')
    const judged = judgeOne(line, recorded(base, makeComparedRun({ overall: { failures: 1 } })))
    expect(judged.comparison.outcome).toBe('unsure')
    expect(judged.reason).toContain('allow for some change, or compare side by side')
  })

  test('a line without any allowance can hold side by side', () => {
    const line = makePlainLine('error_rate', 'baseline', {})
    const pairs = WOBBLE.map(() => ({ base: makeComparedRun(), head: makeComparedRun() }))
    expect(judgeOne(line, { kind: 'side-by-side', pairs }).comparison.outcome).toBe('holds')
  })

  test('a figure that is exactly at its limit is written as people read it', () => {
    const line = makePlainLine('error_rate', 'baseline', {})
    const run = makeComparedRun({ overall: { samples: 667, failures: 2 } })
    const judged = judgeOne(line, recorded([run, run, run], run))
    expect(judged.reason).toMatch(/^error_rate is 0\.3 %, 0 pp against the baseline's 0\.3 % /)
    expect(judged.actual).toBe(2 / 667)
  })

  test('throughput with one base run is as unsure as times are', () => {
    const line = makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
    const judged = judgeOne(line, recorded([makeComparedRun()], makeComparedRun()))
    expect(judged.comparison.outcome).toBe('unsure')
    expect(judged.reason).toContain('with one base run only changes above about -23.3 % can be found')
  })

  test('a wide limit holds with one base run, and the words say what can be found', () => {
    const line = makePlainLine('throughput', 'baseline - 30%', { ratio: 0.3 })
    const judged = judgeOne(line, recorded([makeComparedRun()], makeComparedRun()))
    expect(judged.comparison.outcome).toBe('holds')
    expect(judged.reason).toMatch(/; with one base run only changes above about -23\.3 % can be found$/)
  })

  test.each([
    ['throughput', 'baseline - 1000/s', 1000, 'the baseline is 100/s'],
    ['error_rate', 'baseline + 99.95pp', 0.9995, 'the baseline is 0.1 %']
  ] as const)('a limit that any %s is within is not comparable', (metric, limit, amount, words) => {
    const run = makeComparedRun({ overall: { failures: 50 } })
    const judged = judgeOne(
      makePlainLine(metric, limit, { amount }),
      recorded(
        WOBBLE.map(() => run),
        run
      )
    )
    expect(judged).toMatchObject({ verdict: 'inconclusive', comparison: { outcome: 'not comparable' } })
    expect(judged.reason).toContain(words)
    expect(judged.reason).toContain(`${limit}\` allows for any ${metric}; allow for less`)
  })

  describe('apdex', () => {
    const line = makePlainLine('apdex', 'baseline - 0.02', { amount: 0.02 })
    const withScore = (score: number, targetMs = 500) => makeComparedRun({ apdex: { score, targetMs } })
    const base = WOBBLE.map((factor) => withScore(0.9 + (factor - 1) / 10))

    test("is the run's own score", () => {
      const broken = judgeOne(line, recorded(base, withScore(0.8)))
      expect(broken.comparison.outcome).toBe('broken')
      expect(broken.comparison.changePct).toBeCloseTo(-10, 0)
      expect(broken.actual).toBeCloseTo(0.8, 10)
      expect(broken.reason).toMatch(/^apdex is 0\.8, -0\.1 against the baseline's 0\.9 /)
      expect(judgeOne(line, recorded(base, withScore(0.89))).comparison.outcome).toBe('holds')
    })

    test('with another target is not comparable, and both are named', () => {
      const judged = judgeOne(line, recorded(base, withScore(0.9, 400)))
      expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'warn' })
      expect(judged.reason).toBe(
        'apdex cannot be compared: its target is 400 ms in this run and 500 ms in the baseline'
      )
    })

    test('uses the base runs that have the same target', () => {
      const judged = judgeOne(line, recorded([withScore(0.2, 100), ...base], withScore(0.9)))
      expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
    })

    test('is computed for a label', () => {
      const labelled = { ...line, selector: selectLabel('pay') }
      const run = (apdex: number) =>
        makeComparedRun({ labels: { pay: { apdex } }, apdex: { score: 0.5, targetMs: 500 } })
      const judged = judgeOne(
        labelled,
        recorded(
          WOBBLE.map(() => run(0.95)),
          run(0.7)
        )
      )
      expect(judged).toMatchObject({ scope: { label: 'pay' }, comparison: { outcome: 'broken' } })
      expect(judged.actual).toBeCloseTo(0.7, 10)
    })

    test('may be missing on either side', () => {
      const without = makeComparedRun()
      expect(judgeOne(line, recorded(base, without)).comparison.outcome).toBe('not comparable')
      expect(judgeOne(line, recorded([without], withScore(0.9))).comparison.outcome).toBe('no baseline')
    })
  })
})

describe('samples', () => {
  test('p99 wants 2,000 of them on both sides', () => {
    const line = makeLine({ text: 'p99 <= baseline + 10%', name: 'p99', percentile: 99 })
    const outcome = (baseSamples: number, headSamples: number) =>
      judgeOne(
        line,
        recorded(
          runsWith(() => ({ samples: baseSamples })),
          p95Run(900, { samples: headSamples })
        )
      )
    expect(outcome(2000, 2000).comparison.outcome).toBe('broken')
    expect(outcome(2000, 1999).comparison.outcome).toBe('unsure')
    expect(outcome(1999, 2000).comparison.outcome).toBe('unsure')
    expect(outcome(2000, 1200).reason).toMatch(
      /a run has only 1,200 samples, and p99 needs 2,000 \(20 beyond it\): run longer, or use a lower percentile$/
    )
  })

  test('of small base runs do not spoil those of the others', () => {
    const small = p95Run(2000, { samples: 30 })
    const judged = judgeOne(makeLine(), recorded([...p95Runs(400), small], p95Run(400)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
  })

  test('are needed for other figures too', () => {
    const line = makePlainLine('mean', 'baseline + 10%', { ratio: 0.1 })
    const judged = judgeOne(line, recorded(p95Runs(400), makeComparedRun({ overall: { samples: 99 } })))
    expect(judged.comparison.outcome).toBe('unsure')
    expect(judged.reason).toContain('a run has only 99 samples, and mean needs 100: run longer')
  })

  test('of tiny scopes do not count among the findings', () => {
    const run = (rare: number, often: number) =>
      makeComparedRun({
        labels: {
          ...Object.fromEntries(
            Array.from({ length: 9 }, (_, i) => [`rare ${i}`, { percentileMs: rare, samples: 5 }])
          ),
          often: { percentileMs: often }
        }
      })
    const lines = [makeLine({ selector: selectLabel('often') }), makeLine({ selector: selectLabel('rare*') })]
    // p is between 0.01 / 10 and 0.01: significant where it is the only one that is tested.
    const base = WOBBLE.map((factor) => run(100, 400 * factor))
    const alone = judgeBaselineLines(lines.slice(0, 1), recorded(base, run(100, 446)), RULES)
    const beside = judgeBaselineLines(lines, recorded(base, run(100, 446)), RULES)
    expect(alone[0]?.comparison?.p).toBeGreaterThan(0.001)
    expect(alone[0]?.comparison?.outcome).toBe('broken')
    expect(beside[0]?.comparison).toEqual(alone[0]?.comparison)
    expect(beside[1]?.comparison?.outcome).toBe('unsure')
  })
})

describe('failed samples', () => {
  test('make times no judgement', () => {
    const judged = judgeOne(
      makeLine(),
      recorded(p95Runs(400), p95Run(40, { samples: 1000, failures: 501 })),
      { onMissing: 'pass', onUnsure: 'pass' }
    )
    expect(judged).toMatchObject({
      verdict: 'inconclusive',
      actual: undefined,
      comparison: { outcome: 'not comparable', ifNotJudged: 'fail' }
    })
    expect(judged.reason).toContain('but 501 of 1000 samples failed, so response times say little')
  })

  test('can break a line nevertheless', () => {
    const judged = judgeOne(makeLine(), recorded(p95Runs(400), p95Run(900, { samples: 1000, failures: 900 })))
    expect(judged.comparison.outcome).toBe('broken')
  })

  test('make throughput and apdex no judgement either', () => {
    const failing = makeComparedRun({ overall: { failures: 40_000 }, apdex: { score: 0.9, targetMs: 500 } })
    const fine = makeComparedRun({ apdex: { score: 0.9, targetMs: 500 } })
    const lines = [
      makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 }),
      makePlainLine('apdex', 'baseline - 0.02', { amount: 0.02 })
    ]
    const base = WOBBLE.map(() => fine)
    for (const line of lines) {
      const judged = judgeOne(line, recorded(base, failing))
      expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'fail' })
      expect(judged.reason).toContain(`40000 of 50000 samples failed, so ${line.name} says little`)
      const pairs = base.map((run) => ({ base: run, head: failing }))
      expect(judgeOne(line, { kind: 'side-by-side', pairs }).comparison.outcome).toBe('not comparable')
    }
  })

  test('of base runs and rounds do not count for throughput', () => {
    const line = makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
    const down = makeComparedRun({ overall: { failures: 50_000, throughput: 900 } })
    const fine = makeComparedRun()
    const mixed = judgeOne(line, recorded([...WOBBLE.map(() => fine), down, down], fine))
    expect(mixed.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
    const none = judgeOne(line, recorded([down, down], fine))
    expect(none.comparison.outcome).toBe('not comparable')
    expect(none.reason).toContain('most samples of the baseline failed, so its throughput says little')
    const pairs = WOBBLE.map((_, i) => ({ base: i < 2 ? down : fine, head: fine }))
    const rounds = judgeOne(line, { kind: 'side-by-side', pairs })
    expect(rounds.comparison).toMatchObject({ outcome: 'holds', baseRuns: 8 })
  })

  test('do not matter for error rates', () => {
    const line = makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 })
    const failing = p95Run(400, { failures: 40_000 })
    expect(judgeOne(line, recorded(p95Runs(400), failing)).comparison.outcome).toBe('broken')
  })

  test('of base runs take these out', () => {
    const bad = p95Run(10, { failures: 40_000 })
    const judged = judgeOne(makeLine(), recorded([...p95Runs(400), bad], p95Run(400)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
    const none = judgeOne(makeLine(), recorded([bad, bad], p95Run(400)))
    expect(none.comparison.outcome).toBe('not comparable')
    expect(none.reason).toContain('most samples of the baseline failed')
  })
})

describe('scopes', () => {
  const labelled = (times: Record<string, number>) =>
    makeComparedRun({
      labels: Object.fromEntries(
        Object.entries(times).map(([label, percentileMs]) => [label, { percentileMs }])
      )
    })
  const baseWith = (times: Record<string, number>) => WOBBLE.map(() => labelled(times))
  const every = makeLine({ text: 'p95{label="*"} <= baseline + 10%', selector: selectLabel('*') })

  test('the worst one decides and is named', () => {
    const judged = judgeOne(
      every,
      recorded(baseWith({ home: 100, pay: 400, list: 300 }), labelled({ home: 101, pay: 600, list: 380 }))
    )
    expect(judged).toMatchObject({ verdict: 'failed', scope: { label: 'pay' }, scopesChecked: 3 })
    expect(judged.reason).toMatch(/^p95 of pay is 600 ms, .*; broken in 2 of 3 scopes$/)
  })

  test('the closest one is named where all hold', () => {
    const judged = judgeOne(
      every,
      recorded(baseWith({ home: 100, pay: 400 }), labelled({ home: 105, pay: 404 }))
    )
    expect(judged).toMatchObject({ verdict: 'passed', scope: { label: 'home' }, scopesChecked: 2 })
    expect(judged.reason).toMatch(/; the closest of 2 scopes$/)
  })

  test('a new label has no baseline', () => {
    const judged = judgeOne(every, recorded(baseWith({ home: 100 }), labelled({ home: 100, 'my cart': 400 })))
    expect(judged).toMatchObject({
      verdict: 'inconclusive',
      scope: { label: 'my cart' },
      comparison: { outcome: 'no baseline', ifNotJudged: 'warn' }
    })
    expect(judged.reason).toBe(
      'p95 of "my cart" has no baseline: the label is new, no base run has it; no baseline in 1 of 2 scopes'
    )
  })

  test('a label that is gone is not comparable', () => {
    const judged = judgeOne(every, recorded(baseWith({ home: 100, pay: 400 }), labelled({ home: 100 })))
    expect(judged).toMatchObject({ scope: { label: 'pay' }, comparison: { outcome: 'not comparable' } })
    expect(judged.reason).toContain('p95 of pay cannot be compared: the label is gone')
  })

  test('a named label that is gone is not comparable, however old its last run is', () => {
    const line = makeLine({ selector: selectLabel('pay') })
    const base = [labelled({ home: 100, pay: 400 }), labelled({ home: 100 })]
    const judged = judgeOne(line, recorded(base, labelled({ home: 100 })))
    expect(judged).toMatchObject({ scope: { label: 'pay' }, comparison: { outcome: 'not comparable' } })
  })

  test('a label that was removed from the branch is not missed by a wildcard', () => {
    const base = [labelled({ home: 100, pay: 400 }), ...baseWith({ home: 100 })]
    const judged = judgeOne(every, recorded(base, labelled({ home: 100 })))
    expect(judged).toMatchObject({ verdict: 'passed', scopesChecked: 1 })
  })

  test('a label that only some base runs have is compared with those', () => {
    const base = [...baseWith({ home: 100 }).slice(6), ...baseWith({ home: 100, pay: 400 }).slice(4)]
    const judged = judgeOne(
      makeLine({ selector: selectLabel('pay') }),
      recorded(base, labelled({ home: 100, pay: 404 }))
    )
    expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 6 })
  })

  test('a label that nothing has is not comparable, and the nearest are named', () => {
    const line = makeLine({ selector: selectLabel('hone') })
    const judged = judgeOne(line, recorded(baseWith({ home: 100 }), labelled({ home: 100 })))
    expect(judged).toMatchObject({ comparison: { outcome: 'not comparable' }, scopesChecked: 0 })
    expect(judged.reason).toContain('no label matches "hone"; there is "home"')
  })

  test('regions are scopes too', () => {
    const run = (ms: number) => makeComparedRun({ regions: { 'eu-1': { percentileMs: ms } } })
    const line = makeLine({ selector: { region: { text: '*', pieces: ['', ''] } } })
    const judged = judgeOne(
      line,
      recorded(
        WOBBLE.map((factor) => run(400 * factor)),
        run(800)
      )
    )
    expect(judged).toMatchObject({ scope: { region: 'eu-1' }, comparison: { outcome: 'broken' } })
  })

  test('broken outweighs not judged, and that outweighs holds', () => {
    const judged = judgeOne(
      every,
      recorded(baseWith({ home: 100, pay: 400 }), labelled({ home: 300, pay: 400, cart: 5 }))
    )
    expect(judged).toMatchObject({ verdict: 'failed', scope: { label: 'home' } })
    expect(judged.reason).toMatch(/; broken in 1 of 3 scopes, not judged in 1 more$/)
  })

  test('what makes the gate inconclusive outweighs what only warns', () => {
    const head = makeComparedRun({
      labels: { home: { percentileMs: 100, failures: 40_000 }, fresh: { percentileMs: 4 } }
    })
    const judged = judgeOne(every, recorded(baseWith({ home: 100 }), head))
    expect(judged).toMatchObject({
      scope: { label: 'home' },
      comparison: { outcome: 'not comparable', ifNotJudged: 'fail' }
    })
  })
})

describe('runs without samples', () => {
  const empty: ComparedRun = { apdex: undefined, labels: [], regions: [], figures: () => undefined }
  const line = makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 })

  test.each([
    ['base', recorded([empty], p95Run(400)), 'no baseline', 'p95 has no baseline: no base run has samples'],
    ['head', recorded([p95Run(400)], empty), 'not comparable', 'this run has none'],
    ['both', recorded([empty], empty), 'not comparable', 'there are no samples on either side']
  ])('on the side of %s', (_, evidence, outcome, words) => {
    const judged = judgeOne(makeLine(), evidence)
    expect(judged.comparison.outcome).toBe(outcome)
    expect(judged.reason).toContain(words)
  })

  test('are left out of the base', () => {
    const none = makeComparedRun({ overall: { samples: 0, failures: 0 } })
    const judged = judgeOne(line, recorded([...p95Runs(400), none], p95Run(400)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', knownBaseRuns: 10 })
    const throughput = makePlainLine('throughput', 'baseline - 5%', { ratio: 0.05 })
    expect(
      judgeOne(throughput, recorded([...p95Runs(400), none], p95Run(400))).comparison.knownBaseRuns
    ).toBe(10)
  })
})

describe('percentiles that were not recorded', () => {
  const line = makeLine({ name: 'p97', percentile: 97 })

  test('come from the runs that have them', () => {
    const old = Array.from({ length: 8 }, () => p95Run(400, { percentileMs: { 95: 400 } }))
    const judged = judgeOne(line, recorded([...old, ...p95Runs(400, 4)], p95Run(400)))
    expect(judged.comparison).toMatchObject({ outcome: 'holds', baseRuns: 4 })
  })

  test('cannot be compared if none has', () => {
    const old = p95Run(400, { percentileMs: { 95: 400 } })
    const judged = judgeOne(line, recorded([old, old], p95Run(400)))
    expect(judged.comparison).toMatchObject({ outcome: 'not comparable', baseRuns: 0 })
    expect(judged.reason).toContain('none of the 2 base runs recorded this figure')
    expect(judgeOne(line, recorded(p95Runs(400), old)).reason).toContain('is unknown in this run')
  })
})

describe('side by side', () => {
  const line = makeLine({ text: 'p95 <= baseline + 5%', allowance: { ratio: 0.05 } })
  const rounds = (factor: number, count = 10): ComparisonEvidence => ({
    kind: 'side-by-side',
    pairs: WOBBLE.slice(0, count).map((wobble, i) => ({
      base: p95Run(400 * wobble),
      head: p95Run(400 * factor * WOBBLE[(i + 3) % 10]!)
    }))
  })

  test('breaks and holds', () => {
    const broken = judgeOne(line, rounds(1.2))
    expect(broken.comparison).toMatchObject({ outcome: 'broken', baseRuns: 10 })
    expect(broken.comparison.changePct).toBeCloseTo(20, 0)
    expect(broken.actual! / broken.comparison.base!).toBeCloseTo(1 + broken.comparison.changePct! / 100, 10)
    expect(broken.reason).toContain('(means of 10 rounds side by side; 98 % interval')
    expect(judgeOne(line, rounds(1)).comparison.outcome).toBe('holds')
  })

  test('advises more rounds where they do not suffice', () => {
    const judged = judgeOne(line, rounds(1.07, 2))
    expect(judged.comparison.outcome).toBe('unsure')
    expect(judged.reason).toMatch(
      /2 rounds can only find changes above [\d.]+ %; use more rounds or longer segments/
    )
  })

  test.each([
    [1, 'there is one'],
    [0, 'there are none']
  ])('with %d rounds is not comparable', (count, words) => {
    const judged = judgeOne(line, rounds(1, count))
    expect(judged.comparison).toMatchObject({ outcome: 'not comparable', ifNotJudged: 'warn' })
    expect(judged.reason).toContain(words)
  })

  test('counts the samples of all segments', () => {
    const withSamples = (samples: number): ComparisonEvidence => ({
      kind: 'side-by-side',
      pairs: WOBBLE.map((wobble) => ({
        base: p95Run(400 * wobble, { samples }),
        head: p95Run(400, { samples })
      }))
    })
    expect(judgeOne(line, withSamples(40)).comparison.outcome).toBe('holds')
    const few = judgeOne(line, withSamples(39))
    expect(few.comparison.outcome).toBe('unsure')
    expect(few.reason).toContain('all segments of one side together have only 390 samples, and p95 needs 400')
  })

  test('leaves out the rounds in which a label has no samples, unless they are many', () => {
    const pairs = (missing: number): ComparisonEvidence => ({
      kind: 'side-by-side',
      pairs: WOBBLE.map((wobble, i) => ({
        base: makeComparedRun({ labels: i < missing ? {} : { pay: { percentileMs: 400 * wobble } } }),
        head: makeComparedRun({ labels: { pay: { percentileMs: 400 } } })
      }))
    })
    const pay = { ...line, selector: selectLabel('*') }
    expect(judgeOne(pay, pairs(2)).comparison).toMatchObject({ outcome: 'holds', baseRuns: 8 })
    const many = judgeOne(pay, pairs(3))
    expect(many.comparison.outcome).toBe('not comparable')
    expect(many.reason).toContain('can be read on both sides in 7 of 10 rounds only')
    expect(judgeOne(pay, pairs(10)).comparison.outcome).toBe('no baseline')
  })
})

describe('all lines together', () => {
  test('need more evidence than one', () => {
    const lines = Array.from({ length: 20 }, (_, i) =>
      makeLine({ line: i + 1, selector: selectLabel(`l${i}`) })
    )
    const run = (slow: number) =>
      makeComparedRun({
        labels: Object.fromEntries(lines.map((_, i) => [`l${i}`, { percentileMs: i === 0 ? slow : 400 }]))
      })
    // p is between 0.01 / 20 and 0.01.
    const evidence = recorded(
      WOBBLE.slice(0, 5).map((factor) => run(400 * factor)),
      run(465)
    )
    const [alone] = judgeBaselineLines(lines.slice(0, 1), evidence, RULES)
    const [together] = judgeBaselineLines(lines, evidence, RULES)
    expect(alone?.comparison?.p).toBeLessThan(0.01)
    expect(alone?.comparison?.p).toBeGreaterThan(0.0005)
    expect(alone?.comparison?.outcome).toBe('broken')
    expect(together?.comparison?.outcome).toBe('unsure')
  })
})

describe('without anything to compare', () => {
  test('every line has the outcome and the reason', () => {
    const evidence = { kind: 'none', outcome: 'not comparable', reason: 'the plan changed' } as const
    const judged = judgeBaselineLines(SHOWN_LINES, evidence, { ...RULES, onMissing: 'fail' })
    expect(judged).toHaveLength(3)
    expect(judged.map(({ threshold }) => threshold.text)).toEqual([
      'p95 <= baseline + 10%',
      'throughput >= baseline - 10%',
      'error_rate <= baseline + 0.5pp'
    ])
    for (const judgement of judged) {
      expect(judgement).toMatchObject({
        verdict: 'inconclusive',
        reason: 'the plan changed',
        comparison: { outcome: 'not comparable', ifNotJudged: 'fail', base: undefined, baseRuns: 0 }
      })
    }
  })

  test('no base run is no baseline', () => {
    expect(judgeOne(makeLine(), recorded([], p95Run(400))).comparison.outcome).toBe('no baseline')
    expect(judgeOne(makeLine(), recorded([p95Run(400)])).comparison.outcome).toBe('not comparable')
  })
})

describe('describeLoadChange', () => {
  const withThroughput = (throughput: number | undefined) => makeComparedRun({ overall: { throughput } })

  test('speaks of a throughput that moved by more than 10 %', () => {
    const base = [withThroughput(500), ...Array.from({ length: 5 }, () => withThroughput(100))]
    expect(describeLoadChange(recorded(base, withThroughput(89)))).toMatch(
      /^the load differed: throughput was 89\/s against 100\/s in the baseline \(-11 %\)/
    )
    expect(describeLoadChange(recorded(base, withThroughput(91)))).toBeUndefined()
    expect(describeLoadChange(recorded(base, withThroughput(111)))).toContain('+11 %')
  })

  test('speaks of rounds too', () => {
    const pairs = [1, 2, 3].map(() => ({ base: withThroughput(100), head: withThroughput(80) }))
    expect(describeLoadChange({ kind: 'side-by-side', pairs })).toContain('(-20 %)')
  })

  test('says nothing about what is unknown', () => {
    expect(describeLoadChange(recorded([withThroughput(undefined)], withThroughput(89)))).toBeUndefined()
    expect(describeLoadChange({ kind: 'none', outcome: 'no baseline', reason: 'none' })).toBeUndefined()
  })
})
