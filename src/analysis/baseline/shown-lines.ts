import type { BaselineThreshold } from '../thresholds/grammar/threshold.js'

/** What is compared and shown, never judged, where no line names `baseline`. */
export const SHOWN_LINES: readonly BaselineThreshold[] = [
  {
    text: 'p95 <= baseline + 10%',
    line: 1,
    level: 'warn',
    metric: 'percentile',
    name: 'p95',
    percentile: 95,
    selector: {},
    operator: '<=',
    allowance: { ratio: 0.1 }
  },
  {
    text: 'throughput >= baseline - 10%',
    line: 2,
    level: 'warn',
    metric: 'throughput',
    name: 'throughput',
    selector: {},
    operator: '>=',
    allowance: { ratio: 0.1 }
  },
  {
    text: 'error_rate <= baseline + 0.5pp',
    line: 3,
    level: 'warn',
    metric: 'error_rate',
    name: 'error_rate',
    selector: {},
    operator: '<=',
    allowance: { amount: 0.005 }
  }
]
