import { expect, test } from '@jest/globals'
import type { ComparedRun, ComparisonEvidence } from '../../../src/analysis/baseline/judge/sides.js'
import { judgeBaselineLines } from '../../../src/analysis/baseline/judge-lines.js'
import { decideVerdict } from '../../../src/analysis/evidence/decide-run.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import {
  isAbsoluteThreshold,
  isBaselineThreshold
} from '../../../src/analysis/thresholds/grammar/threshold.js'
import type { Judgement } from '../../../src/analysis/thresholds/judge/judgement.js'
import { judgeThresholds } from '../../../src/analysis/thresholds/judge/judge.js'
import { Random } from '../../support/baseline/random.js'
import { slice } from '../../support/slice.js'
import { makeMeasurements } from '../thresholds/make-evidence.js'

/** LOADGATE_SEED=17 takes one. */
const only = process.env.LOADGATE_SEED
const SEEDS = only === undefined ? Array.from({ length: slice(25, 1000) }, (_, i) => i + 1) : [Number(only)]
/** As many as p95 needs. */
const SAMPLES = 400
const TARGET_MS = 500
/** As lenient as settings can be: what must not be green is not green whatever they say. */
const RULES = { noise: 0.05, onMissing: 'pass', onUnsure: 'pass' } as const
const COMPARISONS = [
  'median <= baseline + 30%',
  'p90 <= baseline + 30%',
  'p95 <= baseline + 30%',
  'mean <= baseline + 30%',
  'throughput >= baseline - 30%',
  'apdex >= baseline - 0.1'
]

/** A run as its users made it: so much slower than usual, and so many failures, at once or by time-outs. */
interface Made {
  readonly slower?: number
  readonly failures?: number
  readonly failureMs?: number
  /** What the service says of it, if not what its samples do. */
  readonly apdex?: number
}

/** Ten users without think time: slow requests lower the throughput, and quick failures raise it. */
function measure(
  random: Random,
  usualMs: number,
  { slower = 1, failures = 0, failureMs = 1 }: Made
): Measurements {
  const typicalMs = usualMs * slower * Math.exp(0.02 * random.normal())
  const samples = Array.from({ length: SAMPLES }, (_, i) => {
    const isFailed = i < failures * SAMPLES
    const elapsedMs = isFailed ? failureMs : typicalMs * Math.exp(0.2 * random.normal())
    return { label: 'checkout', region: 'us-east-1', grid: 'g1', elapsedMs, isFailed }
  })
  const spentMs = samples.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0)
  return makeMeasurements(samples, { spanSeconds: spentMs / 10_000 })
}

function comparedRun(measurements: Measurements, { apdex }: Made): ComparedRun {
  const overall = measurements.figures({})
  const score = apdex ?? overall?.apdex(TARGET_MS) ?? NaN
  return {
    apdex: { score, targetMs: TARGET_MS },
    labels: [],
    regions: [],
    figures: () => overall
  }
}

class Scene {
  readonly random: Random
  readonly usualMs: number
  readonly #line: string

  constructor(seed: number) {
    this.random = new Random(seed)
    this.usualMs = 120 + 80 * this.random.uniform()
    this.#line = this.pick(COMPARISONS)
  }

  pick<T>(values: readonly T[]): T {
    return values[this.random.below(values.length)]!
  }

  /** At once, or after a time-out. */
  failing(least: number, most = 1): Made {
    const failures = least + (most - least) * this.random.uniform()
    return { failures, failureMs: this.pick([1, 5, 30_000]) }
  }

  run(made: Made = {}): ComparedRun {
    return comparedRun(measure(this.random, this.usualMs, made), made)
  }

  runs(count: number, make: (index: number) => Made = () => ({})): ComparedRun[] {
    return Array.from({ length: count }, (_, i) => this.run(make(i)))
  }

