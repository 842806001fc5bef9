import type { Outcome } from '../../../src/analysis/outcome.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { parseAbsolute } from './parse-absolute.js'
import { judgeThresholds } from '../../../src/analysis/thresholds/judge/judge.js'
import { makeBaselineFacts, makeCompared, makeGridFacts, makeOutcome, makeTrend } from './make-outcome.js'
import { quoteField, scanText } from './sample-csv.js'
import { makeRandom } from './seeded-random.js'

const SHOP = ['GET /', 'GET /products', 'GET /products/{id}', 'POST /cart', 'POST /checkout', 'GET /search']
const START_MS = Date.UTC(2026, 2, 1, 10)

export interface LoadShape {
  readonly labels: readonly string[]
  readonly seconds: number
  readonly samplesASecond: number
  readonly grids: readonly (readonly [grid: string, region: string])[]
  /** A server that is slow and fails more in its first seconds. */
  readonly coldSeconds?: number
}

export const SHOP_LOAD: LoadShape = {
  labels: SHOP,
  seconds: 300,
  samplesASecond: 30,
  grids: [
    ['grid-a', 'eu-central-1'],
    ['grid-b', 'us-east-1']
  ]
}

/** Samples with a ramp-up, labels of different speed, and a bad minute near the end; only those that start late enough. */
export function measureLoad(load: LoadShape, fromSecond = 0): Measurements {
  const { labels, seconds, samplesASecond, grids, coldSeconds = 0 } = load
  const scans = grids.map(([grid, region], order) => {
    const random = makeRandom(order + 1)
    const rows = Array.from({ length: seconds * samplesASecond }, (_, row): [number, string] => {
      const second = row / samplesASecond
      const label = row % labels.length
      const isBad = second > seconds * 0.7 && second < seconds * 0.8
      const spread = Math.exp((random() + random() + random() - 1.5) * 1.1)
      const slowness = (60 + ((label * 37) % 160)) * (1 + order * 0.4) * (isBad ? 2.2 : 1)
      const isCold = second < coldSeconds
      const elapsed = Math.max(1, Math.round(slowness * spread * (isCold ? 3 : 1)))
      const isFailure = random() < (isBad || isCold ? 0.08 : 0.002)
      const threads = Math.min(50, 1 + Math.floor((second / seconds) * 250))
      const fields = [String(START_MS + Math.round(second * 1000)), String(elapsed), labels[label] ?? '']
      const failed = row % 10 < 7 ? ['503', 'Service Unavailable'] : ['', 'Connection refused']
      const reason = isFailure ? failed : ['200', 'OK']
      const cells = [...fields, ...reason, String(!isFailure), String(threads)]
      return [second, cells.map((text) => quoteField(text, ',')).join(',')]
    })
    const kept = rows.flatMap(([second, line]) => (second < fromSecond ? [] : [line]))
    const header = 'timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads'
    const csv = [header, ...kept, ''].join('\n')
    return scanText(csv, Infinity, grid, region)
  })
  return mergeScans(scans)
}

/** A failed gate with everything that the page can show. */
export function makePageOutcome(load: LoadShape = SHOP_LOAD, changes: Partial<Outcome> = {}): Outcome {
  const measurements = changes.measurements ?? measureLoad(load)
  const apdex = { score: 0.962, targetMs: 250 }
  const lines = [
    ...['apdex >= 0.9', 'error_rate < 1%', 'p95 < 400ms', 'p99 < 600ms', 'warn: median < 100ms'],
    ...['p95{region="us-*"} < 450ms', 'p99{label="GET /", region="us-*"} < 2s']
  ]
  const { thresholds } = parseAbsolute(lines.join('\n'))
  return makeOutcome({
    verdict: 'failed',
    reason: '1 threshold is broken: error_rate is 1.05 %, 5 % over the limit of 1 %',
    apdex,
    measurements,
    judgements: judgeThresholds(thresholds, { apdex, apdexProblem: '', measurements }),
    grids: load.grids.map(([gridId, region]) => makeGridFacts({ gridId, region })),
    ...changes
  })
}

/** A gate whose run has a warm-up, in which the server is slow. */
export function makeWarmedOutcome(
  load: LoadShape = SHOP_LOAD,
  warmUpSeconds = 30,
  changes: Partial<Outcome> = {}
): Outcome {
  const cold = { ...load, coldSeconds: warmUpSeconds }
  const whole = measureLoad(cold)
  const counted = measureLoad(cold, warmUpSeconds)
  const count = (name: 'samples' | 'failures'): number =>
    (whole.figures({})?.[name] ?? 0) - (counted.figures({})?.[name] ?? 0)
  const warmUp = { ms: warmUpSeconds * 1000, samples: count('samples'), failures: count('failures'), whole }
  return makePageOutcome(cold, { measurements: counted, warmUp, ...changes })
}

/** A gate whose lines name a baseline, with every outcome, and a trend with a gap and runs that are not usable. */
export function makeComparedOutcome(load: LoadShape = SHOP_LOAD, changes: Partial<Outcome> = {}): Outcome {
  const whole = makePageOutcome(load)
  const label = { label: { text: 'POST /checkout', pieces: ['POST /checkout'] } }
  return {
    ...whole,
    reason:
      '1 threshold is broken: p95 is 386 ms, 24.4 % above the baseline of 310 ms, at most 10 % are allowed',
    judgements: [
      ...whole.judgements,
      makeCompared('broken', {
        reason: 'p95 is 386 ms, 24.4 % above the baseline of 310 ms (10 runs); at most 10 % are allowed'
      }),
      makeCompared('holds', {
        threshold: {
          ...{ text: 'throughput >= baseline - 5%', metric: 'throughput', name: 'throughput', operator: '>=' }
        },
        actual: 51.4,
        comparison: { base: 52, limit: 49.4, changePct: -1.2, interval: [-4.1, 1.8] },
        reason: 'throughput is 51.4/s, 1.2 % below the baseline of 52/s'
      }),
      makeCompared('unsure', {
        threshold: { text: 'error_rate <= baseline + 0.5pp', metric: 'error_rate', name: 'error_rate' },
        actual: 0.0105,
        comparison: { base: 0.002, limit: 0.007, changePct: 0.85, interval: [-0.4, 2.1], p: 0.05 },
        reason:
          'error_rate is 1.05 %, above the limit of 0.7 %, but it varies too much from run to run to be sure'
      }),
      makeCompared('no baseline', {
        threshold: { text: 'p95{label="POST /checkout"} <= baseline + max(10%, 20ms)', selector: label },
        reason: 'the label "POST /checkout" is new: no base run has it'
      }),
      makeCompared('not comparable', {
        threshold: { text: 'apdex >= baseline - 0.02', metric: 'apdex', name: 'apdex', level: 'warn' },
        reason: 'the base runs have another apdex target (250 ms, 500 ms)'
      })
    ],
    baseline: makeBaselineFacts({
      notes: ['no run on main for a514cef, so 8c5a0f1 was used; other changes may be in between']
    }),
    trend: makeTrend(30, (index) => ({
      ...(index === 9 && { unusable: 'timed out', p95Ms: 4_100, throughput: 12 }),
      ...(index === 20 && { unusable: 'stopped early', p95Ms: 352, errorRate: 0.02 }),
      ...(index < 12 && index !== 9 && { p95Ms: 240 + index * 2, throughput: 61 - index / 3 }),
      ...(index === 12 && { isAfterChange: true }),
      ...(index === 29 && {
        p95Ms: 385.6,
        throughput: 51.4,
        errorRate: 0.0105,
        unusable: 'ran for a pull request'
      })
    })),
    ...changes
  }
}
