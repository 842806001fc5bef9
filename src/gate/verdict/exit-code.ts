import type { Verdict } from '../../analysis/outcome.js'
import { asSentence } from '../../contract/text.js'
import type { Settings } from '../settings/settings.js'

/** Whether the step fails. `fail-on: never` covers `failed` and `inconclusive` only, not a timeout, an error or a cancelled run. */
export function failsStep(verdict: Verdict, failOn: Settings['failOn']): boolean {
  if (verdict === 'failed' || verdict === 'inconclusive') return failOn !== 'never'
  return verdict !== 'passed' && verdict !== 'skipped' && verdict !== 'detached'
}

export function exitCodeOf(verdict: Verdict, failOn: Settings['failOn']): number {
  if (!failsStep(verdict, failOn)) return 0
  if (verdict === 'failed') return 1
  return verdict === 'cancelled' ? 130 : 2
}

const ADVICE: Readonly<Partial<Record<Verdict, string>>> = {
  failed: 'See the report in the artifact. Relax a threshold only if the new figure is intended.',
  inconclusive: 'Inconclusive never passes. Fix what is missing, or set `fail-on: never` to report only.',
  'timed-out': 'Raise timeout if the run needs longer.'
}

/** The message of a failing step: the verdict, why, and what to do. */
export function failureMessage(verdict: Verdict, reason: string): string {
  const advice = ADVICE[verdict]
  const message = `Load gate ${verdict}: ${asSentence(reason)}`
  return advice === undefined ? message : `${message} ${advice}`
}
