import { partsOfLoad, type SamplePart, type ScanResult } from '../results/counts/scan-result.js'
import { bucketWidthMs } from '../results/counts/time-line.js'
import { samplesOf } from '../results/figures/tidy-figures.js'

export interface Bounds {
  readonly fromMs: number
  readonly toMs: number
}

interface Busy extends Bounds {
  readonly samples: number
}

/** Shorter pauses are part of any plan. */
const LEAST_PAUSE_MS = 5_000
/** A pause is unlike the others if it is longer than any of them by this factor. */
const UNLIKE = 5
/** Rows apart from the others are few: at most this share of all of them, or this many. */
const MOST_SHARE = 0.01
const MOST_ROWS = 3
/** Among fewer rows than these for each of them, nothing says which ones are apart. */
const LEAST_OTHERS = 3
/** Pauses that take up a smaller share of the time are not typical of the plan. */
const LEAST_PAUSED_SHARE = 2 / 3

/** Several CSVs of a grid count as one. */
export function groupByGrid(scans: readonly ScanResult[]): [grid: string, scans: ScanResult[]][] {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return grids.map((grid) => [grid, scans.filter((scan) => scan.grid === grid)])
}

/** From the first to the last; from Infinity to -Infinity if there are none. */
export function boundsAround(all: readonly Bounds[]): Bounds {
  const fromMs = all.reduce((first, one) => Math.min(first, one.fromMs), Infinity)
  return { fromMs, toMs: all.reduce((last, one) => Math.max(last, one.toMs), -Infinity) }
}

/** How long a bucket is in which the samples may be anywhere; 0 where there is a row for each sample. */
export function bucketMsOf({ shape, buckets, bucketMs }: ScanResult): number {
  return shape === 'tidy' ? (bucketMs ?? bucketWidthMs(buckets.map(({ atMs }) => atMs))) : 0
}

/** When samples were in progress, by their starts. */
export function listBusy(scans: readonly ScanResult[]): Busy[] {
  return scans.flatMap(busyIn).sort((one, other) => one.fromMs - other.fromMs)
}

function busyIn(scan: ScanResult): Busy[] {
  if (scan.shape !== 'tidy') return scan.parts.flatMap(busyInPart)
  const widthMs = bucketMsOf(scan)
  const busy = scan.buckets.map((bucket) => {
    return { fromMs: bucket.atMs, toMs: bucket.atMs + widthMs, samples: samplesOf(bucket) }
  })
  return busy.filter(({ samples }) => samples > 0)
}

/** From the start of the slowest request to the end of the bucket in which it ended. */
function busyInPart({ line: { bucketMs, buckets, times, samples } }: SamplePart): Busy[] {
  return Array.from(buckets, (bucket, i) => {
    const slowestMs = times.values[(times.offsets[i + 1] ?? 0) - 1] ?? 0
    return { fromMs: bucket * bucketMs - slowestMs, toMs: (bucket + 1) * bucketMs, samples: samples[i] ?? 0 }
  })
}

interface Pause {
  readonly fromMs: number
  readonly ms: number
  readonly samplesAfter: number
}

