import { describe, expect, test } from '@jest/globals'
import { renderLabelTables, renderNodes } from '../../../src/report/markdown/figure-tables.js'
import { makeCounted, makeMeasurements, makeSamples } from '../../analysis/thresholds/make-evidence.js'
import { HOSTILE, makeNode, makeOutcome } from '../../support/data/make-outcome.js'

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
    expect(text).toContain('3 more are in verdict.json.')
  })

  test('ten are all, and nothing is counted', () => {
    const samples = Array.from({ length: 10 }, (_, index) => makeSamples([index], { label: `l${index}` }))
    expect(render(samples.flat())).not.toContain('in verdict.json')
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

const pods = (count: number): ReturnType<typeof makeNode>[] =>
  Array.from({ length: count }, (_, index) => makeNode({ number: index + 1 }))

test('where the load came from, and what was lost', () => {
  const nodes = [
    makeNode({ startedMs: 1000 }),
    makeNode({ number: 2, startedMs: 1250, throttled: 0.43, lost: 'half of its load: the pod was evicted' })
  ]
  expect(renderNodes(makeOutcome({ nodes }))).toBe(`### Nodes

| Node | Where it ran | Start | Rows | Threads | CPU limit | Restarts | Throttled | Lost |
| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |
| eu / 1 | pod p on the machine m | +0 ms | 1,200 | 5 | 0.5 | 0 | no |  |
| eu / 2 | pod p on the machine m | +250 ms | 1,200 | 5 | 0.5 | 0 | ⚠️ throttled 43 % of the time: a starved load generator measures itself | half of its load: the pod was evicted |`)
})

describe('a load that comes from this machine', () => {
  const SAID =
    'Every region is this machine: its processes generated the load of all grids. To run grids on clusters, set regions.'

  test('is said, without a table for a single node', () => {
    const nodes = [makeNode({ place: 'this machine' })]
    expect(renderNodes(makeOutcome({ nodes, isAllHere: true }))).toBe(SAID)
  })

  test('is said above the table of several', () => {
    const nodes = [makeNode({ place: 'this machine' }), makeNode({ number: 2, place: 'this machine' })]
    expect(renderNodes(makeOutcome({ nodes, isAllHere: true }))).toContain(`### Nodes\n\n${SAID}\n\n| Node |`)
  })
})

test('other services say nothing', () => {
  expect(renderNodes(makeOutcome())).toBe('')
})

test('more than eight nodes open on a click', () => {
  expect(renderNodes(makeOutcome({ nodes: pods(8) }))).not.toContain('<details>')
  expect(renderNodes(makeOutcome({ nodes: pods(9) }))).toContain(
    '<details><summary>9 nodes</summary>\n\n| Node |'
  )
})

test('of many nodes the table has fifty', () => {
  const text = renderNodes(makeOutcome({ nodes: pods(120) }))
  expect(text.match(/^\| eu/gm)).toHaveLength(50)
  expect(text).toContain('70 more are in verdict.json.')
})

test('foreign words are harmless', () => {
  const text = renderNodes(
    makeOutcome({ nodes: [makeNode({ place: HOSTILE, region: HOSTILE, lost: HOSTILE })] })
  )
  expect(text.split('\n')).toHaveLength(5)
  expect(text).not.toMatch(/<(?!details|summary|\/)/)
})
