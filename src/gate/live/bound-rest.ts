import type { Measurements } from '../../results/figures/measurements.js'
import type { ScanResult } from '../../results/scan/scanner.js'
import type { LiveTimes } from './live-evidence.js'

/** A run may last a little longer than it should, and its last samples end after that. */
const SLACK_MS = 10_000
/** The rest of the run may be this much faster than its fastest window so far. */
const FASTER = 2
/** The rest of the run may have samples that take this much less time than the shortest so far. */
const SHORTER = 10
const SHORTEST_MS = 1

interface SoFar {
  readonly times: LiveTimes
  readonly elapsedMs: number
  /** The highest of any window, in samples per second. */
  readonly rate: number
  readonly scans: readonly ScanResult[]
  readonly total: Measurements
}

/**
 * More samples than the rest of the run can have; Infinity if that is unknown. A fixed number of users is as fast as the server: after
 * slow samples the rate says little about the rest. What bounds it is that each user has one sample at a time.
 */
export function boundRest({ times, elapsedMs, rate, scans, total }: SoFar): number {
  const leftMs = times.durationMs + SLACK_MS - elapsedMs
  const threads = mostThreads(scans, times)
  const shortestMs = shortestTime(scans, total)
  if (threads === undefined || shortestMs === undefined) return Infinity
  const mostByUsers = (threads * leftMs) / Math.max(SHORTEST_MS, shortestMs / SHORTER)
  const mostByRate = FASTER * rate * (leftMs / 1000)
  return Math.ceil(Math.max(mostByUsers, mostByRate))
}

function mostThreads(
  scans: readonly ScanResult[],
  { threads = 0, nodes = 1 }: LiveTimes
): number | undefined {
  const seen = scans.map(({ parts }) =>
    parts.reduce((most, { line }) => line.threads.reduce((one, other) => Math.max(one, other), most), -1)
  )
  // A grid that does not say may have any number.
  if (threads <= 0 && seen.some((most) => most <= 0)) return undefined
  const sum = seen.reduce((all, most) => all + Math.max(0, most), 0)
  return Math.max(threads, sum * nodes)
}

/** How long a sample that fails takes, until a timeout for instance, does not say how fast one that succeeds is. */
function shortestTime(scans: readonly ScanResult[], total: Measurements): number | undefined {
  const figures = total.figures({})
  if (figures?.minMs === undefined || figures.samples === figures.failures) return undefined
  return scans.reduce(
    (all, { parts }) =>
      parts.reduce((most, { minima }) => minima.reduce((one, other) => Math.min(one, other), most), all),
    figures.minMs
  )
}
