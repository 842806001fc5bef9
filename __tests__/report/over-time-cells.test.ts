import { expect, test } from '@jest/globals'
import { overTimeCells } from '../../src/report/stalls.js'
import type { Judgement } from '../../src/analysis/thresholds/judge/judgement.js'
import { makeCompared, makeJudgement } from '../support/data/make-outcome.js'
import { makeBrokenOverTime } from '../support/stalls/stalled-run.js'

const apdex = {
  threshold: { text: 'apdex >= 0.85', metric: 'apdex', name: 'apdex', operator: '>=', value: 0.85, unit: '' }
} as const
const { overTime } = makeBrokenOverTime()

test.each<[string, Judgement, string, string]>([
  ['a percentile', makeBrokenOverTime(), '174 ms by samples', 'at least 4.6 s over time'],
  [
    'less than a second',
    makeBrokenOverTime({ value: 640 }),
    '174 ms by samples',
    'at least 640 ms over time'
  ],
  [
    'a figure that must not be rounded to its limit',
    makeBrokenOverTime({ value: 1070 }, { threshold: { value: 1050, unit: 'ms' } }),
    '174 ms by samples',
    'at least 1.07 s over time'
  ],
  [
    'an apdex',
    makeBrokenOverTime({ value: 0.712, bySamples: 0.984 }, apdex),
    '0.984 by samples',
    'at most 0.712 over time'
  ],
  [
    'a line that names baseline',
    { ...makeCompared('broken', { actual: 4630 }), ...(overTime && { overTime }) },
    '174 ms by samples',
    'at least 4.6 s over time'
  ]
])('both figures of %s', (_, judgement, bySamples, figureOverTime) => {
  expect(overTimeCells(judgement)).toEqual({ bySamples, overTime: figureOverTime })
})

test.each<[string, Judgement]>([
  ['nothing about it', makeJudgement()],
  ['a bound below the figure by samples', makeBrokenOverTime({ value: 90 })],
  ['a bound above the apdex by samples', makeBrokenOverTime({ value: 0.99, bySamples: 0.98 }, apdex)],
  ['no figure', { ...makeBrokenOverTime(), actual: undefined }]
])('with %s there is one figure', (_, judgement) => {
  expect(overTimeCells(judgement)).toBeUndefined()
})
