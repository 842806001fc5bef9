import type { ScanResult } from '../results/counts/scan-result.js'
import { formatDuration } from '../values/durations.js'
import { type Busy, listBusy } from './busy.js'

const DAY_MS = 24 * 60 * 60_000
/** No load test pauses for this long. */
const LONGEST_PAUSE_MS = 2 * DAY_MS
/** After fewer samples than this, a pause says little. */
const FEWEST_AFTER = 10

interface Silence {
  /** Why the samples are not those of one run, so that there is no start to count a warm-up from. */
  readonly gap?: string
  /** The same where it may be so. */
  readonly doubt?: string
}

interface Pause {
  readonly fromMs: number
  readonly ms: number
  readonly samplesAfter: number
}

const ADVICE = 'Check the times in the CSVs, and that all of them are of the same run.'

/**
 * A warm-up is counted from the first start. A sample with a wrong time, or from another run, would have it end before the load begins:
 * then the longest time without samples follows.
 */
export function describeSilence(scans: readonly ScanResult[], warmUpMs: number): Silence {
  const busy = scans.flatMap(listBusy).sort((one, other) => one.fromMs - other.fromMs)
  const [first] = busy
  const [longest, ...others] = listPauses(busy).sort((one, other) => other.ms - one.ms)
  if (first === undefined || longest === undefined || longest.ms <= warmUpMs) return {}
  // Where requests are far apart, there are many pauses like it.
  if (longest.ms <= others.reduce((sum, { ms }) => sum + ms, 0)) return {}
  const start = `The warm-up of ${formatDuration(warmUpMs)} is counted from the first sample`
  if (longest.ms > LONGEST_PAUSE_MS)
    return {
      gap: `${start}, but there are samples that are more than ${Math.floor(longest.ms / DAY_MS).toLocaleString('en-US')} days apart, so it is unknown when the run began. ${ADVICE}`
    }
  const isAtStart = longest.fromMs <= first.toMs + warmUpMs
  if (!isAtStart || longest.samplesAfter < FEWEST_AFTER) return {}
  return {
    doubt: `${start}, and soon after it there are none for ${formatDuration(longest.ms)}, so the first ones of the load itself may be in the figures. ${ADVICE}`
  }
}

function listPauses(busy: readonly Busy[]): Pause[] {
  const pauses: Pause[] = []
  let samplesAfter = busy.reduce((sum, { samples }) => sum + samples, 0)
  let untilMs = busy[0]?.toMs ?? 0
  for (const { fromMs, toMs, samples } of busy) {
    if (fromMs > untilMs) pauses.push({ fromMs: untilMs, ms: fromMs - untilMs, samplesAfter })
    untilMs = Math.max(untilMs, toMs)
    samplesAfter -= samples
  }
  return pauses
}
