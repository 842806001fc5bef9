import type { Details, Outcome } from '../../../src/analysis/outcome.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { makePageOutcome, SHOP_LOAD, type LoadShape } from './page-outcome.js'
import { makeRandom } from './seeded-random.js'

type Series = Details['overall']
type Label = Details['labels'][number]

const WHY = ['named', 'slowest', 'failing', 'largest'] as const
const MOST_LABELS = 20

/** Details as they are made of the CSVs of such a load: as many lists, of the same lengths. */
export function makeDetails(measurements: Measurements, changes: Partial<Details> = {}): Details {
  const { series, labels, startMs = 0 } = measurements
  if (series === undefined) throw new Error('there are no times')
  const seconds = ((series.atMs.at(-1) ?? 0) + series.bucketMs) / 1000
  const bucketSeconds = Math.ceil(seconds / 120)
  const buckets = Math.ceil(seconds / bucketSeconds)
  const errors = measurements.errors({}).filter(({ label }) => label !== undefined)
  return {
    overall: makeDetailSeries(1, series.atMs.length, series.bucketMs),
    labels: labels.slice(0, MOST_LABELS).map((label, i): Label => ({
      ...{ label, why: WHY[i % WHY.length] ?? 'largest' },
      series: makeDetailSeries(i + 2, buckets, bucketSeconds * 1000)
    })),
    failures: errors.slice(0, MOST_LABELS).flatMap(({ label = '', code, message }, i) =>
      [0, 1].map((nth) => ({
        ...{ label, code, message, thread: `Users 1-${i + 1}`, elapsedMs: 120 + nth },
        atMs: startMs + (i + nth * 10) * 1000,
        url: 'https://shop.example/checkout'
      }))
    ),
    ...changes
  }
}

function makeDetailSeries(seed: number, length: number, bucketMs: number): Series {
  const random = makeRandom(seed)
  const list = (value: (share: number) => number): number[] =>
    Array.from({ length }, (_, i) => Math.round(value(i / length)))
  const isBad = (share: number): boolean => share > 0.7 && share < 0.8
  const slow = (share: number): number => (isBad(share) ? 2.2 : 1) * (1 + random() * 0.3)
  return {
    bucketMs,
    atMs: list((share) => share * length * bucketMs),
    throughput: list((share) => 10 + 40 * Math.min(1, share * 4) + random() * 6),
    failures: list((share) => (isBad(share) ? 3 + random() * 4 : random() * 1.05)),
    p50Ms: list((share) => 110 * slow(share)),
    p95Ms: list((share) => 260 * slow(share)),
    p99Ms: list((share) => 420 * slow(share)),
    codes: [
      { code: '200', counts: list((share) => 10 + 40 * Math.min(1, share * 4)) },
      { code: '304', counts: list(() => 4 + random() * 3) },
      { code: '404', counts: list(() => random() * 2) },
      { code: '503', counts: list((share) => (isBad(share) ? 4 + random() * 5 : 0)) },
      { code: '', counts: list((share) => (isBad(share) ? 2 : 0)) }
    ],
    connectMs: list((share) => 6 * slow(share)),
    ttfbMs: list((share) => 80 * slow(share)),
    downloadMs: list((share) => 24 * slow(share)),
    receivedPerSecond: list((share) => 240_000 * (0.5 + Math.min(0.5, share * 2)) + random() * 20_000),
    sentPerSecond: list(() => 20_000 + random() * 4_000)
  }
}

/** A failed gate whose CSVs were read a second time. */
export function makeDetailedOutcome(load: LoadShape = SHOP_LOAD, changes: Partial<Outcome> = {}): Outcome {
  const outcome = makePageOutcome(load, changes)
  return outcome.measurements === undefined || 'details' in changes
    ? outcome
    : { ...outcome, details: makeDetails(outcome.measurements) }
}
