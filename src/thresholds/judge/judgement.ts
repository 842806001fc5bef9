import type { Scope } from '../../results/figures/measurements.js'
import type { Threshold } from '../grammar/threshold.js'

/** The outcome of one threshold. */
export interface Judgement {
  readonly threshold: Threshold
  readonly verdict: 'passed' | 'failed' | 'inconclusive'
  /** In base units, of the worst scope; only if the verdict is based on it. */
  readonly actual: number | undefined
  /**
   * Distance to the limit as a share of the limit: 0.1 is 10 % below it, -0.55 is exceeded by 55 %. With `==` it is 0 or
   * negative. Undefined without an actual value, and for a limit of 0 unless the value is 0 too.
   */
  readonly margin: number | undefined
  /** The worst scope, or the first without a number, if a selector matched. */
  readonly scope?: Scope
  readonly scopesChecked: number
  /** One sentence. */
  readonly reason: string
}

/** The judgement on a threshold without any number. */
export function leaveUndecided(threshold: Threshold, reason: string): Judgement {
  return {
    threshold,
    verdict: 'inconclusive',
    actual: undefined,
    margin: undefined,
    scopesChecked: 0,
    reason
  }
}
