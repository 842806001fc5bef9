import { describe, expect, test } from '@jest/globals'
import {
  countNotJudged,
  describeVerdict,
  explainEarlyStop,
  signOf,
  VERDICT_SIGNS
} from '../../src/report/sentences.js'
import { makeCompared, makeJudgement, makeOutcome, makeStoppedEarly } from '../support/data/make-outcome.js'

describe('the heading', () => {
  test.each([
    ['passed', [makeJudgement(), makeCompared('holds')], 'passed'],
    ['passed', [makeJudgement(), makeCompared('unsure')], 'passed, 1 line not judged'],
    ['passed', [makeCompared('no baseline'), makeCompared('not comparable')], 'passed, 2 lines not judged'],
    ['failed', [makeCompared('broken'), makeCompared('unsure')], 'failed'],
    ['inconclusive', [makeJudgement({ verdict: 'inconclusive' })], 'inconclusive']
  ] as const)('of a gate that %s', (verdict, judgements, words) => {
    expect(describeVerdict(makeOutcome({ verdict, judgements }))).toBe(words)
  })

  test('says that the run was stopped early, and why in a sentence', () => {
    const stoppedEarly = makeStoppedEarly()
    expect(describeVerdict(makeOutcome({ verdict: 'failed', stoppedEarly }))).toBe(
      'failed, stopped early after 2 min of 10 min'
    )
    expect(explainEarlyStop(stoppedEarly)).toBe(
      'The gate stopped the run because of "p95 < 800ms", so the verdict is on its first 2 min; that saved 8 min.'
    )
  })
})

test('a pass with lines that were not judged has a sign of its own', () => {
  const sign = signOf('passed', 1)
  expect(Object.values(VERDICT_SIGNS)).not.toContain(sign)
  expect(signOf('passed', 0)).toBe(VERDICT_SIGNS.passed)
  expect(signOf('failed', 3)).toBe(VERDICT_SIGNS.failed)
})

test('absolute lines are never counted as not judged', () => {
  expect(countNotJudged([makeJudgement({ verdict: 'inconclusive' }), makeCompared('broken')])).toBe(0)
})

test('no two verdicts share a sign', () => {
  expect(new Set(Object.values(VERDICT_SIGNS)).size).toBe(8)
})
