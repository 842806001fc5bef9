import { describe, expect, test } from '@jest/globals'
import { createScanner, mergeScans } from '../../../src/results/scan/scanner.js'
import type { OverTime } from '../../../src/results/stalls/over-time.js'
import { writeRows, type SentSample } from '../../support/stalls/write-rows.js'

const START_MS = 1_700_000_000_000

/** Users who ask without a pause, and a server that answers in 100 ms but stands still from 8 s on. */
function closedLoop({ users, stallMs, lastMs }: { users: number; stallMs: number; lastMs: number }) {
  const stallFrom = START_MS + 8000
  const samples: SentSample[] = []
  for (let thread = 1; thread <= users; thread++) {
    let startMs = START_MS + thread * 7
    while (startMs < START_MS + lastMs) {
      const due = startMs + 100
      const isHeld = due > stallFrom && startMs < stallFrom + stallMs
      const elapsedMs = isHeld ? stallFrom + stallMs - startMs + thread : 100
      samples.push({ startMs, elapsedMs, thread })
      startMs += elapsedMs + 1
    }
  }
  return samples
}

function overTimeOf(csv: string): OverTime {
  const scanner = createScanner({ grid: 'g', region: 'r' })
  scanner.push(Buffer.from(csv))
  const found = mergeScans([scanner.end()]).figures({})?.overTime()
  if (typeof found !== 'object') throw new Error(found)
  return found
}

describe('figures over time', () => {
  test('a server that stands still for 5 of 25 s is one stall', () => {
    const samples = closedLoop({ users: 12, stallMs: 5000, lastMs: 25_000 })
    const found = overTimeOf(writeRows(samples, 12))
    expect(found.stalls).toHaveLength(1)
    expect(found.stalls[0]?.waiting).toBe(12)
    expect(found.stalls[0]?.ms).toBeGreaterThan(4800)
    expect(found.percentileMs(99)).toBeGreaterThan(4500)
    expect(found.percentileMs(75)).toBe(0)
  })

  test('without one there is none', () => {
    const found = overTimeOf(writeRows(closedLoop({ users: 12, stallMs: 0, lastMs: 25_000 }), 12))
    expect(found.stalls).toEqual([])
    expect(found.percentileMs(99.9)).toBe(0)
  })
})
