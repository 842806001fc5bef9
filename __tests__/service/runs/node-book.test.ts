import { describe, expect, test } from '@jest/globals'
import type { NodeFacts } from '../../../src/service/nodes/load-node.js'
import { NodeBook, type RunGrid, type Spread } from '../../../src/service/runs/node-book.js'
import type { GridRecord, RunRecord } from '../../../src/contract/records.js'

const GO_MS = 1_700_000_000_000

interface Times {
  readonly startSec: number
  readonly endSec: number
}

/** Of a run on nodes that started and ended so many seconds after `go`; null is a run that ends when its plan does. */
function spreadOf(
  durationSec: number | null,
  nodes: readonly Times[],
  { isKnown = true } = {}
): Spread | undefined {
  const spec = { region: 'eu', instanceQuantity: nodes.length } as GridRecord['spec']
  const grid = { id: 'abc', spec } as GridRecord
  const factsOf = (index: number): NodeFacts => {
    const { startSec, endSec } = nodes[index]!
    return {
      ...{ place: 'pod', cpuLimit: null, restarts: null, throttled: null, clockOffsetMs: 0 },
      startedMs: GO_MS + startSec * 1000,
      ...(isKnown && { endedMs: GO_MS + endSec * 1000 })
    }
  }
  const set = { nodes: [], factsOf, doubts: () => [], close: () => Promise.resolve() }
  const run = { request: { threads: null, durationSec } } as unknown as RunRecord
  const grids: RunGrid[] = [{ grid, set }]
  const book = new NodeBook(run, grids)
  // The results of all arrived long after the end, at the same moment unless nobody knows better.
  for (const [index, { endSec }] of nodes.entries())
    book.noteEnd(grid, index, GO_MS + (isKnown ? 600 : endSec) * 1000)
  return book.spread
}

const two = (lateSec: number, lengthSec: number): Times[] => [
  { startSec: lateSec, endSec: lateSec + lengthSec },
  { startSec: 0, endSec: lengthSec }
]

describe('nodes that did not start together', () => {
  test('are a loss of load if one had ended before another one started', () => {
    expect(spreadOf(8, two(15, 8))).toEqual({
      words: 'the 2 nodes started within 15.0 s: first node 2 of 2 in eu, last node 1 of 2 in eu',
      effect: { isLoss: true, words: expect.stringContaining('never ran all at the same time') }
    })
    expect(spreadOf(null, two(1.5, 1.4))?.effect?.isLoss).toBe(true)
    expect(spreadOf(null, two(1.5, 1.4), { isKnown: false })?.effect?.isLoss).toBe(true)
  })

  test.each([
    ['a tenth of the duration', 60, two(6.1, 60), true],
    ['less than that', 60, two(5.9, 60), false],
    ['two seconds of a short run', 10, two(2.1, 10), true],
    ['less than two seconds of a short run', 10, two(1.9, 10), false],
    ['a tenth of what the plan took', null, two(7, 60), true],
    ['less than a tenth of what the plan took', null, two(5, 60), false]
  ])('are a loss, or a doubt: %s', (_name, durationSec, nodes, isLoss) => {
    expect(spreadOf(durationSec, nodes)?.effect).toEqual({
      isLoss,
      words: 'until then, only part of the load was generated'
    })
  })

  test('are nothing to speak of within a second', () => {
    expect(spreadOf(1, two(0.9, 0.5))).toEqual({
      words: expect.stringContaining('within 900 ms'),
      effect: undefined
    })
    expect(spreadOf(60, [{ startSec: 0, endSec: 60 }])).toBeUndefined()
  })
})
