import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { writeRows, type SentSample } from './write-rows.js'

export const START_MS = 1_700_000_000_000

export interface ClosedLoop {
  readonly users?: number
  readonly seconds?: number
  readonly elapsedMs?: number
  readonly thinkMs?: number
  /** When the server stands still, in ms from the start, and for how long. */
  readonly stalls?: readonly (readonly [fromMs: number, ms: number])[]
  readonly label?: string
  readonly startMs?: number
}

/** Users who ask one after the other, and a server that answers in the same time but stands still now and then. */
export function closedLoop(load: ClosedLoop = {}): SentSample[] {
  const { users = 12, seconds = 25, elapsedMs = 150, thinkMs = 400, stalls = [], label = 'home' } = load
  const { startMs: runMs = START_MS } = load
  const samples: SentSample[] = []
  for (let thread = 1; thread <= users; thread++) {
    let startMs = runMs + thread * 17
    while (startMs < runMs + seconds * 1000) {
      const dueMs = startMs + elapsedMs
      const held = stalls.find(([fromMs, ms]) => dueMs > runMs + fromMs && startMs < runMs + fromMs + ms)
      const endMs = held === undefined ? dueMs : runMs + held[0] + held[1] + thread
      samples.push({ startMs, elapsedMs: endMs - startMs, thread, label })
      startMs = endMs + thinkMs
    }
  }
  return samples
}

export function csvOf(load: ClosedLoop = {}): string {
  return writeRows(closedLoop(load), load.users ?? 12)
}

export function measure(csv: string, stallLabels: readonly (readonly string[])[] = []): Measurements {
  const scanner = new ByteScanner({ grid: 'g', region: 'r', stallLabels })
  scanner.push(Buffer.from(csv))
  return mergeScans([scanner.end()])
}
