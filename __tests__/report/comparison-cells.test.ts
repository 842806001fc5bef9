import { expect, test } from '@jest/globals'
import { shortenCommit } from '../../src/report/escape.js'
import { comparisonCells, OUTCOME_SIGNS, judgementRows } from '../../src/report/rows.js'
import type { ComparisonOutcome } from '../../src/analysis/thresholds/judge/judgement.js'
import { makeBaselineFacts, makeCompared } from '../support/data/make-outcome.js'

test.each<[ComparisonOutcome, string]>([
  ['holds', '✅'],
  ['broken', '❌'],
  ['unsure', '⚠️'],
  ['no baseline', '⚠️'],
  ['not comparable', '⚠️']
])('%s has its own word with the sign %s', (outcome, sign) => {
  const [row] = judgementRows([makeCompared(outcome)], makeBaselineFacts())
  expect(row).toMatchObject({ verdict: outcome, comparison: { outcome, sign } })
})

test('only what holds is green', () => {
  const green = Object.entries(OUTCOME_SIGNS).filter(([, sign]) => sign === '✅')
  expect(green).toEqual([['holds', '✅']])
})

test('a broken line that only warns says both', () => {
  const [row] = judgementRows([makeCompared('broken', { threshold: { level: 'warn' } })])
  expect(row).toMatchObject({
    threshold: 'warn: p95 <= baseline + 10%',
    verdict: 'warning: broken',
    comparison: { sign: '⚠️' }
  })
})

test('base with its origin, head, and change with its interval', () => {
  expect(comparisonCells(makeCompared('broken'), makeBaselineFacts())).toEqual({
    outcome: 'broken',
    sign: '❌',
    base: '310 ms',
    baseFrom: '10 runs, 8c5a0f1',
    head: '386 ms',
    change: '+24.4 % (+14.2 to +35.6)'
  })
})

test('one run, rounds, and no commit', () => {
  const from = (baseRuns: number, facts: Parameters<typeof makeBaselineFacts>[0]): string | undefined =>
    comparisonCells(makeCompared('holds', { comparison: { baseRuns } }), makeBaselineFacts(facts))?.baseFrom
  expect(from(1, {})).toBe('1 run, 8c5a0f1')
  expect(from(10, { kind: 'side-by-side', commit: undefined })).toBe('mean of 10 rounds')
  expect(from(2, { kind: 'side-by-side', commit: 'a514cef'.padEnd(40, '0') })).toBe(
    'mean of 2 rounds, a514cef'
  )
})

test('the newest of more runs', () => {
  const judgement = makeCompared('holds', { comparison: { baseRuns: 1, knownBaseRuns: 20 } })
  expect(comparisonCells(judgement, makeBaselineFacts())?.baseFrom).toBe('newest 1 of 20 runs, 8c5a0f1')
})

test('without a base there are dashes', () => {
  expect(comparisonCells(makeCompared('no baseline'), undefined)).toMatchObject({
    base: '–',
    baseFrom: '',
    head: '–',
    change: '–'
  })
})

test.each([
  [
    'error_rate',
    { metric: 'error_rate', name: 'error_rate' },
    0.42,
    [-0.1, 1.204],
    '+0.42 pp (-0.1 to +1.2)'
  ],
  ['apdex', { metric: 'apdex', name: 'apdex' }, -2.34, [-5, 0.3], '-0.023 (-0.05 to +0.003)'],
  ['throughput', { metric: 'throughput', name: 'throughput' }, -8, [-12.34, -3.4], '-8 % (-12.3 to -3.4)'],
  ['no difference', {}, 0, [-4, 4], '0 % (-4 to +4)'],
  ['no end', {}, 5, [-90, Infinity], '+5 % (-90 to +∞)']
] as const)('the change of %s is in its unit', (_, threshold, changePct, interval, words) => {
  const judgement = makeCompared('unsure', { threshold, comparison: { changePct, interval } })
  expect(comparisonCells(judgement, undefined)?.change).toBe(words)
})

test('commits are short, and anything else is cut', () => {
  expect(shortenCommit('8C5A0F1D2E3B')).toBe('8C5A0F1')
  expect(shortenCommit('local')).toBe('local')
  expect(shortenCommit('🚀'.repeat(100))).toBe(`${'🚀'.repeat(19)}…`)
})
