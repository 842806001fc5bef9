import { formatValue } from '../thresholds/format.js'
import type { ComparedRun } from './compared-run.js'
import { formatChange } from './format-change.js'
import type { ComparisonEvidence } from './judge-lines.js'
import { sidesOf } from './judge/sides.js'
import { meanOf } from './statistics/evidence-of-change.js'
import { fromScale, SCALES, toScale } from './statistics/scale.js'

const NOTEWORTHY = 0.1
/** The same as for other figures at most. */
const NEWEST_RUNS = 5

/**
 * A sentence if throughput moved by more than 10 %, for readers of compared times: plans with a fixed number of users hide stalls as
 * lower throughput.
 */
export function describeLoadChange(evidence: ComparisonEvidence): string | undefined {
  if (evidence.kind === 'none') return undefined
  const { base, head, isPaired } = sidesOf(evidence)
  const before = typicalThroughput(isPaired ? base : base.slice(-NEWEST_RUNS))
  const after = typicalThroughput(head)
  if (before === undefined || after === undefined) return undefined
  const change = after / before - 1
  if (Math.abs(change) <= NOTEWORTHY) return undefined
  const [was, is] = [before, after].map((rate) => formatValue('throughput', rate))
  return `the load differed: throughput was ${is ?? ''} against ${was ?? ''} in the baseline (${formatChange('throughput', change * 100)}), so response times are not fully comparable; with a fixed number of users, stalls show as lower throughput`
}

function typicalThroughput(runs: readonly ComparedRun[]): number | undefined {
  const scale = SCALES.throughput
  const known = runs.flatMap((run) => toScale(scale, run.figures({})?.throughput) ?? [])
  return known.length === 0 ? undefined : fromScale(scale, meanOf(known))
}
