import { expect, test } from '@jest/globals'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import {
  leaveUndecided,
  type Comparison,
  type Judgement
} from '../../../../src/analysis/thresholds/judge/judgement.js'
import { makeComparison } from '../../../support/data/make-comparison.js'
import { overallVerdict } from '../../../../src/analysis/thresholds/judge/judge.js'

/** `level verdict`, and for a line that names `baseline` what it does when it is not judged. */
function makeJudgement(text: string): Judgement {
  const [level, verdict, ifNotJudged] = text.split(' ')
  const line = ifNotJudged === undefined ? 'apdex >= 0.85' : 'apdex >= baseline'
  const { thresholds } = parseThresholds(`${level === 'warn' ? 'warn: ' : ''}${line}`)
  const judgement = { ...leaveUndecided(thresholds[0]!, ''), verdict: verdict as Judgement['verdict'] }
  return ifNotJudged === undefined
    ? judgement
    : { ...judgement, comparison: makeComparison({ ifNotJudged: ifNotJudged as Comparison['ifNotJudged'] }) }
}

test.each([
  ['passed', []],
  ['passed', ['fail passed', 'fail passed']],
  ['failed', ['fail passed', 'fail failed']],
  ['inconclusive', ['fail passed', 'fail inconclusive']],
  ['failed', ['fail inconclusive', 'fail failed', 'fail inconclusive']],
  ['passed', ['warn failed', 'fail passed']],
  ['passed', ['warn inconclusive', 'warn failed']],
  ['inconclusive', ['warn failed', 'fail inconclusive']],
  ['failed', ['warn passed', 'fail failed']],
  ['failed', ['fail failed warn', 'fail passed']],
  ['passed', ['fail inconclusive warn', 'fail passed']],
  ['passed', ['fail inconclusive pass']],
  ['inconclusive', ['fail inconclusive fail', 'fail passed']],
  ['inconclusive', ['fail inconclusive warn', 'fail inconclusive']],
  ['failed', ['fail inconclusive fail', 'fail failed']],
  ['failed', ['fail inconclusive warn', 'fail failed fail']],
  ['passed', ['warn inconclusive fail', 'warn failed fail', 'fail passed']]
])('%s: %j', (expected, texts) => {
  expect(overallVerdict(texts.map(makeJudgement))).toBe(expected)
})
