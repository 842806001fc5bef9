import { describe, expect, test } from '@jest/globals'
import { renderNodes } from '../../../src/report/markdown/node-table.js'
import { HOSTILE, makeNode, makeOutcome } from '../../support/data/make-outcome.js'

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
    'Every region is this machine: its processes generated the load of all grids. With the setting regions, grids run on clusters.'

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
