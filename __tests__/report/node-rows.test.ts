import { describe, expect, test } from '@jest/globals'
import { describeStarved, nodeRows, nodesToShow } from '../../src/report/rows.js'
import { makeNode } from '../support/data/make-outcome.js'

const STARVED = 'throttled 43 % of the time: a starved load generator measures itself'

describe('rows', () => {
  test('start after the first one', () => {
    const starts = [1250, 1000, 3500, null].map((startedMs) => makeNode({ startedMs }))
    expect(nodeRows(starts, 10).map(({ start }) => start)).toEqual(['+250 ms', '+0 ms', '+2.5 s', '–'])
  })

  test('have the grid in their name where a region has several', () => {
    const nodes = [
      makeNode({ grid: 'g1', number: 1 }),
      makeNode({ grid: 'g2', number: 1 }),
      makeNode({ grid: 'g3', region: 'us', number: 2 })
    ]
    expect(nodeRows(nodes, 10).map(({ name }) => name)).toEqual(['eu / g1 / 1', 'eu / g2 / 1', 'us / 2'])
  })

  test.each([
    [null, '–', false],
    [0, 'no', false],
    [0.009, 'no', false],
    [0.43, STARVED, true]
  ])('throttled %p', (throttled, words, isStarved) => {
    expect(nodeRows([makeNode({ throttled })], 10)[0]).toMatchObject({ throttled: words, isStarved })
  })

  test('what is unknown', () => {
    const unknown = makeNode({ rows: null, threads: null, cpuLimit: null, restarts: null })
    expect(nodeRows([unknown], 10)[0]).toMatchObject({
      rows: '–',
      threads: '–',
      cpuLimit: '–',
      restarts: '–'
    })
  })

  test('numbers for people', () => {
    const node = makeNode({ rows: 1_234_567, cpuLimit: 0.1 + 0.2 })
    expect(nodeRows([node], 10)[0]).toMatchObject({ rows: '1,234,567', cpuLimit: '0.3' })
  })

  test('those with something to say come first where only some are shown', () => {
    const nodes = [
      makeNode({ number: 1 }),
      makeNode({ number: 2, throttled: 0.5 }),
      makeNode({ number: 3, lost: 'evicted' }),
      makeNode({ number: 4 })
    ]
    expect(nodeRows(nodes, 2).map(({ name }) => name)).toEqual(['eu / 3', 'eu / 2'])
    expect(nodeRows(nodes, 4).map(({ name }) => name)).toEqual(['eu / 1', 'eu / 2', 'eu / 3', 'eu / 4'])
  })
})

describe('nodes that are shown', () => {
  const here = makeNode({ place: 'this machine' })

  test.each([
    ['none', [], 0],
    ['one on this machine', [here], 0],
    ['several on this machine', [here, here], 2],
    ['one pod', [makeNode()], 1],
    ['one on this machine with a loss', [{ ...here, lost: 'killed' }], 1],
    ['one on this machine that was throttled', [{ ...here, throttled: 0.4 }], 1]
  ])('%s', (_, nodes, count) => {
    expect(nodesToShow(nodes)).toHaveLength(count)
  })

  test('a service that says nothing', () => {
    expect(nodesToShow(undefined)).toEqual([])
  })
})

describe('a starved load generator', () => {
  test('is a warning with the worst of them', () => {
    const nodes = [
      makeNode(),
      makeNode({ number: 2, throttled: 0.43 }),
      makeNode({ number: 3, throttled: 0.1 })
    ]
    expect(describeStarved(nodes)).toEqual([
      `The node eu / 2 (and 1 more) was ${STARVED}. Give it more CPU in the instance types of its region, or spread the threads over more nodes.`
    ])
  })

  test('is none where none is known', () => {
    expect(describeStarved([makeNode(), makeNode({ throttled: null })])).toEqual([])
    expect(describeStarved(undefined)).toEqual([])
  })
})
