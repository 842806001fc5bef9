import { describe, expect, test } from '@jest/globals'
import { annotate } from '../../src/report/annotations.js'
import { bytesOf } from '../../src/report/escape.js'
import { parseAbsolute } from '../support/data/parse-absolute.js'
import { judgeThresholds } from '../../src/analysis/thresholds/judge/judge.js'
import {
  HOSTILE,
  makeBroken,
  makeCompared,
  makeJudgement,
  makeOutcome
} from '../support/data/make-outcome.js'
import { makeMeasurements, makeSamples } from '../analysis/thresholds/make-evidence.js'

const warned = (reason: string): ReturnType<typeof makeBroken> =>
  makeBroken({ threshold: { level: 'warn' }, reason })

test('an error for what fails the gate, a warning for what only warns, nothing for what holds', () => {
  const judgements = [
    makeJudgement(),
    makeBroken({ reason: 'broken' }),
    warned('warned'),
    makeJudgement({ verdict: 'inconclusive', reason: 'undecided' }),
    makeJudgement({ verdict: 'inconclusive', reason: 'unsure', threshold: { level: 'warn' } })
  ]
  expect(annotate(makeOutcome({ judgements }))).toEqual([
    { level: 'error', message: 'broken' },
    { level: 'warning', message: 'warned' },
    { level: 'warning', message: 'unsure' }
  ])
})

test.each(['timed-out', 'error', 'cancelled'] as const)(
  'nothing beside the message of a step that ends as %s',
  (verdict) => {
    expect(annotate(makeOutcome({ verdict, judgements: [makeBroken({ reason: 'broken' })] }))).toEqual([])
  }
)

test.each([
  [8, 8, undefined],
  [9, 9, '1 more in the job summary'],
  [3000, 9, '2992 more in the job summary']
])('of %i of a kind there are %i', (count, shown, last) => {
  const judgements = Array.from({ length: count }, (_, index) => [
    makeBroken({ reason: `broken ${index}` }),
    warned(`warned ${index}`)
  ]).flat()
  const annotations = annotate(makeOutcome({ judgements }))
  for (const level of ['error', 'warning']) {
    const ofKind = annotations.filter((annotation) => annotation.level === level)
    expect(ofKind).toHaveLength(shown)
    expect(ofKind[8]?.message).toBe(last)
  }
})

test.each([true, false])('each fits, rehearsal %s', (rehearsal) => {
  const judgements = [makeBroken({ reason: '漢🚀'.repeat(10_000) })]
  const [annotation] = annotate(makeOutcome({ judgements, rehearsal }))
  expect(bytesOf(annotation!.message)).toBeLessThan(4096)
  expect(annotation!.message.endsWith('(rehearsal, synthetic samples)')).toBe(rehearsal)
})

test('the leg of a matrix is named in each, and in what is left out', () => {
  const judgements = Array.from({ length: 9 }, () => makeBroken({ reason: 'broken' }))
  const messages = annotate(makeOutcome({ judgements }), 'eu, 20').map(({ message }) => message)
  expect(messages).toEqual([
    ...Array<string>(8).fill('broken [eu, 20]'),
    '1 more in the job summary [eu, 20]'
  ])
})

test('a broken threshold quotes its judgement', () => {
  const { thresholds } = parseAbsolute('p95{label="checkout"} < 800ms')
  const judgements = judgeThresholds(thresholds, {
    apdex: undefined,
    measurements: makeMeasurements(makeSamples([1240]))
  })
  expect(annotate(makeOutcome({ verdict: 'failed', judgements }))).toEqual([
    { level: 'error', message: 'p95 of checkout is 1,240 ms, must be < 800 ms: 55 % over' }
  ])
})

describe('lines that the baseline left open', () => {
  const open = (ifNotJudged: 'warn' | 'fail' | 'pass', level: 'fail' | 'warn' = 'fail') =>
    makeCompared('no baseline', {
      reason: 'no run of main',
      comparison: { ifNotJudged },
      threshold: { level }
    })
  const words = 'p95 <= baseline + 10%: no baseline: no run of main'

  test('are one warning together, next to what is broken', () => {
    const judgements = [
      makeCompared('broken', { reason: 'slower' }),
      makeCompared('broken', { reason: 'a bit slower', threshold: { level: 'warn' } }),
      open('warn'),
      makeCompared('unsure', { reason: 'unsure: too few runs', threshold: { level: 'warn' } }),
      makeCompared('holds')
    ]
    expect(annotate(makeOutcome({ verdict: 'failed', judgements }))).toEqual([
      { level: 'error', message: 'slower' },
      { level: 'warning', message: 'a bit slower' },
      {
        level: 'warning',
        message: `2 lines were not judged: ${words}; p95 <= baseline + 10%: unsure: too few runs`
      }
    ])
  })

  test('each say their outcome, whatever their labels are', () => {
    const judgements = [
      makeCompared('unsure', { reason: 'p95 of unsure is 5 ms' }),
      makeCompared('not comparable', { reason: 'not comparable: the plan changed' })
    ]
    expect(annotate(makeOutcome({ judgements }))).toEqual([
      {
        level: 'warning',
        message:
          '2 lines were not judged: p95 <= baseline + 10%: unsure: p95 of unsure is 5 ms; p95 <= baseline + 10%: not comparable: the plan changed'
      }
    ])
  })

  test('are a notice where a pass was asked for', () => {
    expect(annotate(makeOutcome({ judgements: [open('pass')] }), 'eu')).toEqual([
      { level: 'notice', message: `1 line was not judged: ${words} [eu]` }
    ])
  })

  test('are in the message of the step where a failure was asked for, unless they only warn', () => {
    expect(annotate(makeOutcome({ verdict: 'inconclusive', judgements: [open('fail')] }))).toEqual([])
    expect(annotate(makeOutcome({ judgements: [open('fail', 'warn')] }))).toEqual([
      { level: 'warning', message: `1 line was not judged: ${words}` }
    ])
  })

  test('fit, on one line, whatever they say', () => {
    const judgements = Array.from({ length: 50 }, () =>
      makeCompared('unsure', { reason: HOSTILE.repeat(20) })
    )
    const [warning, ...others] = annotate(makeOutcome({ judgements }))
    expect(others).toEqual([])
    expect(bytesOf(warning!.message)).toBeLessThan(4096)
    expect(warning!.message).toMatch(/^50 lines were not judged: .*; 42 more in the job summary$/)
    expect(warning!.message).not.toMatch(/[\r\n\u202e]/)
  })
})