  compare(evidence: ComparisonEvidence): Judgement {
    const lines = parseThresholds(this.#line).thresholds.filter(isBaselineThreshold)
    return judgeBaselineLines(lines, evidence, RULES)[0]!
  }

  rounds(base: (index: number) => Made, head: (index: number) => Made): ComparisonEvidence {
    const pairs = Array.from({ length: 10 }, (_, i) => ({ base: this.run(base(i)), head: this.run(head(i)) }))
    return { kind: 'side-by-side', pairs }
  }
}

const FINE = (): Made => ({})
const SLOWER = (): Made => ({ slower: 5 })

function verdictOf(...judgements: Judgement[]): string {
  return decideVerdict(judgements, undefined).verdict
}

test.each(SEEDS)('seed %d: recorded runs', (seed) => {
  const scene = new Scene(seed)
  const base = scene.runs(8 + (seed % 5))
  const judge = (runs: readonly ComparedRun[], ...head: ComparedRun[]): Judgement =>
    scene.compare({ kind: 'recorded', base: runs, head })
  expect(judge(base, scene.run()).verdict).toBe('passed')
  expect(judge(base, scene.run({ slower: 5 })).verdict).toBe('failed')

  const failing = scene.failing(0.51)
  const spoiltHead = scene.run({ ...failing, slower: scene.pick([1, 5]) })
  expect(verdictOf(judge(base, spoiltHead))).not.toBe('passed')
  expect(verdictOf(judge(base, scene.run(), spoiltHead))).not.toBe('passed')
  expect(judge(base, scene.run({ slower: 5 }), spoiltHead).verdict).toBe('failed')

  const spoilt = 1 + scene.random.below(base.length)
  const timedOut = scene.runs(spoilt, () => ({ slower: scene.pick([1, 5]), ...scene.failing(0.03, 0.5) }))
  const slower = scene.run({ slower: 5 })
  expect(judge([...base.slice(spoilt), ...timedOut], slower).verdict).not.toBe('passed')
  expect(judge([...timedOut, ...base.slice(spoilt)], slower).verdict).not.toBe('passed')
})

test.each(SEEDS)('seed %d: one run of main that nothing confirms', (seed) => {
  const scene = new Scene(seed)
  const base = scene.runs(9)
  const bad = scene.run({ slower: 5 })
  const head = scene.run({ slower: 5 })
  expect(scene.compare({ kind: 'recorded', base: [...base, bad], head: [head] }).verdict).not.toBe('passed')
})

test.each(SEEDS)('seed %d: side by side', (seed) => {
  const scene = new Scene(seed)
  expect(scene.compare(scene.rounds(FINE, FINE)).verdict).toBe('passed')
  const isSpoilt = Array.from({ length: 10 }, () => scene.random.uniform() < 0.5)
  isSpoilt[seed % 10] = true
  const failing = (index: number, least: number): Made => (isSpoilt[index] ? scene.failing(least) : {})
  const ofBase = scene.compare(scene.rounds((i) => failing(i, 0.03), SLOWER))
  expect(verdictOf(ofBase)).not.toBe('passed')
  const slower = scene.pick([1, 5])
  const ofHead = scene.compare(scene.rounds(FINE, (i) => ({ ...failing(i, 0.51), slower })))
  expect(verdictOf(ofHead)).not.toBe('passed')
})

test.each(SEEDS)('seed %d: limits of their own', (seed) => {
  const scene = new Scene(seed)
  const lines = [
    'p95 < 100s',
    'mean < 100s',
    'throughput >= 0.001/s',
    'throughput < 100000/s',
    'apdex >= 0.01'
  ]
  const judge = (line: string, made: Made): Judgement => {
    const measurements = measure(scene.random, scene.usualMs, made)
    const score = made.apdex ?? measurements.figures({})!.apdex(TARGET_MS)!
    const thresholds = parseThresholds(line).thresholds.filter(isAbsoluteThreshold)
    return judgeThresholds(thresholds, { apdex: { score, targetMs: TARGET_MS }, measurements })[0]!
  }
  const line = scene.pick(lines)
  expect(judge(line, { failures: 0.49 * scene.random.uniform() }).verdict).toBe('passed')
  expect(verdictOf(judge(line, scene.failing(0.51)))).not.toBe('passed')
  const praised = { ...scene.failing(0.15), apdex: 1 }
  expect(verdictOf(judge('apdex >= 0.85', praised))).not.toBe('passed')
})
