import { expect, test } from '@jest/globals'
import { baselineSentences } from '../../src/report/sentences.js'
import { makeBaselineFacts } from '../support/data/make-outcome.js'

const none = { commit: undefined, runs: [] }

test.each<[string, Parameters<typeof makeBaselineFacts>[0], string[]]>([
  [
    'recorded runs',
    { notes: ['no run on main for a514cef, so 8c5a0f1 was used'] },
    [
      'Compared with 10 runs of main, the newest at 8c5a0f1.',
      'No run on main for a514cef, so 8c5a0f1 was used.'
    ]
  ],
  ['one run', { runs: ['a'], branch: undefined }, ['Compared with 1 run, at 8c5a0f1.']],
  [
    'side by side',
    { kind: 'side-by-side', commit: undefined, branch: undefined },
    ['Compared side by side with the base in 10 rounds.']
  ],
  ['none', { ...none, state: 'no baseline', reason: 'no run of main' }, ['No baseline: no run of main.']],
  ['none, unexplained', { ...none, state: 'no baseline' }, ['No baseline.']],
  [
    'others',
    { ...none, state: 'not comparable', reason: "the runner's CPU differs (A, B)" },
    ["Not comparable: the runner's CPU differs (A, B)."]
  ],
  [
    'a reason that has the words',
    { ...none, state: 'not comparable', reason: 'not comparable: the plan changed' },
    ['Not comparable: the plan changed.']
  ],
  ['nothing wanted', { ...none, state: 'off' }, []]
])('of %s', (_, changes, sentences) => {
  expect(baselineSentences(makeBaselineFacts(changes))).toEqual(sentences)
})

test('are few, whatever a document says', () => {
  const facts = makeBaselineFacts({ notes: Array.from({ length: 50 }, (_, index) => `note ${index}`) })
  expect(baselineSentences(facts)).toHaveLength(12)
  expect(baselineSentences(facts).at(-1)).toBe('40 more are in verdict.json.')
  expect(baselineSentences(undefined)).toEqual([])
})
