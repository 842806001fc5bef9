import { expect, test } from '@jest/globals'
import { parseThresholds } from '../../../src/thresholds/grammar/grammar.js'
import { leaveUndecided, type Judgement } from '../../../src/thresholds/judge/judgement.js'
import { overallVerdict } from '../../../src/thresholds/judge/overall.js'

function makeJudgement(text: string): Judgement {
  const [level, verdict] = text.split(' ')
  const { thresholds } = parseThresholds(`${level === 'warn' ? 'warn: ' : ''}apdex >= 0.85`)
  return { ...leaveUndecided(thresholds[0]!, ''), verdict: verdict as Judgement['verdict'] }
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
  ['failed', ['warn passed', 'fail failed']]
])('%s: %j', (expected, texts) => {
  expect(overallVerdict(texts.map(makeJudgement))).toBe(expected)
})
