import { expect, test } from '@jest/globals'
import { judgementRows } from '../../src/report/rows.js'
import { makeBroken, makeJudgement } from '../support/data/make-outcome.js'

test('broken ones come first, then the undecided, and warnings behind their kind', () => {
  const undecided = { verdict: 'inconclusive', actual: undefined, margin: undefined } as const
  const rows = judgementRows([
    makeJudgement({ threshold: { text: '1' } }),
    makeJudgement({ threshold: { text: '2', level: 'warn' }, ...undecided }),
    makeBroken({ threshold: { text: '3', level: 'warn' } }),
    makeJudgement({ threshold: { text: '4' }, ...undecided }),
    makeBroken({ threshold: { text: '5' } })
  ])
  expect(rows.map(({ threshold, verdict, actual, margin }) => [threshold, verdict, actual, margin])).toEqual([
    ['5', 'failed', '1,200 ms', '50 % over'],
    ['warn: 3', 'warning', '1,200 ms', '50 % over'],
    ['4', 'inconclusive', '–', '–'],
    ['warn: 2', 'inconclusive', '–', '–'],
    ['1', 'passed', '640 ms', '20 % below the limit']
  ])
})
