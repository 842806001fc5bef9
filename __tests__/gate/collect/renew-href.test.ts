import { expect, test } from '@jest/globals'
import { renewHref } from '../../../src/gate/collect/fetch-results.js'
import type { Source } from '../../../src/gate/collect/fetch-results.js'

const source = (href: string, changes: Partial<Source> = {}): Source => ({
  runId: 'run1',
  gridId: 'g',
  region: 'us-east-1',
  nodeCount: 1,
  isNamed: true,
  isLinked: true,
  part: 1,
  href,
  ...changes
})

test.each<[string, Source, Source[], string]>([
  [
    'signed anew',
    source('/r.csv?grid_id=g&sig=1'),
    [source('/r.csv?grid_id=g&sig=2')],
    '/r.csv?grid_id=g&sig=2'
  ],
  ['not listed any more', source('/r.csv?sig=1'), [], '/r.csv?sig=1'],
  ["another grid's", source('/r.csv?sig=1'), [source('/r.csv?sig=2', { gridId: 'h' })], '/r.csv?sig=1'],
  ['built now, and linked before', source('/a?sig=1'), [source('/built', { isLinked: false })], '/a?sig=1'],
  ['linked now, and built before', source('/built', { isLinked: false }), [source('/a?sig=1')], '/a?sig=1'],
  ['at the same place', source('/a?s=1', { part: 2 }), [source('/x'), source('/y', { part: 2 })], '/y'],
  [
    'the same node, listed in another order',
    source('/r.csv?grid_id=g&node=1&sig=1'),
    [source('/r.csv?grid_id=g&node=2&sig=2'), source('/r.csv?grid_id=g&node=1&sig=3', { part: 2 })],
    '/r.csv?grid_id=g&node=1&sig=3'
  ]
])('the newest address of a CSV: %s', (_, known, listed, href) => {
  expect(renewHref(known, listed)).toBe(href)
})
