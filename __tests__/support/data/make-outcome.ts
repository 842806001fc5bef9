import type {
  BaselineFacts,
  GridFacts,
  NodeFacts,
  Outcome,
  RunFacts,
  StoppedEarly
} from '../../../src/analysis/outcome.js'
import type { Trend, TrendPoint } from '../../../src/analysis/baseline/build-trend.js'
import type { ErrorCount } from '../../../src/analysis/results/figures/measurements.js'
import type {
  Comparison,
  ComparisonOutcome,
  Judgement
} from '../../../src/analysis/thresholds/judge/judgement.js'
import type { BaselineThreshold, Threshold } from '../../../src/analysis/thresholds/grammar/threshold.js'

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

const COMPARED_VERDICTS: Readonly<Record<ComparisonOutcome, Judgement['verdict']>> = {
  holds: 'passed',
  broken: 'failed',
  unsure: 'inconclusive',
  'no baseline': 'inconclusive',
  'not comparable': 'inconclusive'
}

/** A line that names `baseline`; without a base if its outcome has none. */
export function makeCompared(
  outcome: ComparisonOutcome,
  changes: Partial<Omit<Judgement, 'threshold' | 'comparison'>> & {
    threshold?: Partial<BaselineThreshold>
    comparison?: Partial<Comparison>
  } = {}
): Judgement {
  const { threshold, comparison, ...rest } = changes
  const hasBase = outcome !== 'no baseline' && outcome !== 'not comparable'
  const isBroken = outcome === 'broken'
  const figures = hasBase
    ? {
        base: 310,
        baseRuns: 10,
        limit: 341,
        changePct: isBroken ? 24.4 : 2.1,
        interval: isBroken ? ([14.2, 35.6] as const) : ([-6.2, 11.1] as const),
        resolutionPct: 12.5,
        p: isBroken ? 0.0004 : 0.29
      }
    : {
        ...{ base: undefined, baseRuns: 0, limit: undefined, changePct: undefined },
        ...{ interval: undefined, resolutionPct: undefined, p: undefined }
      }
  return {
    threshold: {
      ...{ text: 'p95 <= baseline + 10%', line: 2, level: 'fail', metric: 'percentile', name: 'p95' },
      ...{ percentile: 95, selector: {}, operator: '<=', allowance: { ratio: 0.1 } },
      ...threshold
    },
    verdict: COMPARED_VERDICTS[outcome],
    actual: hasBase ? (isBroken ? 385.6 : 316.5) : undefined,
    margin: undefined,
    scopesChecked: 1,
    reason: `p95 compared with the baseline: ${outcome}`,
    ...rest,
    comparison: { outcome, ifNotJudged: 'warn', ...figures, ...comparison }
  }
}

export function makeBaselineFacts(changes: Partial<BaselineFacts> = {}): BaselineFacts {
  return {
    state: 'compared',
    kind: 'recorded',
    branch: 'main',
    commit: '8c5a0f1d2e3b4a5968778695a4b3c2d1e0f9a8b7',
    runs: Array.from({ length: 10 }, (_, index) => `base${index}`),
    reason: undefined,
    notes: [],
    ...changes
  }
}

export function makeTrendPoint(index: number, changes: Partial<TrendPoint> = {}): TrendPoint {
  const wave = Math.sin(index * 1.7)
  return {
    atMs: Date.UTC(2026, 1, 1 + index, 10, 30),
    commit: (0xabc0000 + index * 0x10f01).toString(16).padEnd(40, '0'),
    runId: `run${index}`,
    unusable: undefined,
    isHead: false,
    isAfterChange: false,
    p95Ms: 310 + wave * 14,
    throughput: 52 - wave * 1.5,
    errorRate: 0.002 + wave * 0.0008,
    ...changes
  }
}

/** Runs of a branch, the last of which is the one that was judged. */
export function makeTrend(
  length: number,
  changePoint: (index: number) => Partial<TrendPoint> = () => ({}),
  changes: Partial<Trend> = {}
): Trend {
  return {
    branch: 'main',
    points: Array.from({ length }, (_, index) =>
      makeTrendPoint(index, { isHead: index === length - 1, ...changePoint(index) })
    ),
    bands: {
      p95Ms: { low: 272, centre: 308, high: 348 },
      throughput: { low: 46.5, centre: 52, high: 58.2 },
      errorRate: { low: 0, centre: 0.002, high: 0.0064 }
    },
    ...changes
  }
}

export function makeStoppedEarly(changes: Partial<StoppedEarly> = {}): StoppedEarly {
  return { afterSeconds: 120, ofSeconds: 600, savedSeconds: 480, threshold: 'p95 < 800ms', ...changes }
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

/** A pod of which all is well. */
export function makeNode(changes: Partial<NodeFacts> = {}): NodeFacts {
  return {
    ...{ grid: 'g1', region: 'eu', number: 1, place: 'pod p on the machine m', startedMs: 1000, rows: 1200 },
    ...{ threads: 5, cpuLimit: 0.5, restarts: 0, throttled: 0, clockOffsetMs: 0, lost: null },
    ...changes
  }
}
