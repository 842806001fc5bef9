import type { Inputs } from './inputs.js'
import { parseBoolean } from '../../values/setting-values.js'

/** Whether to stop a run whose threshold is broken. Only a run of this step whose end is known can be. */
export function readStopEarly(inputs: Inputs, { isSkipped }: { readonly isSkipped: boolean }): boolean {
  const stopEarly = inputs.take('stop-early', parseBoolean) ?? false
  if (!stopEarly) return false
  const [other] = (['run-id', 'repeat'] as const).filter((name) => inputs.isGiven(name))
  if (other === 'run-id')
    inputs.complain(
      'stop-early',
      'cannot be combined with run-id: a run that this step did not start is never stopped; remove one of the two'
    )
  else if (other === 'repeat')
    inputs.complain(
      'stop-early',
      'cannot be combined with repeat, which keeps the duration of the earlier run; remove one of the two'
    )
  else if (!inputs.isGiven('duration') && !isSkipped)
    inputs.complain(
      'stop-early',
      'needs duration, without which nobody knows how much of the run is left; set duration, or remove stop-early'
    )
  return true
}
