import { describe, expect, test } from '@jest/globals'
import { runSchemas, type Run } from '../../../src/contract/api.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'
import { decodeReply } from '../../../src/client/documents/replies.js'

const { run } = runSchemas(vocabularyOf())
const decodeRunNodes = (nodes: unknown): Run['nodes'] =>
  decodeReply('asking', JSON.stringify({ uuid: 'r', status: 'running', nodes }), run).nodes

const NODE = {
  grid: 'g1',
  region: 'eu',
  number: 2,
  place: 'pod a on the machine b',
  started: '2026-01-01T00:00:01.250Z',
  rows: 1200,
  threads: 5,
  cpu_limit: 0.5,
  restarts: 0,
  throttled: 0.43,
  clock_offset_ms: -12,
  lost: null
}

test('everything that the embedded service says', () => {
  expect(decodeRunNodes([NODE])).toEqual([
    {
      grid: 'g1',
      region: 'eu',
      number: 2,
      place: 'pod a on the machine b',
      startedMs: Date.parse(NODE.started),
      rows: 1200,
      threads: 5,
      cpuLimit: 0.5,
      restarts: 0,
      throttled: 0.43,
      clockOffsetMs: -12,
      lost: null
    }
  ])
})

test('the time of the samples is known if both ends are', () => {
  const decode = (first_sample: unknown, last_sample: unknown) =>
    decodeRunNodes([{ ...NODE, first_sample, last_sample }])?.[0]
  expect(decode(5, 9)).toMatchObject({ firstSampleMs: 5, lastSampleMs: 9 })
  for (const [first, last] of [
    [null, null],
    [5, null],
    ['5', 9],
    [9, 5]
  ])
    expect(decode(first, last)).not.toHaveProperty('firstSampleMs')
})

describe('other services', () => {
  test.each([undefined, null, 'two', { grid: 'g1' }])('that send %j say nothing', (value) => {
    expect(decodeRunNodes(value)).toBeUndefined()
  })

  test('entries without a grid are left out', () => {
    expect(decodeRunNodes([null, 'x', {}, { grid: '' }, NODE])).toHaveLength(1)
  })

  test('what cannot be read is unknown', () => {
    const odd = { grid: 'g1', number: 'two', started: 'soon', rows: -1, threads: 1.5, throttled: 7, lost: 3 }
    expect(decodeRunNodes([odd])).toEqual([
      {
        ...{ grid: 'g1', region: 'unknown', number: 0, place: 'unknown', startedMs: null, rows: null },
        ...{ threads: null, cpuLimit: null, restarts: null, throttled: 1, clockOffsetMs: 0, lost: null }
      }
    ])
  })

  test('cannot fill a report', () => {
    const nodes = decodeRunNodes(Array.from({ length: 5000 }, () => ({ ...NODE, lost: 'x'.repeat(5000) })))
    expect(nodes).toHaveLength(2000)
    expect(nodes?.[0]?.lost).toHaveLength(1000)
  })
})
