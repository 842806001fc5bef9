import { messageOf } from '../../contract/text.js'
import type { WarmUpFacts } from '../outcome.js'
import { mergeScans } from '../results/figures/merge.js'
import type { ScanResult } from '../results/counts/scan-result.js'
import type { ResultFile } from '../results/parallel/scan-stretch.js'
import { scanEach } from '../results/parallel/scan-files.js'
import { bucketWidthMs } from '../results/counts/time-line.js'
import { type PlacedRows, type RunTimes, describeForeignRows, placeRows } from './own-rows.js'
import type { Results } from './reached-load.js'
import { type EarlierResults, findSameRows } from './same-rows.js'
import { type ScannedFile, leaveOutAll, leaveOutWarmUp } from './warm-up.js'
import { listBusy } from './long-pause.js'
import { findCore } from './stray-rows.js'

export interface CountOptions {
  /** 0 leaves nothing out. */
  readonly warmUpMs: number
  /** Undefined if nothing is known of the run. */
  readonly times?: RunTimes | undefined
  /** The results of the step's runs before this one. */
  readonly earlier?: readonly EarlierResults[]
}

/** What the CSVs of a run say, without what is not this run's. */
export interface CountedRun extends Omit<Results, 'warmUp'> {
  readonly warmUp?: WarmUpFacts
  /** With the samples of a warm-up. */
  readonly scans: readonly ScanResult[]
  /** Without them, if there is one. */
  readonly countedScans?: readonly ScanResult[]
  /** Why results or rows are not this run's, in clauses: no line can be judged by them. */
  readonly foreign: readonly string[]
  /** What else makes the results incomplete evidence, in sentences. */
  readonly gaps: readonly string[]
  /** What looks wrong without proving that something is missing, in sentences. */
  readonly doubts: readonly string[]
}

/** Reads CSVs on disk. */
export async function readResults(files: readonly ResultFile[], options: CountOptions): Promise<CountedRun> {
  const scans = await scanEach(files)
  return countResults(
    files.flatMap(({ path }, i) => (scans[i] === undefined ? [] : [{ path, scan: scans[i] }])),
    options
  )
}

/** Leaves out the rows that are not this run's, and then the samples of the warm-up. */
export async function countResults(
  files: readonly ScannedFile[],
  { warmUpMs, times, earlier }: CountOptions
): Promise<CountedRun> {
  const all = files.map(({ scan }) => scan)
  const placed = placeRows(all, times)
  const read = await leaveOutForeign(files, placed, times)
  const own = read.files.map((file) => withClock(file, placed))
  const scans = own.map(({ scan }) => scan)
  const found = {
    scans,
    spansMs: spansOf(scans),
    pausesMs: pausesOf(scans),
    foreign: [...findSameRows(all, earlier), ...placed.foreign, ...read.foreign]
  }
  const { doubts } = placed
  if (scans.length === 0 || warmUpMs === 0)
    return { ...found, measurements: scans.length === 0 ? undefined : mergeScans(scans), gaps: [], doubts }
  const counted = await leaveOutWarmUp(own, warmUpMs).catch((thrown: unknown) =>
    leaveOutAll(scans, warmUpMs, messageOf(thrown))
  )
  return {
    ...found,
    countedScans: counted.scans,
    measurements: counted.measurements,
    warmUp: counted.warmUp,
    gaps: counted.gap === undefined ? [] : [counted.gap],
    doubts: [...doubts, ...counted.doubts]
  }
}

/** Reads the CSVs again that have rows outside of the run's time. */
async function leaveOutForeign(
  files: readonly ScannedFile[],
  { outside, bounds }: PlacedRows,
  times: RunTimes | undefined
): Promise<{ readonly files: readonly ScannedFile[]; readonly foreign: readonly string[] }> {
  const { fromMs: countFromMs, toMs: countToMs } = bounds
  const isOutside = ({ scan }: ScannedFile): boolean => outside.has(scan.grid)
  const suspects = files.filter(isOutside)
  if (suspects.length === 0 || times === undefined) return { files, foreign: [] }
  try {
    const again = await scanEach(
      suspects.map(({ path, scan: { grid, region, parts } }) => {
        const stallLabels = parts.flatMap(({ stalls }) => [...stalls.labels.keys()].map((label) => [label]))
        return { path, grid, region, countFromMs, countToMs, stallLabels }
      })
    )
    const within = new Map(suspects.map((file, i) => [file, again[i] ?? file.scan]))
    const foreign = [...outside].flatMap((grid) => {
      const own = suspects.filter(({ scan }) => scan.grid === grid)
      const before = own.map(({ scan }) => scan)
      return (
        describeForeignRows(
          before,
          own.map((file) => within.get(file) ?? file.scan),
          times
        ) ?? []
      )
    })
    return {
      files: files.map((file) => ({ ...file, scan: within.get(file) ?? file.scan, countToMs })),
      foreign
    }
  } catch (thrown) {
    return { files, foreign: [`rows outside of the run's time could not be left out: ${messageOf(thrown)}`] }
  }
}

