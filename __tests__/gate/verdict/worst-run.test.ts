import { expect, test } from '@jest/globals'
import { takeWorst } from '../../../src/gate/verdict/conclude.js'
import type { Judgement } from '../../../src/analysis/thresholds/judge/judgement.js'
import { parseAbsolute } from '../../support/data/parse-absolute.js'
import { makeLine } from '../../support/baseline/make-run.js'

const [LINE] = parseAbsolute('failures <= 0').thresholds

function judged(verdict: Judgement['verdict'], changes: Partial<Judgement> = {}): Judgement {
  return { threshold: LINE!, verdict, actual: 1, margin: 0.5, scopesChecked: 1, reason: 'r', ...changes }
}

test.each<[string, Judgement, Judgement, 'the first one' | 'confirming run 1']>([
  ['a broken line', judged('inconclusive'), judged('failed'), 'confirming run 1'],
  ['an inconclusive one', judged('passed'), judged('inconclusive'), 'confirming run 1'],
  ['one that stays broken', judged('failed'), judged('passed', { margin: 0 }), 'the first one'],
  ['the closer one', judged('passed'), judged('passed', { margin: 0.2 }), 'confirming run 1'],
  ['the first of equals', judged('passed'), judged('passed'), 'the first one'],
  [
    'above a limit of 0',
    judged('failed', { margin: -1 }),
    judged('failed', { margin: undefined }),
    'confirming run 1'
  ],
  [
    'one with a warning',
    judged('passed', { margin: 0 }),
    judged('passed', { warning: 'w' }),
    'confirming run 1'
  ],
  ['one with a doubt', judged('passed', { margin: 0 }), judged('passed', { doubt: 'd' }), 'confirming run 1']
])('%s decides', (_, first, second, name) => {
  const [worst] = takeWorst([first], [{ name: 'confirming run 1', judgements: [second] }])
  expect(worst).toEqual({
    ...(name === 'the first one' ? first : second),
    reason: `r; the worst of 2 runs: ${name}`
  })
})

test('a line of the plan that only a confirming run has, since it is broken there, counts', () => {
  const threshold = {
    isToolLine: true,
    text: 'k6: thresholds of the script',
    line: 9,
    level: 'fail'
  } as const
  const broken = { ...judged('failed'), threshold }
  const confirming = { name: 'confirming run 1', judgements: [judged('passed'), broken] }
  const all = takeWorst([judged('passed')], [confirming, confirming])
  expect(all.map(({ verdict }) => verdict)).toEqual(['passed', 'failed'])
  expect(all[1]?.reason).toBe('r, in confirming run 1')
})

test('lines that name baseline, and runs that nothing confirms, stay as they are', () => {
  const comparison = { ifNotJudged: 'warn' } as Judgement['comparison'] & object
  const compared = judged('failed', { threshold: makeLine(), comparison })
  expect(takeWorst([compared], [{ name: 'confirming run 1', judgements: [judged('passed')] }])).toEqual([
    compared
  ])
  expect(takeWorst([judged('passed')], [])).toEqual([judged('passed')])
})
