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
