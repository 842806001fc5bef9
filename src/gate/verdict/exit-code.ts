import type { Verdict } from '../../report/outcome.js'
import type { Settings } from '../settings/settings.js'

/** Whether the step fails. `fail-on: never` forgives what the thresholds say, never a run that could not be judged in time or at all. */
export function failsStep(verdict: Verdict, failOn: Settings['failOn']): boolean {
  switch (verdict) {
    case 'passed':
    case 'skipped':
    case 'detached':
      return false
    case 'failed':
    case 'inconclusive':
      return failOn !== 'never'
    case 'timed-out':
    case 'error':
    case 'cancelled':
      return true
  }
}

/** The exit code of the command line. */
export function exitCodeOf(verdict: Verdict, failOn: Settings['failOn']): number {
  if (!failsStep(verdict, failOn)) return 0
  if (verdict === 'failed') return 1
  return verdict === 'cancelled' ? 130 : 2
}

const ADVICE: Readonly<Partial<Record<Verdict, string>>> = {
  failed: 'Look at the report in the artifact; loosen a threshold only if the new figure is meant to be.',
  inconclusive:
    'This is never green: mend what is missing and run again, or set fail-on: never to be told only.',
  'timed-out': 'Raise timeout if the run needs longer.'
}

/** The message of a failing step: which verdict, why, and what to do. */
export function failureMessage(verdict: Verdict, reason: string): string {
  const advice = ADVICE[verdict]
  if (advice === undefined) return `Load gate ${verdict}: ${reason}`
  return `Load gate ${verdict}: ${/[.!?]$/.test(reason) ? reason : `${reason}.`} ${advice}`
}
