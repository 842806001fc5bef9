import type { GridFacts, Outcome, RunFacts } from '../../../src/report/outcome.js'
import type { ErrorCount } from '../../../src/results/figures/measurements.js'
import type { Judgement } from '../../../src/thresholds/judge/judgement.js'
import type { Threshold } from '../../../src/thresholds/grammar/threshold.js'

function makeThreshold(changes: Partial<Threshold> = {}): Threshold {
  return {
    text: 'p95 < 800ms',
    line: 1,
    level: 'fail',
    metric: 'percentile',
    name: 'p95',
    percentile: 95,
    selector: {},
    operator: '<',
    value: 800,
    unit: 'ms',
    ...changes
  }
}

export function makeJudgement(
  changes: Partial<Omit<Judgement, 'threshold'>> & { threshold?: Partial<Threshold> } = {}
): Judgement {
  const { threshold, ...rest } = changes
  return {
    threshold: makeThreshold(threshold),
    verdict: 'passed',
    actual: 640,
    margin: 0.2,
    scopesChecked: 1,
    reason: 'p95 is 640 ms, 20 % below the limit of 800 ms',
    ...rest
  }
}

/** One that is broken, by default by half. */
export function makeBroken(changes: Parameters<typeof makeJudgement>[0] = {}): Judgement {
  return makeJudgement({
    verdict: 'failed',
    actual: 1200,
    margin: -0.5,
    reason: 'p95 is 1,200 ms, 50 % over the limit of 800 ms',
    ...changes
  })
}

export function makeRunFacts(changes: Partial<RunFacts> = {}): RunFacts {
  return {
    id: 'run1',
    url: 'https://service.example/runs/run1',
    name: 'shop main 1a2b3c4',
    status: 'finished',
    tool: 'jmeter-5.6.3',
    threads: 50,
    durationSeconds: 600,
    startedMs: Date.UTC(2026, 2, 1, 10),
    stoppedMs: Date.UTC(2026, 2, 1, 10, 10),
    ...changes
  }
}

export function makeGridFacts(changes: Partial<GridFacts> = {}): GridFacts {
  return {
    gridId: 'grid1',
    region: 'us-east-1',
    nodeCount: 2,
    bytes: 1_234_567,
    problem: undefined,
    ...changes
  }
}

export function makeOutcome(changes: Partial<Outcome> = {}): Outcome {
  return {
    verdict: 'passed',
    reason: 'The threshold holds.',
    run: makeRunFacts(),
    apdex: { score: 0.93, targetMs: 500 },
    summary:
      'Up to 50 users across 1 grid in us-east-1 for 10 minutes.\nMean 120 ms, 1.22 M transactions passed.',
    means: { mean_response_time: 120.5 },
    rehearsal: false,
    judgements: [makeJudgement()],
    grids: [makeGridFacts()],
    measurements: undefined,
    warnings: [],
    remoteErrors: [],
    notes: [],
    ...changes
  }
}

export function makeErrors(...changes: Partial<ErrorCount>[]): ErrorCount[] {
  return changes.map((change) => ({
    ...{ label: 'checkout', code: '503', message: 'Service Unavailable', count: 1 },
    ...change
  }))
}

/** Text that tries everything it can think of. */
export const HOSTILE =
  '</details><img src=x onerror=alert(1)> @org/team #12 | `code` **bold** [x](javascript:alert(1)) ' +
  '<!-- loadgate --> https://evil.example www.evil.example me@evil.example \\| &lt; ~~no~~ _it_ \u202Egnp.exe\r\n# Heading\n| a | b |'
