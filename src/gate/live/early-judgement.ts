import type { Scope } from '../../results/figures/measurements.js'
import { measureRoom } from '../../thresholds/judge/compare.js'
import type { Judgement } from '../../thresholds/judge/judgement.js'
import type { AbsoluteThreshold } from '../../thresholds/grammar/threshold.js'

/** A line that ends the run, in one scope. */
export interface Breach {
  readonly threshold: AbsoluteThreshold
  readonly scope: Scope
  readonly actual: number
  /** What happened, as the rest of a sentence. */
  readonly words: string
  /** Whether the line stays broken whatever the rest of the run brings. */
  readonly isFinal: boolean
}

/** The judgement on the line that ended the run. */
export function judgementOf({ threshold, scope, actual }: Breach, reason: string): Judgement {
  const room = measureRoom(actual, threshold)
  return {
    threshold,
    verdict: 'failed',
    actual,
    margin: threshold.value === 0 ? undefined : room / threshold.value,
    ...(Object.keys(scope).length > 0 && { scope }),
    scopesChecked: 1,
    reason
  }
}
