import { formatValue } from '../../thresholds/format.js'
import type { Outcome } from '../outcome.js'
import { rehearsalMark } from '../verdict-signs.js'

/** The most important numbers in one line; empty if there are none. */
export function keyFigures({ apdex, measurements, rehearsal }: Outcome): string {
  const all = measurements?.figures({})
  const p95Ms = all?.percentileMs(95)
  const parts = [
    ...(apdex === undefined
      ? []
      : [`apdex **${formatValue('apdex', apdex.score)}** (T ${formatValue('percentile', apdex.targetMs)})`]),
    ...(p95Ms === undefined ? [] : [`p95 **${formatValue('percentile', p95Ms)}**`]),
    ...(all?.errorRate === undefined ? [] : [`errors **${formatValue('error_rate', all.errorRate)}**`]),
    ...(all?.throughput === undefined ? [] : [`throughput **${formatValue('throughput', all.throughput)}**`]),
    ...(all === undefined ? [] : [`${formatValue('samples', all.samples)} samples`])
  ]
  return parts.length === 0 ? '' : parts.join(' · ') + rehearsalMark(rehearsal)
}