export function listPauses(busy: readonly Busy[]): Pause[] {
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

/**
 * When the rows took place without the few that are apart, behind a pause that is unlike any other, and how long these pauses are;
 * 0 if there are none on that side. Undefined without times.
 */
export function findCore(scans: readonly ScanResult[]) {
  const blocks = splitAtPauses(listBusy(scans))
  const most = Math.max(...blocks.map(({ samples }) => samples))
  const at = blocks.findIndex(({ samples }) => samples === most)
  const largest = blocks[at]
  if (largest === undefined) return undefined
  const all = blocks.reduce((sum, { samples }) => sum + samples, 0)
  const others = all - most
  const isFew = others <= Math.max(MOST_ROWS, all * MOST_SHARE) && others * LEAST_OTHERS <= most
  if (!isFew) return { ...boundsAround(blocks), pauseBeforeMs: 0, pauseAfterMs: 0 }
  const unlikeMs = UNLIKE * largest.longestPauseMs
  let [from, to] = [at, at]
  while (pauseAfter(blocks, from - 1) <= unlikeMs) from--
  while (pauseAfter(blocks, to) <= unlikeMs) to++
  return {
    ...boundsAround(blocks.slice(from, to + 1)),
    pauseBeforeMs: from === 0 ? 0 : pauseAfter(blocks, from - 1),
    pauseAfterMs: to === blocks.length - 1 ? 0 : pauseAfter(blocks, to)
  }
}

interface Block extends Busy {
  readonly longestPauseMs: number
}

function splitAtPauses(busy: readonly Busy[]): Block[] {
  const blocks: Block[] = []
  for (const one of busy) {
    const last = blocks.at(-1)
    const pauseMs = last === undefined ? Infinity : one.fromMs - last.toMs
    if (last === undefined || pauseMs >= LEAST_PAUSE_MS) blocks.push({ ...one, longestPauseMs: 0 })
    else
      blocks[blocks.length - 1] = {
        ...boundsAround([last, one]),
        samples: last.samples + one.samples,
        longestPauseMs: Math.max(last.longestPauseMs, pauseMs)
      }
  }
  return blocks
}

/** Infinity before the first block and after the last one. */
function pauseAfter(blocks: readonly Block[], at: number): number {
  const [before, after] = [blocks[at], blocks[at + 1]]
  return before === undefined || after === undefined ? Infinity : after.fromMs - before.toMs
}

/** How long a grid typically had no request in progress: pauses at least this long take up most of the time. 0 if requests are dense. */
export function pausesOf(scans: readonly ScanResult[]): Map<string, number> {
  return new Map(
    groupByGrid(scans).map(([grid, own]) => [
      grid,
      typicalPauseMs(own.filter(({ shape }) => shape === 'samples'))
    ])
  )
}

function typicalPauseMs(scans: readonly ScanResult[]): number {
  const core = findCore(scans)
  if (core === undefined) return 0
  const busy = listBusy(scans).filter(({ fromMs, toMs }) => fromMs >= core.fromMs && toMs <= core.toMs)
  const bucketMs = Math.max(0, ...scans.flatMap(({ parts }) => parts.map(({ line }) => line.bucketMs)))
  const { fromMs, toMs } = boundsAround(busy)
  let pausedMs = 0
  for (const { ms } of listPauses(busy).sort((one, other) => other.ms - one.ms)) {
    // A request counts for its whole bucket here, which it hardly ever fills.
    pausedMs += ms + bucketMs
    if (pausedMs >= (toMs - fromMs) * LEAST_PAUSED_SHARE) return ms
  }
  return 0
}

/** From the first start to the last end of each grid's samples, if its CSV has times. Rows apart from all others do not extend it. */
export function spansOf(scans: readonly ScanResult[]): Map<string, number> {
  return new Map(
    groupByGrid(scans).flatMap(([grid, own]): [string, number][] => {
      const known = own.flatMap((scan) => spanOf(scan) ?? [])
      const span = boundsAround(known)
      return known.length < own.length ? [] : [[grid, span.toMs - span.fromMs - strayMs(own, span)]]
    })
  )
}

/** By how much rows that are apart extend it. A plan may well do something before its load, but does not wait for half of its time. */
function strayMs(scans: readonly ScanResult[], { fromMs, toMs }: Bounds): number {
  const core = findCore(scans)
  if (core === undefined) return 0
  const isLate = core.pauseBeforeMs > (toMs - fromMs) / 2
  return (isLate ? core.fromMs - fromMs : 0) + (core.pauseAfterMs > 0 ? toMs - core.toMs : 0)
}

/** Undefined where rows have no times. */
export function spanOf(scan: ScanResult): Bounds | undefined {
  const { shape, rows, parts, buckets } = scan
  if (shape === 'tidy' && buckets.length > 0) {
    const timesMs = buckets.map(({ atMs }) => atMs)
    // The samples are anywhere within the buckets, and the first and the last bucket may be missing: add one as slack.
    const slackMs = 2 * bucketWidthMs(timesMs)
    return boundsAround(timesMs.map((atMs) => ({ fromMs: atMs, toMs: atMs + slackMs })))
  }
  if (shape !== 'samples' || rows === 0 || !parts.every(({ hasTimes }) => hasTimes)) return undefined
  const ofLoad = partsOfLoad(scan).filter(({ startMs, endMs }) => startMs <= endMs)
  // With rows of setUp groups only, there was next to no load.
  const timed = ofLoad.length > 0 ? ofLoad : parts
  const span = boundsAround(timed.map(({ startMs, endMs }) => ({ fromMs: startMs, toMs: endMs })))
  return span.fromMs <= span.toMs ? span : undefined
}
