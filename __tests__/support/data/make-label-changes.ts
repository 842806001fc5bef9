import {
  compareLabels,
  type LabelChange,
  type LabelChanges
} from '../../../src/analysis/baseline/compare-labels.js'
import type { ComparedRun } from '../../../src/analysis/baseline/judge/sides.js'
import { measure } from './sample-csv.js'
import { makeRandom } from './seeded-random.js'

/** A label that got slower. */
export function makeLabelChange(changes: Partial<LabelChange> = {}): LabelChange {
  return {
    ...{ label: 'POST /checkout', base: 310, head: 465, changePct: 50, interval: [38.2, 62.8] as const },
    outcome: 'slower',
    samples: { base: 5000, head: 1000 },
    errorRate: { base: 0, head: 0 },
    ...changes
  }
}

/** One row for each outcome, in the order of a comparison. */
export function makeLabelChanges(changes: Partial<LabelChanges> = {}): LabelChanges {
  const nothing = { changePct: null, interval: null }
  return {
    metric: 'p95',
    rows: [
      makeLabelChange(),
      makeLabelChange({
        ...{ ...nothing, label: 'POST /cart', base: 120, head: 14, outcome: 'not comparable' },
        errorRate: { base: 0.001, head: 0.96 }
      }),
      makeLabelChange({
        ...{ label: 'GET /search', base: 200, head: 150, changePct: -25, interval: [-31, -18.5] },
        outcome: 'faster'
      }),
      makeLabelChange({
        ...{ label: 'GET /', base: 80, head: 82, changePct: 2.5, interval: [-8, 14.2] },
        outcome: 'no clear change'
      }),
      makeLabelChange({
        ...{ label: 'GET /help', base: 90, head: 140, changePct: 55.6, interval: null },
        ...{ outcome: 'no clear change', samples: { base: 12, head: 9 } }
      }),
      makeLabelChange({
        ...{ ...nothing, label: 'GET /new', base: null, outcome: 'new', samples: { base: 0, head: 700 } },
        errorRate: { base: null, head: 0 }
      }),
      makeLabelChange({
        ...{ ...nothing, label: 'GET /old', head: null, outcome: 'gone', samples: { base: 600, head: 0 } },
        errorRate: { base: 0, head: null }
      })
    ],
    leftOut: 0,
    times: [],
    ...changes
  }
}

const HEADER = 'timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads'

/** Ten rounds side by side, of which each label of the head takes as many times as long as that of the base. */
export function compareShops(factors: Readonly<Record<string, number>>): LabelChanges {
  const random = makeRandom(3)
  const labels = Object.keys(factors)
  const measureSegment = (round: number, factorOf: (label: string) => number): ComparedRun => {
    const rows = Array.from({ length: 60 * labels.length }, (_, row) => {
      const label = labels[row % labels.length] ?? ''
      const spread = Math.exp((random() + random() + random() - 1.5) * 1.1)
      const elapsed = Math.max(1, Math.round(120 * spread * factorOf(label)))
      return `${1_760_000_000_000 + round * 10_000 + row * 20},${elapsed},${label},200,OK,true,5`
    })
    const measurements = measure([HEADER, ...rows, ''].join('\n'))
    return {
      ...{ apdex: undefined, labels: measurements.labels, regions: [] },
      figures: (scope) => measurements.figures(scope)
    }
  }
  const pairs = Array.from({ length: 10 }, (_, round) => ({
    base: measureSegment(2 * round, () => 1),
    head: measureSegment(2 * round + 1, (label) => factors[label] ?? 1)
  }))
  const changes = compareLabels(
    { kind: 'side-by-side', pairs },
    { thresholds: [], baseline: { noise: 0.05 } },
    []
  )
  if (changes === undefined) throw new Error('nothing was compared')
  return changes
}
