import type { WarmUpFacts } from '../outcome.js'
import { isUntimed, mergeScans } from '../results/figures/merge.js'
import { samplesOf } from '../results/figures/tidy-figures.js'
import type { Measurements } from '../results/figures/measurements.js'
import { partsOfLoad, type ScannerOptions, type ScanResult } from '../results/counts/scan-result.js'
import { scanEach } from '../results/parallel/scan-files.js'
import { formatDuration } from '../../contract/text.js'
import { groupByGrid, listBusy, listPauses } from './grid-times.js'

/** A complete CSV on disk, and all that was read from it. */
export interface ScannedFile {
  readonly path: string
  readonly scan: ScanResult
  /** Rows that start after it are in no scan. */
  readonly countToMs?: number | undefined
  /** The same for rows that start before it. */
  readonly countFromMs?: number | undefined
  /** What the scan leaves out; absent if it has all rows. */
  readonly counted?: Pick<ScannerOptions, 'countFromMs' | 'countToMs' | 'asideFromMs'>
}

/** Reads the CSVs again, without the samples that start within the warm-up: when it began is known once all of them are complete. */
export async function leaveOutWarmUp(files: readonly ScannedFile[], ms: number) {
  const all = files.map(({ scan }) => scan)
  const startMs = firstStartMs(all)
  const countFromMs = startMs + ms
  const rest = files.map(({ path, scan: { grid, region, asideGroups }, countToMs, ...file }) => {
    const aside = { asideGroups, asideFromMs: file.countFromMs ?? -Infinity }
    return { path, grid, region, countFromMs, countToMs, ...aside }
  })
  // Without a single start there is nothing to leave out, and what is wrong shows in the scans.
  const again = Number.isFinite(countFromMs) ? await scanEach(rest) : all
  const counted = again.map((scan, i) => withProblems(scan, all[i] ?? scan, ms))
  return withoutWarmUp(all, counted, ms, startMs)
}

/** Where the CSVs cannot be read again: no figure is left, for none would be without the warm-up. */
export function leaveOutAll(all: readonly ScanResult[], ms: number, reason: string) {
  const problem = `it could not be read again to leave out the warm-up: ${reason}`
  const none = all.map((scan) => emptied(scan, problem))
  return withoutWarmUp(all, none, ms, firstStartMs(all))
}

/** `gap` says in a sentence why what is left is not enough evidence. */
function withoutWarmUp(
  all: readonly ScanResult[],
  counted: readonly ScanResult[],
  ms: number,
  startMs: number
) {
  const whole = mergeScans(all)
  const measurements = mergeScans(counted, { scans: all, fromMs: startMs + ms })
  const [before, after] = [whole.figures({}), measurements.figures({})]
  const warmUp = {
    ms,
    ...(Number.isFinite(startMs) && { startMs }),
    samples: (before?.samples ?? 0) - (after?.samples ?? 0),
    failures: (before?.failures ?? 0) - (after?.failures ?? 0),
    whole
  }
  const { gap, doubt } = describeSilence(all, ms)
  return {
    scans: counted,
    measurements,
    warmUp,
    gap: gap ?? gapIn(measurements, warmUp),
    doubts: doubt === undefined ? describeLate(all, ms, startMs) : [doubt]
  }
}

/** A grid that began after the warm-up, or whose clock differs: nothing of its own start is left out. */
function describeLate(all: readonly ScanResult[], ms: number, startMs: number): string[] {
  const late = groupByGrid(all).flatMap(([grid, scans]) => {
    const afterMs = firstStartMs(scans) - startMs
    return Number.isFinite(afterMs) && afterMs >= ms ? [{ grid, afterMs }] : []
  })
  const [first] = late
  if (first === undefined) return []
  const others = late.length === 1 ? '' : ` (and ${late.length - 1} more like it)`
  return [
    `The first sample of grid ${first.grid}${others} starts ${formatDuration(first.afterMs)} after the first of all, so nothing of it is within the warm-up of ${formatDuration(ms)}. Make warm-up longer, or check the clocks.`
  ]
}

/** Over all CSVs; Infinity if none has a start. A bucket without samples has none: tidy CSVs may begin before the load. */
function firstStartMs(scans: readonly ScanResult[]): number {
  return scans
    .flatMap((scan) => [
      ...partsOfLoad(scan)
        .filter(({ hasTimes }) => hasTimes)
        .map(({ startMs }) => startMs),
      ...scan.buckets.filter((bucket) => samplesOf(bucket) > 0).map(({ atMs }) => atMs)
    ])
    .reduce((one, other) => Math.min(one, other), Infinity)
}

/** A CSV's problems stay. One with nothing left has no part in the figures, which then are not those of the requested load. */
function withProblems(again: ScanResult, whole: ScanResult, ms: number): ScanResult {
  const { problems, problemCount, clockMs } = whole
  const scan = { ...again, problems, problemCount, ...(clockMs !== undefined && { clockMs }) }
  if (isUntimed(whole))
    return emptied(
      scan,
      `its rows have no timeStamp, so those of the warm-up of ${formatDuration(ms)} cannot be left out: save it, or remove warm-up`
    )
  return hasSamples(whole) && !hasSamples(scan) ? emptied(scan, allEarly(ms)) : scan
}

function allEarly(ms: number): string {
  return `all of its samples start within the warm-up of ${formatDuration(ms)}`
}

function hasSamples(scan: ScanResult): boolean {
  return mergeScans([scan]).figures({}) !== undefined
}

function emptied(scan: ScanResult, text: string): ScanResult {
  const problems = [{ row: 0, text }, ...scan.problems]
  return { ...scan, parts: [], buckets: [], problems, problemCount: scan.problemCount + 1 }
}

/** Whether it is the gap of a warm-up, or of a pause: with another `warm-up` or `on-stall` the same CSVs may be enough evidence. */
export function isGapOfSettings(reason: string): boolean {
  return /^(The run is not longer than its warm-up: |All samples of grid .+ start within the warm-up of |The warm-up of .+ is counted from the first sample, but |No request was sent )/.test(
    reason
  )
}

function gapIn(measurements: Measurements, warmUp: WarmUpFacts): string | undefined {
  const { ms, whole } = warmUp
  const all = whole.figures({})
  // Then there are no samples at all, which is reported without mentioning the warm-up.
  if (all === undefined) return undefined
  const [first] = measurements.sources.filter(({ problems }) => problems[0] === allEarly(ms))
  if (first === undefined) return undefined
  if (measurements.figures({}) === undefined)
    return `The run is not longer than its warm-up: all ${all.samples.toLocaleString('en-US')} samples start within the first ${formatDuration(ms)}${describeSpan(warmUp)}. Make the run longer, or warm-up shorter.`
  return `All samples of grid ${first.grid} start within the warm-up of ${formatDuration(ms)}, so it is not in the figures. Check what ended its load, or make warm-up shorter.`
}

function describeSpan({ startMs, whole: { endMs } }: WarmUpFacts): string {
  return startMs === undefined || endMs === undefined
    ? ''
    : `, and the last one ends after ${formatMs(endMs - startMs)}`
}

/** A warm-up of whole seconds may be a fraction longer than the run. */
function formatMs(ms: number): string {
  return ms < 120_000 ? `${Number((ms / 1000).toFixed(1))} s` : formatDuration(ms)
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

const ADVICE = 'Check the times in the CSVs, and that all of them are of the same run.'

/** A sample with a wrong time, or of another run, would end the warm-up before the load begins: a long time without samples follows. */
function describeSilence(scans: readonly ScanResult[], warmUpMs: number): Silence {
  const busy = listBusy(scans)
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
