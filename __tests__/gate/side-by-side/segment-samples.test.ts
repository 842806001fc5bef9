import { describe, expect, test } from '@jest/globals'
import type { Collection } from '../../../src/gate/collect/collect.js'
import { pausesOf } from '../../../src/analysis/evidence/grid-times.js'
import { describeUnequalSpans } from '../../../src/gate/side-by-side/rounds.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { CSV_HEADER } from '../../support/gate/gate-service.js'

const START_MS = 1_760_000_000_000

interface Load {
  users?: number
  elapsedMs?: number
  /** Before each request, as a JMeter timer does it. */
  thinkMs?: (request: number, user: number) => number
  /** How long users start requests; a pause that would last longer ends the user. */
  durationMs?: number
}

/** What JMeter writes for users that send one request after the other. */
function collect({
  users = 10,
  elapsedMs = 100,
  thinkMs = () => 0,
  durationMs = 5_000
}: Load = {}): Collection {
  const rows: [number, number][] = []
  for (let user = 0; user < users; user++)
    for (let atMs = thinkMs(0, user), request = 1; atMs < durationMs; request++) {
      rows.push([atMs, elapsedMs])
      atMs += elapsedMs + thinkMs(request, user)
    }
  rows.sort(([one], [other]) => one - other)
  const lines = rows.map(
    ([atMs, took]) => `${START_MS + atMs},${took},checkout,200,OK,t-1,true,512,${users}\n`
  )
  const scanner = new ByteScanner({ grid: 'g1', region: 'r' })
  scanner.push(Buffer.from(`${CSV_HEADER}\n${lines.join('')}`))
  const scan = scanner.end()
  const ends = rows.map(([atMs, took]) => atMs + took)
  return {
    spansMs: new Map([['g1', Math.max(...ends) - (rows[0]?.[0] ?? 0)]]),
    pausesMs: pausesOf([scan]),
    scans: [scan],
    measurements: mergeScans([scan])
  } as unknown as Collection
}

/** Between 0 and 1, the same every time. */
const vary = (request: number, user: number): number => ((request * 7919 + user * 104_729) % 1000) / 1000

const WHOLE: [string, Load][] = [
  ['dense requests', {}],
  ['one user', { users: 1, elapsedMs: 300 }],
  ['requests that take most of the segment', { elapsedMs: 3_000 }],
  ['requests that take longer than the segment', { elapsedMs: 9_000 }],
  ['users in step with a pause of a second', { thinkMs: () => 1_000 }],
  ['users in step with a pause of two seconds', { thinkMs: () => 2_000 }],
  ['pauses and requests that take as long', { thinkMs: () => 900, elapsedMs: 1_300 }],
  ['users with pauses of their own', { thinkMs: (...at) => 1_000 + 2_000 * vary(...at) }],
  ['many users with pauses of their own', { users: 200, thinkMs: (...at) => 500 + 3_000 * vary(...at) }]
]

describe('the segments of a pair cover the same time', () => {
  test.each(WHOLE)('with %s', (_, load) => {
    const slower = collect({ ...load, elapsedMs: 1.5 * (load.elapsedMs ?? 100) })
    expect(describeUnequalSpans(collect(load), slower, 5)).toBeUndefined()
  })

  test('next to one whose requests outlast the duration', () => {
    expect(describeUnequalSpans(collect(), collect({ elapsedMs: 4_000 }), 5)).toBeUndefined()
  })
})

describe('a segment is short', () => {
  test('next to its partner', () => {
    expect(describeUnequalSpans(collect(), collect({ durationMs: 3_500 }), 5)).toBe(
      'the samples of grid g1 span 5 s of the base and 3.5 s of the head'
    )
    expect(describeUnequalSpans(collect({ durationMs: 3_500 }), collect(), 5)).toContain('3.5 s of the base')
    expect(describeUnequalSpans(collect({ durationMs: 4_500 }), collect(), 5)).toBeUndefined()
  })
})