function withClock(file: ScannedFile, { clocksMs }: PlacedRows): ScannedFile {
  const clockMs = clocksMs.get(file.scan.grid)
  return clockMs === undefined ? file : { ...file, scan: { ...file.scan, clockMs } }
}

/** Pauses that take up a smaller share of the time are not typical of the plan. */
const LEAST_SHARE = 2 / 3

/**
 * The typical length of the pauses in which a grid had no request in progress, by its id: pauses at least this long take up most of the
 * time. 0 if the requests are dense, however long a single pause was; never longer than the actual pauses.
 */
export function pausesOf(scans: readonly ScanResult[]): Map<string, number> {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return new Map(
    grids.map((grid) => {
      const own = scans.filter(({ grid: other, shape }) => other === grid && shape === 'samples')
      return [grid, typicalPauseMs(own)]
    })
  )
}

function typicalPauseMs(scans: readonly ScanResult[]): number {
  const core = findCore(scans)
  const busy = scans
    .flatMap(listBusy)
    .filter(({ fromMs, toMs }) => core !== undefined && fromMs >= core.fromMs && toMs <= core.toMs)
    .sort((one, other) => one.fromMs - other.fromMs)
  const bucketMs = Math.max(0, ...scans.flatMap(({ parts }) => parts.map(({ line }) => line.bucketMs)))
  const pauses: number[] = []
  let untilMs = busy[0]?.toMs ?? 0
  for (const { fromMs, toMs } of busy) {
    if (fromMs > untilMs) pauses.push(fromMs - untilMs)
    untilMs = Math.max(untilMs, toMs)
  }
  const wholeMs = untilMs - (busy[0]?.fromMs ?? 0)
  let paused = 0
  for (const pauseMs of pauses.sort((one, other) => other - one)) {
    // A request counts for its whole bucket here, which it hardly ever fills.
    paused += pauseMs + bucketMs
    if (paused >= wholeMs * LEAST_SHARE) return pauseMs
  }
  return 0
}

interface Span {
  readonly startMs: number
  readonly endMs: number
}

/**
 * From the first start to the last end of each grid's samples, if its CSV has times: several CSVs of one grid count as one. Rows that
 * are apart from all others do not make it longer.
 */
function spansOf(scans: readonly ScanResult[]): Map<string, number> {
  const grids = [...new Set(scans.map(({ grid }) => grid))]
  return new Map(
    grids.flatMap((grid): [string, number][] => {
      const own = scans.filter((scan) => scan.grid === grid)
      const spans = own.map(spanOf)
      if (spans.includes(undefined)) return []
      const known = spans.filter((span) => span !== undefined)
      const startMs = Math.min(...known.map((span) => span.startMs))
      const endMs = Math.max(...known.map((span) => span.endMs))
      return [[grid, endMs - startMs - strayMs(own, { startMs, endMs })]]
    })
  )
}

/**
 * By how much rows that are apart make it longer. At the start, a plan may well do something before its load; it does not wait for half
 * of its time.
 */
function strayMs(scans: readonly ScanResult[], { startMs, endMs }: Span): number {
  const core = findCore(scans)
  if (core === undefined) return 0
  const isLate = core.pauseBeforeMs > (endMs - startMs) / 2
  return (isLate ? core.fromMs - startMs : 0) + (core.pauseAfterMs > 0 ? endMs - core.toMs : 0)
}

function spanOf({ shape, rows, parts, buckets }: ScanResult): Span | undefined {
  if (shape === 'tidy' && buckets.length > 0) return spanOfBuckets(buckets.map(({ atMs }) => atMs))
  if (shape !== 'samples' || rows === 0 || !parts.every(({ hasTimes }) => hasTimes)) return undefined
  const startMs = Math.min(...parts.map((part) => part.startMs))
  const endMs = Math.max(...parts.map((part) => part.endMs))
  return startMs <= endMs ? { startMs, endMs } : undefined
}

/** The samples are anywhere within the buckets, and the first and the last bucket may be missing: add one as slack. */
function spanOfBuckets(timesMs: readonly number[]): Span {
  const startMs = timesMs.reduce((one, other) => Math.min(one, other), Infinity)
  const endMs = timesMs.reduce((one, other) => Math.max(one, other), -Infinity)
  return { startMs, endMs: endMs + 2 * bucketWidthMs(timesMs) }
}
