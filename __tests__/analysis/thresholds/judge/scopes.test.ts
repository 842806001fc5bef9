import { expect, test } from '@jest/globals'
import type { Scope } from '../../../../src/analysis/results/figures/measurements.js'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import { findScopes } from '../../../../src/analysis/thresholds/judge/scopes.js'
import type { Selector } from '../../../../src/analysis/thresholds/grammar/threshold.js'
import { makeMeasurements, makeSamples } from '../make-evidence.js'

const SAMPLES = [
  ...makeSamples([1], { label: 'a', region: 'us-east-1', grid: 'g1' }),
  ...makeSamples([1], { label: 'b', region: 'us-east-1', grid: 'g1' }),
  ...makeSamples([1], { label: 'b', region: 'eu-west-1', grid: 'g2' })
]

function parseSelector(selector: string): Selector {
  return parseThresholds(`p95${selector} < 1s`).thresholds[0]!.selector
}

test.each<[string, Scope[]]>([
  ['', [{}]],
  ['{label="*"}', [{ label: 'a' }, { label: 'b' }]],
  ['{region="us-*"}', [{ region: 'us-east-1' }]],
  [
    '{label="b", grid="*"}',
    [
      { label: 'b', grid: 'g1' },
      { label: 'b', grid: 'g2' }
    ]
  ],
  ['{label="a", grid="*"}', [{ label: 'a', grid: 'g1' }]],
  [
    '{region="*", grid="*"}',
    [
      { region: 'us-east-1', grid: 'g1' },
      { region: 'eu-west-1', grid: 'g2' }
    ]
  ],
  ['{label="*", region="eu-*", grid="*"}', [{ label: 'b', region: 'eu-west-1', grid: 'g2' }]],
  ['{label="a", region="eu-*"}', []]
])('the scopes of %s', (selector, expected) => {
  const found = [...findScopes(parseSelector(selector), makeMeasurements(SAMPLES))]
  expect(found.map(({ scope }) => scope)).toEqual(expected)
  expect(found.every(({ figures }) => figures !== undefined)).toBe(true)
})

test('a grid without samples is found by itself, once', () => {
  const measurements = makeMeasurements(SAMPLES, { grids: ['g1', 'g2', 'g3'] })
  const found = [...findScopes(parseSelector('{label="*", grid="*"}'), measurements)]
  expect(found.filter(({ figures }) => !figures)).toEqual([{ scope: { grid: 'g3' }, figures: undefined }])
  expect(found).toHaveLength(4)
})

test('labels are not looked up if grid and region do not match', () => {
  const measurements = makeMeasurements(SAMPLES)
  const asked: Scope[] = []
  const watched = {
    ...measurements,
    figures: (scope: Scope) => (asked.push(scope), measurements.figures(scope))
  }
  expect([...findScopes(parseSelector('{label="*", region="*", grid="*"}'), watched)]).toHaveLength(3)
  expect(asked.filter(({ label }) => label !== undefined)).toHaveLength(4)
})
