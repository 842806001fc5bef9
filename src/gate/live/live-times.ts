import type { Run } from '../../service/documents/documents.js'
import type { Settings } from '../settings/settings.js'
import type { LiveTimes } from './live-evidence.js'

/** Of the duration, where nothing says when the load has settled. */
const UNSETTLED_SHARE = 0.2

/** When the run may be judged; undefined if its duration is unknown. A repeated run has its own times. */
export function liveTimes(settings: Settings, run: Run): LiveTimes | undefined {
  const durationSeconds = settings.durationSeconds ?? run.durationSeconds
  if (durationSeconds === undefined || durationSeconds <= 0) return undefined
  const durationMs = durationSeconds * 1000
  const isRepeat = settings.origin.kind === 'repeat'
  const rampupSeconds = (isRepeat ? undefined : settings.rampupSeconds) ?? run.rampupSeconds ?? 0
  // A ramp-up of zero does not say when the load has settled.
  const unsettledMs = rampupSeconds > 0 ? rampupSeconds * 1000 : UNSETTLED_SHARE * durationMs
  const { warmUpMs } = settings
  const settledAfterMs = Math.max(unsettledMs, warmUpMs)
  return { durationMs, settledAfterMs, warmUpMs }
}
