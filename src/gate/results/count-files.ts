import { createHash } from 'node:crypto'
import { countResults, type CountedRun } from '../../analysis/evidence/count-results.js'
import { spanOf } from '../../analysis/evidence/grid-times.js'
import {
  describeForeignRows,
  formatTime,
  placeRows,
  type RunTimes
} from '../../analysis/evidence/own-rows.js'
import { mostThreads } from '../../analysis/evidence/reached-load.js'
import type { ScanResult } from '../../analysis/results/counts/scan-result.js'
import { scanEach } from '../../analysis/results/parallel/scan-files.js'
import { listStallLabels } from '../../analysis/thresholds/judge/over-time.js'
import { asSentence, count, formatDuration, joinWords } from '../../contract/text.js'
import type { Settings } from '../settings/settings.js'
import type { EarlierVerdict } from './earlier-verdict.js'
import type { ResultSource } from './result-sources.js'
import type { TranslatedFile } from './translate-file.js'

/** When the workflow run began, or why that is not known. */
export type Begin = { readonly ms: number } | { readonly reason: string }

interface CountingOptions {
  readonly settings: Pick<Settings, 'thresholds' | 'warmUpMs' | 'threads' | 'durationSeconds'>
  /** Undefined where there is no workflow. */
  readonly begin?: Begin | undefined
  readonly earlier: EarlierVerdict
  /** By this machine's clock. */
  readonly nowMs: number
}

const ID_DIGITS = 12

interface CountedFile {
  readonly source: ResultSource
  readonly translated: TranslatedFile
  readonly scan: ScanResult
}

/** The figures of the files, what is wrong with the times in them, and notes on what could not be checked. */
export async function countFiles(
  files: readonly Omit<CountedFile, 'scan'>[],
  options: CountingOptions
): Promise<{ readonly counted: CountedRun; readonly notes: readonly string[]; readonly identity: string }> {
  const { settings, earlier } = options
  const stallLabels = listStallLabels(settings.thresholds)
  const readable = files.flatMap(({ source, translated }) => {
    const { path } = translated
    return path === undefined ? [] : [{ source, translated, path }]
  })
  const scans = await scanEach(
    readable.map(({ path, source: { grid, region, path: given } }) => {
      return { path, grid, region, stallLabels, asideGroups: earlier.asideGroups.get(given) }
    })
  )
  const found = readable.flatMap((file, i) => (scans[i] === undefined ? [] : [{ ...file, scan: scans[i] }]))
  const age = planAgeCheck(found, options.begin)
  const { warmUpMs } = settings
  const counted = await countResults(found, { warmUpMs, times: earlier.times ?? age.times })
  const older = earlier.times === undefined ? [] : findOlder(scans, age.times)
  return {
    counted: {
      ...counted,
      foreign: [...findWrongTimes(found, options), ...counted.foreign, ...older],
      gaps: [...findUntimed(found, settings), ...counted.gaps]
    },
    notes: [...age.notes, ...describeUnknownThreads(counted, settings)],
    identity: identify(scans)
  }
}

/** The same for the same samples, in any order of the files: no two runs begin with the same rows. */
function identify(scans: readonly ScanResult[]): string {
  const begins = scans.map(({ firstRows, rows }) => `${firstRows.at(-1) ?? ''} ${rows}`)
  return createHash('sha256').update(begins.sort().join('\n')).digest('hex').slice(0, ID_DIGITS)
}

/** Which files are compared with the start of the workflow run, and why others are not. */
function planAgeCheck(
  files: readonly CountedFile[],
  begin: Begin | undefined
): { readonly times: RunTimes | undefined; readonly notes: readonly string[] } {
  if (begin === undefined) return { times: undefined, notes: [] }
  if ('reason' in begin) return { times: undefined, notes: [describeUnchecked('the rows', begin.reason)] }
  const reasons = new Map<string, CountedFile[]>()
  for (const file of files) {
    const reason = whyUncheckable(file)
    if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), file])
  }
  // A file from before the workflow run is old, whatever is in it; a new one may be a copy.
  const unchecked = [...reasons.values()].flat().filter(({ translated }) => !translated.format?.isTimedByFile)
  return {
    times: {
      ...{ startedMs: begin.ms, stoppedMs: undefined, called: 'the workflow run began' },
      unchecked: new Set(unchecked.map(({ source }) => source.grid))
    },
    notes: [...reasons].map(([reason, own]) => describeUnchecked(`the rows of ${listNames(own)}`, reason))
  }
}

