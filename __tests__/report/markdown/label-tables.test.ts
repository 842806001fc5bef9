import { describe, expect, test } from '@jest/globals'
import { renderLabelTables } from '../../../src/report/markdown/label-tables.js'
import { makeCounted, makeMeasurements, makeSamples } from '../../analysis/thresholds/make-evidence.js'
import { HOSTILE, makeOutcome } from '../../support/data/make-outcome.js'

function render(
  samples: Parameters<typeof makeMeasurements>[0],
  changes: Parameters<typeof makeMeasurements>[1] = {}
): string {
  return renderLabelTables(makeOutcome({ measurements: makeMeasurements(samples, changes) }), '###')
}

const labelsUnder = (text: string, heading: string): string[] =>
  text
    .slice(text.indexOf(`### ${heading}`))
    .split(/\n\n(?=###)/)[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((row) => row.split(' | ')[0]!.slice(2))

describe('the slowest labels', () => {
  test('come by their p95, ten of them, and the rest is counted', () => {
    const samples = Array.from({ length: 13 }, (_, index) =>
      makeSamples([index * 10], { label: `l${index}` })
    )
    const text = render(samples.flat())
    expect(labelsUnder(text, 'Slowest labels')).toEqual([
      'l12',
      'l11',
      'l10',
      'l9',
      'l8',
      'l7',
      'l6',
      'l5',
      'l4',
      'l3'
    ])
    expect(text).toContain('and 3 more in verdict.json.')
  })

  test('ten are all, and nothing is counted', () => {
    const samples = Array.from({ length: 10 }, (_, index) => makeSamples([index], { label: `l${index}` }))
    expect(render(samples.flat())).not.toContain('more in verdict.json')
  })

  test('come by their mean where there are no percentiles', () => {
    const samples = [...makeSamples([10], { label: 'fast' }), ...makeSamples([20], { label: 'slow' })]
    const text = render(samples, { changeFigures: { percentileMs: () => undefined } })
    expect(labelsUnder(text, 'Slowest labels')).toEqual(['slow', 'fast'])
    expect(text).toContain('| slow | 1 | 0 | 0 % | – | – | – |')
  })

  test('are none where nothing is known of time', () => {
    const changeFigures = { percentileMs: () => undefined, meanMs: undefined }
    expect(render(makeSamples([10]), { changeFigures })).toBe('')
  })
})

describe('the most failing labels', () => {
  test('come by the number of their failures, without those that have none', () => {
    const text = render([
      ...makeCounted(10, 0, { label: 'well' }),
      ...makeCounted(2, 2, { label: 'few' }),
      ...makeCounted(100, 3, { label: 'most' })
    ])
    expect(labelsUnder(text, 'Most failing labels')).toEqual(['most', 'few'])
    expect(text).toContain('| most | 100 | 3 | 3 % | 100 ms | 100 ms | 100 ms |')
  })

  test('are not mentioned if nothing failed', () => {
    expect(render(makeSamples([10]))).not.toContain('failing')
  })
})

test('a label is one cell, whatever it says, and has a name even when it is empty', () => {
  const text = render([...makeSamples([20], { label: HOSTILE }), ...makeSamples([10], { label: ' ' })])
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  expect(rows.map((row) => row.split('|').length)).toEqual([9, 9, 9, 9])
  expect(rows.at(-1)).toMatch(/^\| \(no name\) \|/)
  expect(text).not.toMatch(/<|@org/)
})

test('without measurements there is nothing', () => {
  expect(renderLabelTables(makeOutcome(), '###')).toBe('')
})

test('of a rehearsal say so, under headings of the requested level', () => {
  const measurements = makeMeasurements(makeCounted(2, 1))
  const text = renderLabelTables(makeOutcome({ measurements, rehearsal: true }), '####')
  expect(text.split('\n').filter((line) => line.startsWith('#'))).toEqual([
    '#### Slowest labels (rehearsal, synthetic samples)',
    '#### Most failing labels (rehearsal, synthetic samples)'
  ])
})
