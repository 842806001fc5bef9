import type { Outcome } from '../../../src/analysis/outcome.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import type { Judgement, OverTimeFigure } from '../../../src/analysis/thresholds/judge/judgement.js'
import { judgeThresholds } from '../../../src/analysis/thresholds/judge/judge.js'
import { makeBroken, makeGridFacts, makeOutcome } from '../data/make-outcome.js'
import { parseAbsolute } from '../data/parse-absolute.js'
import { measure } from '../data/sample-csv.js'
import { writeRows, type SentSample } from './write-rows.js'

export const STALLED_START_MS = Date.UTC(2026, 2, 1, 10)

export interface StalledRun {
  readonly users?: number
  readonly seconds?: number
  readonly answerMs?: number
  /** What a user does between two requests. */
  readonly thinkMs?: number
  /** When the server stands still, from the start, and for how long. */
  readonly stalls?: readonly (readonly [atMs: number, ms: number])[]
  /** Samples that end later are not there yet. */
  readonly untilMs?: number
  /** What the clock of the users' machine is ahead. */
  readonly aheadMs?: number
}

/** Users in a closed loop, a server that answers alike, and times in which it answers nothing. */
export function measureStalled(run: StalledRun = {}): Measurements {
  return measure(writeStalled(run))
}

export function writeStalled(run: StalledRun = {}): string {
  const { users = 12, seconds = 25, answerMs = 250, thinkMs = 1 } = run
  const { stalls = [[8100, 4800]], untilMs = Infinity, aheadMs = 0 } = run
  const samples = Array.from({ length: users }, (_, thread) => {
    const sent: SentSample[] = []
    let atMs = Math.round((thread * answerMs) / users)
    while (atMs < seconds * 1000) {
      const dueMs = atMs + answerMs + ((atMs * 7) % 23)
      const held = stalls.find(([fromMs, ms]) => dueMs > fromMs && atMs < fromMs + ms)
      const endMs = held === undefined ? dueMs : held[0] + held[1] + thread
      sent.push({ startMs: STALLED_START_MS + atMs, elapsedMs: endMs - atMs, thread: thread + 1 })
      atMs = endMs + thinkMs
    }
    return sent
  }).flat()
  const seen = samples.filter(({ startMs, elapsedMs }) => startMs + elapsedMs <= STALLED_START_MS + untilMs)
  return writeRows(
    seen.map((sample) => ({ ...sample, startMs: sample.startMs + aheadMs })),
    users
  )
}

/** A line that holds by samples and is broken over time. */
export function makeBrokenOverTime(
  overTime: Partial<OverTimeFigure> = {},
  changes: Parameters<typeof makeBroken>[0] = {}
): Judgement {
  const longest = { startMs: STALLED_START_MS + 8000, ms: 4800, waiting: 12 }
  const figure: OverTimeFigure = { value: 4630, bySamples: 174, longest, effect: 'fails', ...overTime }
  return {
    ...makeBroken({
      actual: figure.value,
      reason:
        'p99 is 174 ms for the requests that were sent, but at least 4.6 s over time: at 0:08 nothing was answered for 4.8 s while 12 users waited; must be < 1 s',
      ...changes,
      threshold: {
        text: 'p99 < 1s',
        name: 'p99',
        percentile: 99,
        value: 1000,
        unit: 's',
        ...changes.threshold
      }
    }),
    overTime: figure
  }
}

/** A gate that fails by a line that only users at any moment would have noticed. */
export function makeStalledOutcome(changes: Partial<Outcome> = {}): Outcome {
  const { measurements = measureStalled() } = changes
  const { thresholds } = parseAbsolute('p95 < 1s\nmedian < 800ms')
  const judgements = judgeThresholds(thresholds, { apdex: undefined, apdexProblem: '', measurements })
  return makeOutcome({
    verdict: 'failed',
    reason: `1 threshold is broken: ${judgements[0]?.reason ?? ''}`,
    apdex: undefined,
    summary: undefined,
    judgements,
    grids: [makeGridFacts({ gridId: 'grid-1', region: 'region-1' })],
    measurements,
    ...changes
  })
}