function describeUnchecked(rows: string, reason: string): string {
  return `Could not check that ${rows} were measured during this workflow run: ${asSentence(reason)}`
}

function whyUncheckable({ scan, translated: { format } }: CountedFile): string | undefined {
  if (format?.isTimedByFile)
    return `${format.tool} writes no time of day, so only the time of the file was compared`
  if (hasNoTimes(scan)) return 'they have no times; save the column timeStamp'
  if (scan.isZoneless) return 'their times do not say in which zone they are; save them as epoch milliseconds'
  return undefined
}

function hasNoTimes(scan: ScanResult): boolean {
  return scan.shape === 'samples' && scan.rows > 0 && spanOf(scan) === undefined
}

/** Where the verdict of the run itself says when it was, that is compared first. */
function findOlder(scans: readonly ScanResult[], times: RunTimes | undefined): string[] {
  if (times === undefined) return []
  return [...placeRows(scans, times).outside].flatMap((grid) => {
    const own = scans.filter((scan) => scan.grid === grid)
    return describeForeignRows(own, [], times) ?? []
  })
}

const HOUR_MS = 3_600_000
/** Nobody judges older results; seconds that are taken for milliseconds are of January 1970. */
const EARLIEST_MS = Date.UTC(2001, 0)
/** A time without a zone is of the one that is furthest ahead, if any. */
const LARGEST_ZONE_MS = 14 * HOUR_MS

/** Times that no run of now can have, in clauses. What loadgate wrote itself was compared when it did. */
function findWrongTimes(
  files: readonly CountedFile[],
  { earlier, nowMs }: Pick<CountingOptions, 'earlier' | 'nowMs'>
): string[] {
  return files.flatMap(({ source: { path, shown }, translated: { format }, scan }) => {
    const span = earlier.csvs.has(path) || format?.isTimedByFile ? undefined : spanOf(scan)
    if (span === undefined) return []
    if (span.fromMs < EARLIEST_MS)
      return `the times in ${shown} begin at ${formatTime(span.fromMs)}: they are probably in seconds and must be in milliseconds since 1970, or the clock of that machine was wrong`
    const latestMs = nowMs + HOUR_MS + (scan.isZoneless ? LARGEST_ZONE_MS : 0)
    if (span.toMs <= latestMs) return []
    return `the times in ${shown} go up to ${formatTime(span.toMs)}, and here it is ${formatTime(nowMs)}: the clock of a machine is wrong, or they are not in milliseconds since 1970`
  })
}

/** A duration that was asked for, and that nothing shows. */
function findUntimed(
  files: readonly CountedFile[],
  { durationSeconds }: CountingOptions['settings']
): string[] {
  const untimed = files.filter(({ scan }) => hasNoTimes(scan))
  if (durationSeconds === undefined || untimed.length === 0) return []
  return [
    `The rows of ${listNames(untimed)} have no times, so nothing shows that the load went on for the ${formatDuration(durationSeconds * 1000)} requested. Save the column timeStamp, or leave out duration.`
  ]
}

function describeUnknownThreads(counted: CountedRun, { threads }: CountingOptions['settings']): string[] {
  if (threads === undefined || counted.measurements === undefined || mostThreads(counted) !== undefined)
    return []
  return [
    `Could not check that the load had ${count(threads, 'thread')}: the files do not say how many users there were (JMeter saves that as allThreads, and k6 as vus).`
  ]
}

function listNames(files: readonly CountedFile[]): string {
  return joinWords(files.map(({ source: { shown } }) => shown))
}
