import type { Run } from '../../service/documents/documents.js'
import { isReference } from '../../service/documents/requests.js'
import type { Collection } from '../collect/collect.js'
import { formatDuration } from '../settings/durations.js'
import { listRemoteErrors } from '../collect/remote-errors.js'
import type { Settings } from '../settings/settings.js'

interface Load {
  readonly settings: Settings
  readonly run: Run
  readonly collection: Collection
}

/** A run that falls short of this share of what was requested is not the run that was requested. */
const LEAST_SHARE = 0.9
/** Between the run's start and its first sample, and between its last sample and its end. */
const SLACK_MS = 2_000

/** Where the load that the samples show falls short of what was requested, in words with both numbers. */
export function describeShortfall(load: Load): string[] {
  return [...shortOfThreads(load), ...shortOfDuration(load)]
}

export interface Span {
  readonly gridId: string
  readonly ms: number
}

/** Of the grids that say, from the shortest on. */
function spansFromShortest({ spansMs }: Collection): Span[] {
  return [...spansMs].map(([gridId, ms]) => ({ gridId, ms })).sort((one, other) => one.ms - other.ms)
}

/** The grid with the shortest samples of those that end too early for the duration, and not just within a pause of the plan's own. */
export function cutOffSpan(collection: Collection, durationSeconds: number): Span | undefined {
  return spansFromShortest(collection).find(
    (span) => !isLongEnough(span.ms, durationSeconds) && !endsInPause(collection, span, durationSeconds)
  )
}

/**
 * Where requests are far apart, the run begins and ends in a pause: a timer comes before the first request too, and JMeter ends a thread
 * at once where its next pause would outlast the run. So what is missing is no longer than two of the other pauses.
 */
function endsInPause({ pausesMs }: Collection, { gridId, ms }: Span, durationSeconds: number): boolean {
  const pauseMs = pausesMs?.get(gridId) ?? 0
  return pauseMs >= SLACK_MS && 2 * (pauseMs + SLACK_MS) >= durationSeconds * 1000 - ms
}

/** Whether a run that took this long may have ended by itself: its threads do not begin a pause that would outlast it. */
export function mayEndBeforePause(
  { spansMs, pausesMs }: Collection,
  { tookMs, durationSeconds }: { tookMs: number; durationSeconds: number }
): boolean {
  const missingMs = durationSeconds * 1000 - tookMs
  const isPaused = (pauseMs: number): boolean => pauseMs >= SLACK_MS && pauseMs + SLACK_MS >= missingMs
  return spansMs.size > 0 && [...spansMs.keys()].every((grid) => isPaused(pausesMs?.get(grid) ?? 0))
}

/** Whether the samples of every CSV say, by themselves, that the run took as long as it should. */
export function hasEverySpan({ measurements, spansMs }: Collection, durationSeconds: number): boolean {
  const isShown = (grid: string): boolean => isLongEnough(spansMs.get(grid) ?? -Infinity, durationSeconds)
  return measurements?.sources.every(({ grid }) => isShown(grid)) ?? false
}

/** Whether samples over this time stand for a run of the duration. */
function isLongEnough(spanMs: number, durationSeconds: number): boolean {
  return spanMs + SLACK_MS >= durationSeconds * 1000 * LEAST_SHARE
}

export function requestedSeconds({ settings, run }: Pick<Load, 'settings' | 'run'>): number | undefined {
  return asInput(settings, settings.durationSeconds) ?? run.durationSeconds
}

/** A run that exists or is repeated is as it was made: the inputs do not change it. */
function asInput({ origin }: Settings, value: number | undefined): number | undefined {
  return origin.kind === 'files' ? value : undefined
}

function shortOfDuration(load: Load): string[] {
  const seconds = requestedSeconds(load)
  const [span] = spansFromShortest(load.collection)
  if (seconds === undefined || span === undefined || span.ms + SLACK_MS >= seconds * 1000) return []
  const spans = `The samples of grid ${span.gridId} span ${formatDuration(span.ms)} of the ${formatDuration(seconds * 1000)} requested`
  if (endsInPause(load.collection, span, seconds))
    return [`${spans}. They are far apart, so the run may well have ended between two of them.`]
  return [
    `${spans}. Check that the plan takes its duration from the settings, and that nothing ended it early.`
  ]
}

function shortOfThreads(load: Load): string[] {
  const requested = requestedThreads(load)
  const reached = mostThreads(load.collection)
  if (requested === undefined || reached === undefined) return []
  // Another service's CSV may hold each node's own count, of which the scanner keeps the largest.
  // Where the service says that something went wrong, nobody knows how many nodes took part.
  const isOneCount = load.settings.target.kind === 'local' || hasErrors(load.run)
  const factor = isOneCount ? 1 : mostNodes(load)
  if (reached * factor >= requested * LEAST_SHARE) return []
  const reachedOf = `The load reached ${count(reached)} of the ${count(requested)} requested. `
  const check =
    'heck that the plan takes its threads from the settings (in JMeter: ${__P(threads,1)}), and that every node took part.'
  // CSVs hold how many threads were active at a time, not how many there were: with fewer samples than threads some never were.
  const samples = load.collection.measurements?.figures({})?.samples ?? 0
  if (samples < requested * LEAST_SHARE) return [`${reachedOf}C${check}`]
  return [
    `${reachedOf}So many were active at the same time; that is as it should be where threads end before the last ones start, ` +
      `as in one short pass with a ramp-up. Otherwise c${check}`
  ]
}

/** Threads are understood as per grid on demand, and per node where the grid is hosted. */
function requestedThreads({ settings, run }: Load): number | undefined {
  const threads = asInput(settings, settings.threads) ?? run.threads
  const grids = requestedGrids(settings, run)
  if (threads === undefined || threads <= 0 || grids.length === 0) return undefined
  return grids.reduce((sum, { infrastructure, nodeCount }) => {
    return sum + threads * (infrastructure === 'hosted' ? (nodeCount ?? 1) : 1)
  }, 0)
}

interface Nodes {
  readonly infrastructure: string | undefined
  readonly nodeCount: number | undefined
}

function requestedGrids({ origin }: Settings, run: Run): readonly Nodes[] {
  const specifications =
    origin.kind === 'files' ? origin.grids.flatMap((grid) => (isReference(grid) ? [] : [grid])) : []
  const isAllSpecified = origin.kind === 'files' && specifications.length === origin.grids.length
  return isAllSpecified ? specifications : run.grids
}

function mostNodes({ settings, run, collection }: Load): number {
  const counts = [...requestedGrids(settings, run), ...collection.grids].map(
    ({ nodeCount }) => nodeCount ?? 1
  )
  return Math.max(1, ...counts)
}

function hasErrors({ remoteErrors }: Run): boolean {
  return listRemoteErrors(remoteErrors).length > 0
}

/** Of tidy CSVs the mean users of the busiest bucket. Where both shapes are there, the series has no peak of all. */
function mostThreads({ measurements }: Collection): number | undefined {
  const shapes = new Set(measurements?.sources.map(({ shape }) => shape))
  if (measurements === undefined || shapes.size > 1 || shapes.has('unknown')) return undefined
  const known = (measurements.series?.activeThreads ?? []).filter((threads) => threads !== null)
  return known.length === 0 ? undefined : known.reduce((most, threads) => Math.max(most, threads), 0)
}

function count(threads: number): string {
  return threads === 1
    ? '1 thread'
    : `${threads.toLocaleString('en-US', { maximumFractionDigits: 1 })} threads`
}
