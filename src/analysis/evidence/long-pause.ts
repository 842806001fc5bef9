import type { OnStall } from '../thresholds/judge/judgement.js'
import { formatMoment } from '../thresholds/format.js'
import { formatDuration } from '../../contract/text.js'
import type { ScanResult, SamplePart } from '../results/counts/scan-result.js'
import { bucketWidthMs } from '../results/counts/time-line.js'
import { samplesOf } from '../results/figures/tidy-figures.js'
import { type Results, wholeOf } from './reached-load.js'

/** A longer pause is told, if it is not one of many. */
const TOLD_SHARE = 0.1
const LEAST_TIMES_OTHERS = 10
/** A longer one leaves too little of the run. */
const MOST_SHARE = 0.5

const WAY_OUT =
  'Check what the plan waits for, and that all results are of this run. If it pauses on purpose, set warm-up (for a pause at its start) or on-stall: warn.'

type Judged = Pick<Results, 'measurements' | 'warmUp'>

interface LongPause {
  readonly warning?: string
  /** Why what was measured is not a run of this length. */
  readonly gap?: string
}

/**
 * A long time in the middle of a grid's load in which nothing was in flight: nobody asked, so nobody knows what the answers would have
 * been. Each grid by itself, for they may well start one after the other; without the warm-up, which is not judged.
 */
export function findLongPause(results: Judged | undefined, onStall: OnStall = 'fail'): LongPause {
  const grids = results?.measurements?.grids ?? []
  const pauses = grids.map((grid) => (results === undefined ? {} : findInGrid(results, grid)))
  const found = pauses.find(({ gap }) => gap) ?? pauses.find(({ warning }) => warning) ?? {}
  return found.gap === undefined || onStall === 'fail' ? found : { warning: found.gap }
}

function findInGrid(results: Judged, grid: string): LongPause {
  const startMs = wholeOf(results)?.startMs
  const figures = results.measurements?.figures({ grid })
  const overTime = figures?.overTime()
  if (startMs === undefined || figures === undefined || typeof overTime !== 'object') return {}
  const { silences, spanMs } = overTime
  const [longest, second] = silences
  // Of a few requests, each is far from the next.
  const usualMs = Math.max(second?.ms ?? 0, spanMs / figures.samples)
  if (
    longest === undefined ||
    longest.ms <= TOLD_SHARE * spanMs ||
    longest.ms <= LEAST_TIMES_OTHERS * usualMs
  )
    return {}
  const by = results.measurements?.grids.length === 1 ? '' : ` by grid ${grid}`
  const after = results.warmUp === undefined ? 'from the first request to the last' : 'after the warm-up'
  const told = `No request was sent${by} for ${formatDuration(longest.ms)} of the ${formatDuration(spanMs)} ${after}, at ${formatMoment(longest.startMs - startMs)}, and none was in flight, so the figures say nothing about that time.`
  return longest.ms > MOST_SHARE * spanMs
    ? { gap: `${told} ${WAY_OUT}` }
    : { warning: `${told} Check what the plan waited for.` }
}

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

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
}

export interface Busy extends Stretch {
  readonly samples: number
}

/** From the start of the slowest request to the end of the bucket in which it ended. */
function busyStretches({ line: { bucketMs, buckets, times } }: SamplePart): Stretch[] {
  return Array.from(buckets, (bucket, index) => {
    const slowestMs = times.values[(times.offsets[index + 1] ?? 0) - 1] ?? 0
    return { fromMs: bucket * bucketMs - slowestMs, toMs: (bucket + 1) * bucketMs }
  })
}

/** When samples were in progress. */
export function listBusy({ shape, parts, buckets, bucketMs }: ScanResult): Busy[] {
  if (shape === 'tidy') {
    const widthMs = bucketMs ?? bucketWidthMs(buckets.map(({ atMs }) => atMs))
    return buckets.flatMap((bucket) => {
      const { atMs: fromMs } = bucket
      const samples = samplesOf(bucket)
      return samples > 0 ? [{ fromMs, toMs: fromMs + widthMs, samples }] : []
    })
  }
  return parts.flatMap((part) =>
    busyStretches(part).map((stretch, i) => ({ ...stretch, samples: part.line.samples[i] ?? 0 }))
  )
}
