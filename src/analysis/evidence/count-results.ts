import { messageOf } from '../../contract/text.js'
import type { WarmUpFacts } from '../outcome.js'
import { mergeScans } from '../results/figures/merge.js'
import type { ScanResult } from '../results/counts/scan-result.js'
import type { ResultFile } from '../results/parallel/scan-stretch.js'
import { scanEach } from '../results/parallel/scan-files.js'
import { describeForeignRows, placeRows, findSameRows } from './own-rows.js'
import type { PlacedRows, RunTimes, EarlierResults } from './own-rows.js'
import type { Results } from './reached-load.js'
import { type ScannedFile, leaveOutAll, leaveOutWarmUp } from './warm-up.js'
import { findOnlyAside } from './aside-samples.js'
import { pausesOf, spansOf } from './grid-times.js'

export interface CountOptions {
  /** 0 leaves nothing out. */
  readonly warmUpMs: number
  readonly times?: RunTimes | undefined
  readonly earlier?: readonly EarlierResults[]
}

export interface CountedRun extends Omit<Results, 'warmUp'> {
  readonly warmUp?: WarmUpFacts
  /** With the samples of a warm-up. */
  readonly scans: readonly ScanResult[]
  /** Without them, if there is one. */
  readonly countedScans?: readonly ScanResult[]
  /** The CSVs with what counts of each, to be read once more; a list for each run. */
  readonly countedFiles: readonly (readonly ScannedFile[])[]
  /** Why results or rows are not this run's, in clauses: no line can be judged by them. */
  readonly foreign: readonly string[]
  /** What else makes the results incomplete evidence, in sentences. */
  readonly gaps: readonly string[]
  /** What looks wrong without proving that something is missing, in sentences. */
  readonly doubts: readonly string[]
}

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
    countedFiles: [own],
    spansMs: spansOf(scans),
    pausesMs: pausesOf(scans),
    foreign: [...findSameRows(all, earlier), ...placed.foreign, ...read.foreign]
  }
  const { doubts } = placed
  const idle = findOnlyAside(scans)
  if (scans.length === 0 || warmUpMs === 0)
    return { ...found, measurements: scans.length === 0 ? undefined : mergeScans(scans), gaps: idle, doubts }
  const counted = await leaveOutWarmUp(own, warmUpMs).catch((thrown: unknown) =>
    leaveOutAll(scans, warmUpMs, messageOf(thrown))
  )
  return {
    ...found,
    countedScans: counted.scans,
    countedFiles: [own.map((file, i) => withoutWarmUp(file, counted.scans[i], counted.warmUp))],
    measurements: counted.measurements,
    warmUp: counted.warmUp,
    gaps: [...idle, ...(counted.gap === undefined ? [] : [counted.gap])],
    doubts: [...doubts, ...counted.doubts]
  }
}

async function leaveOutForeign(
  files: readonly ScannedFile[],
  { outside, bounds }: PlacedRows,
  times: RunTimes | undefined
): Promise<{ readonly files: readonly ScannedFile[]; readonly foreign: readonly string[] }> {
  const { fromMs: countFromMs, toMs: countToMs } = bounds
  const suspects = files.filter(({ scan }) => outside.has(scan.grid))
  if (suspects.length === 0 || times === undefined) return { files, foreign: [] }
  try {
    const again = await scanEach(
      suspects.map(({ path, scan: { grid, region, parts, asideGroups } }) => {
        const stallLabels = parts.flatMap(({ stalls }) => [...stalls.labels.keys()].map((label) => [label]))
        return { path, grid, region, countFromMs, countToMs, stallLabels, asideGroups }
      })
    )
    const within = new Map(suspects.map((file, i) => [file, again[i] ?? file.scan]))
    const foreign = [...outside].flatMap((grid) => {
      const own = suspects.filter(({ scan }) => scan.grid === grid)
      const [before, after] = [own.map(({ scan }) => scan), own.flatMap((file) => within.get(file) ?? [])]
      return describeForeignRows(before, after, times) ?? []
    })
    return {
      files: files.map((file) => {
        const limits = { countFromMs, countToMs }
        const scan = within.get(file)
        return scan === undefined ? { ...file, ...limits } : { ...file, scan, ...limits, counted: limits }
      }),
      foreign
    }
  } catch (thrown) {
    return { files, foreign: [`rows outside of the run's time could not be left out: ${messageOf(thrown)}`] }
  }
}

function withoutWarmUp(
  file: ScannedFile,
  scan: ScanResult | undefined,
  { startMs = -Infinity, ms }: WarmUpFacts
): ScannedFile {
  const { countFromMs: asideFromMs = -Infinity, countToMs } = file
  const counted = { countFromMs: startMs + ms, countToMs, asideFromMs }
  return { ...file, scan: scan ?? file.scan, counted }
}

function withClock(file: ScannedFile, { clocksMs }: PlacedRows): ScannedFile {
  const clockMs = clocksMs.get(file.scan.grid)
  return clockMs === undefined ? file : { ...file, scan: { ...file.scan, clockMs } }
}
