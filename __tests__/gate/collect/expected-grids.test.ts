import { describe, expect, test } from '@jest/globals'
import {
  expectedGrids,
  findMissing,
  findSmaller,
  type ExpectedGrid,
  type ListedGrid
} from '../../../src/gate/collect/expected-grids.js'
import type { Grid } from '../../../src/contract/api.js'
import type { GridChoice } from '../../../src/client/documents/requests.js'
import { makeGrid, makeRun, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'

const listed = (gridId: string, region = 'us-east-1', isNamed = true): ListedGrid => ({
  gridId,
  region,
  isNamed
})
const US = { region: 'us-east-1' }
const EU = { region: 'eu-west-1' }

test('a grid that has no id yet is one more that must show up', () => {
  const settings = makeSettings({ origin: { kind: 'existing', runId: 'run1' } })
  const first = makeRun({ grids: [makeGrid()], oddGrids: ['grids[1].uuid should be text, found nothing'] })
  expect(expectedGrids(settings, first)).toEqual([US, {}])
})

describe('what is missing', () => {
  test.each<[string, ExpectedGrid[], ListedGrid[], string[]]>([
    ['nothing', [US, EU], [listed('a', 'eu-west-1'), listed('b')], []],
    ['nothing was expected', [], [listed('a')], []],
    ['more than was expected', [US], [listed('a'), listed('b')], []],
    ['all', [US, EU], [], ['a grid in us-east-1', 'a grid in eu-west-1']],
    ['one region', [US, EU], [listed('a')], ['a grid in eu-west-1']],
    ['one of two in a region', [US, US], [listed('a')], ['a grid in us-east-1']],
    ['one region, although there are enough', [US, EU], [listed('a'), listed('b')], ['a grid in eu-west-1']],
    ['a grid with two CSVs', [US, US], [listed('a'), listed('a')], ['a grid in us-east-1']],
    ['a reference', [{ id: 'a' }, { id: 'b' }], [listed('b'), listed('c')], ['grid a']],
    ['a reference among specifications', [{ id: 'a' }, US], [listed('b'), listed('c')], ['grid a']],
    ['nothing, whatever the order', [US, { id: 'a' }], [listed('a'), listed('b')], []],
    ['regions with names of their own', [US, EU], [listed('a', 'Virginia'), listed('b', 'Ireland')], []],
    ['regions in other letters', [US, EU], [listed('a', 'US-EAST-1'), listed('b', ' EU-West-1')], []],
    ['one of two with a name of its own', [US, EU], [listed('a'), listed('b', 'Ireland')], []],
    [
      'one with a name of its own, and one too few',
      [US, EU, { region: 'ap-south-1' }],
      [listed('a'), listed('b', 'Ireland')],
      ['a grid in eu-west-1', 'a grid in ap-south-1']
    ],
    [
      'one with a name of its own, and one too many',
      [US, EU],
      [listed('a'), listed('b', 'Ireland'), listed('c')],
      ['a grid in eu-west-1']
    ],
    [
      'a reference, whatever stands in its place',
      [US, { id: 'x' }],
      [listed('a'), listed('b', 'Ireland')],
      ['grid x']
    ],
    ['so with one too few', [US, EU], [listed('a', 'Virginia')], ['a grid']],
    ['regions that are not told', [US, EU], [listed('a', 'unknown'), listed('b', 'unknown')], []],
    ['one that is not told', [US, EU], [listed('a'), listed('b', 'unknown')], []],
    [
      'results without a grid',
      [{ id: 'a' }, { id: 'b' }],
      [listed('result-1', 'unknown', false)],
      ['grid b']
    ],
    ['a grid just like before', [{}, {}], [listed('a')], ['a grid']]
  ])('%s', (_, expected, grids, missing) => {
    expect(findMissing(expected, grids)).toEqual(missing)
  })
})

describe('what is expected', () => {
  const earlier = makeRun({ grids: [makeGrid({ id: 'x' }), makeGrid({ id: 'y', region: 'unknown' })] })

  test('of files: what was requested', () => {
    const grids = [makeSpecification(EU), { id: 'abc' }]
    expect(expectedGrids(makeSettings({ origin: { kind: 'files', paths: [], grids } }), earlier)).toEqual([
      EU,
      { id: 'abc' }
    ])
  })

  test.each(['existing', 'repeat'] as const)('of %s: as many as earlier, in their regions', (kind) => {
    const settings = makeSettings({ origin: { kind, runId: 'run1' } })
    expect(expectedGrids(settings, earlier)).toEqual([US, {}])
    expect(expectedGrids(settings, { ...earlier, grids: [...earlier.grids, ...earlier.grids] })).toEqual([
      US,
      {}
    ])
    expect(expectedGrids(settings, undefined)).toEqual([])
  })
})

describe('grids with fewer nodes than requested', () => {
  const asked = (...grids: GridChoice[]) => makeSettings({ origin: { kind: 'files', paths: [], grids } })
  const us = (nodeCount: number) => makeSpecification({ ...US, nodeCount })
  const eu = (nodeCount: number) => makeSpecification({ ...EU, nodeCount })
  const grid = (id: string, nodeCount: number | undefined, region = 'us-east-1') =>
    makeGrid({ id, nodeCount, region })
  const short = (id: string, has: number, of: number): string =>
    `The service says that grid ${id} has ${has} of the ${of} nodes requested.`

  test.each<[string, GridChoice[], Grid[], string[]]>([
    ['as many', [us(2)], [grid('a', 2)], []],
    ['more', [us(2)], [grid('a', 3)], []],
    ['one of two', [us(2)], [grid('a', 1)], [short('a', 1, 2)]],
    ['not stated', [us(2)], [grid('a', undefined)], []],
    ['none, which cannot be', [us(2)], [grid('a', 0)], []],
    ['by region', [us(1), eu(3)], [grid('a', 1), grid('b', 2, 'eu-west-1')], [short('b', 2, 3)]],
    ['in any order', [us(1), us(3)], [grid('a', 3), grid('b', 1)], []],
    ['one of several', [us(2), us(3)], [grid('a', 2), grid('b', 2)], [short('b', 2, 3)]],
    ['one of several that is not stated', [us(1), us(3)], [grid('a', undefined), grid('b', 1)], []],
    ['beside others', [us(3)], [grid('a', 1), grid('b', 3)], []],
    ['beside a reference', [{ id: 'a' }, us(3)], [grid('a', 5), grid('b', 2)], [short('b', 2, 3)]],
    ['regions with names of their own', [us(3)], [grid('a', 2, 'Virginia')], [short('a', 2, 3)]],
    [
      'regions in other letters',
      [us(1), eu(3)],
      [grid('a', 1), grid('b', 2, 'EU-WEST-1')],
      [short('b', 2, 3)]
    ],
    ['one of two renamed', [us(1), eu(3)], [grid('a', 1), grid('b', 2, 'Ireland')], [short('b', 2, 3)]],
    ['one of two renamed, as many', [us(1), eu(3)], [grid('a', 1), grid('b', 3, 'Ireland')], []],
    ['references alone', [{ id: 'a' }], [grid('a', 1)], []]
  ])('%s', (_, requested, grids, sentences) => {
    expect(findSmaller(asked(...requested), grids)).toEqual(sentences)
  })

  test('nothing was requested here', () => {
    expect(findSmaller(makeSettings({ origin: { kind: 'existing', runId: 'r' } }), [grid('a', 1)])).toEqual(
      []
    )
  })
})
