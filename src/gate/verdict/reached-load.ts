import type { Run, RunNode } from '../../service/documents/documents.js'
import { isReference } from '../../service/documents/requests.js'
import { wholeOf } from '../collect/collect.js'
import type { Collection } from '../collect/collect.js'
import { formatDuration } from '../settings/durations.js'
import { listRemoteErrors } from '../collect/remote-errors.js'
import type { Settings } from '../settings/settings.js'

interface Load {
  readonly settings: Settings
  readonly run: Run
  readonly collection: Collection
}

/** Below this share of the requested load, a run does not count as the run that was requested. */
const LEAST_SHARE = 0.9
/** Allowed between the run's start and its first sample, and between its last sample and its end. */
const SLACK_MS = 2_000

/** Describes where the load in the samples falls short of the requested load, with both numbers. */
export function describeShortfall(load: Load): string[] {
  return [...shortOfThreads(load), ...shortOfDuration(load)]
}

export interface Span {
  readonly gridId: string
  readonly ms: number
}

/** For the grids whose span is known, shortest first. */
function spansFromShortest({ spansMs }: Collection): Span[] {
  return [...spansMs].map(([gridId, ms]) => ({ gridId, ms })).sort((one, other) => one.ms - other.ms)
}

/** The shortest span among the grids whose samples end too early for the duration, unless they just end in a pause of the plan. */
export function cutOffSpan(collection: Collection, durationSeconds: number): Span | undefined {
  return spansFromShortest(collection).find(
    (span) => !isLongEnough(span.ms, durationSeconds) && !endsInPause(collection, span, durationSeconds)
  )
}

export interface NodeSpan extends Span {
  readonly number: number
}

/** The same rule for each node: what the others did must not hide that one of them did a part of its share only. */
export function cutOffNode(
  nodes: readonly RunNode[],
  { pausesMs }: Collection,
  durationSeconds: number
): NodeSpan | undefined {
  const cutOff = nodes.flatMap((node): NodeSpan[] => {
    const { grid, number, threads, rows, firstSampleMs, lastSampleMs, lost } = node
    // One without threads is idle, and what was lost with a node has been told.
    if (threads === 0 || lost !== null || firstSampleMs === undefined || lastSampleMs === undefined) return []
    const ms = lastSampleMs - firstSampleMs
    // The pauses of a node are those of its grid if all take turns, and shorter otherwise.
    const turns = nodes.filter((other) => other.grid === grid && other.threads !== 0).length
    const meanMs = rows !== null && rows > 1 ? ms / (rows - 1) : 0
    const pauseMs = Math.max(meanMs, turns * (pausesMs?.get(grid) ?? 0))
    const isWhole = isLongEnough(ms, durationSeconds) || isPause(pauseMs, durationSeconds * 1000 - ms)
    return isWhole ? [] : [{ gridId: grid, number, ms }]
  })
  return cutOff.sort((one, other) => one.ms - other.ms)[0]
}

/**
 * If requests are far apart, the run starts and ends in a pause: a timer also delays the first request, and JMeter ends a thread at
 * once if its next pause would outlast the run. So at most two such pauses are missing.
 */
function endsInPause({ pausesMs }: Collection, { gridId, ms }: Span, durationSeconds: number): boolean {
  return isPause(pausesMs?.get(gridId) ?? 0, durationSeconds * 1000 - ms)
}

function isPause(pauseMs: number, missingMs: number): boolean {
  return pauseMs >= SLACK_MS && 2 * (pauseMs + SLACK_MS) >= missingMs
}

/** Whether a run that took this long may have ended normally: its threads do not start a pause that would outlast the run. */
export function mayEndBeforePause(
  { spansMs, pausesMs }: Collection,
  { tookMs, durationSeconds }: { tookMs: number; durationSeconds: number }
): boolean {
  const missingMs = durationSeconds * 1000 - tookMs
  const isPaused = (pauseMs: number): boolean => pauseMs >= SLACK_MS && pauseMs + SLACK_MS >= missingMs
  return spansMs.size > 0 && [...spansMs.keys()].every((grid) => isPaused(pausesMs?.get(grid) ?? 0))
}

/** Whether the samples of every CSV alone show that the run lasted long enough. */
export function hasEverySpan({ measurements, spansMs }: Collection, durationSeconds: number): boolean {
  const isShown = (grid: string): boolean => isLongEnough(spansMs.get(grid) ?? -Infinity, durationSeconds)
  return measurements?.sources.every(({ grid }) => isShown(grid)) ?? false
}

/** Whether samples over this span are enough for a run of this duration. */
function isLongEnough(spanMs: number, durationSeconds: number): boolean {
  return spanMs + SLACK_MS >= durationSeconds * 1000 * LEAST_SHARE
}

export function requestedSeconds({ settings, run }: Pick<Load, 'settings' | 'run'>): number | undefined {
  return asInput(settings, settings.durationSeconds) ?? run.durationSeconds
}

/** The inputs do not change an existing or repeated run. */
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
  // The CSV of a remote service may contain a count per node, of which the scanner keeps the largest.
  // If the service reports errors, the number of nodes that took part is unknown.
  const isOneCount = load.settings.target.kind === 'local' || hasErrors(load.run)
  const factor = isOneCount ? 1 : mostNodes(load)
  if (reached * factor >= requested * LEAST_SHARE) return []
  const reachedOf = `The load reached ${count(reached)} of the ${count(requested)} requested. `
  const check = `heck that the plan takes its threads from the settings${howToTake(load)}, and that every node took part.`
  // CSVs contain the number of threads active at a time, not in total: with fewer samples than threads, some never show up.
  const samples = wholeOf(load.collection)?.figures({})?.samples ?? 0
  if (samples < requested * LEAST_SHARE) return [`${reachedOf}C${check}`]
  return [
    `${reachedOf}That many were active at the same time, which is normal where threads end before the last ones start, ` +
      `as in one short pass with a ramp-up. Otherwise c${check}`
  ]
}

/** In the language of the plan. */
function howToTake({ settings, run }: Load): string {
  const tool = settings.origin.kind === 'files' ? settings.tool : (run.tool ?? '')
  if (tool.startsWith('jmeter')) return ' (in JMeter: ${__P(threads,1)})'
  if (tool.startsWith('gatling')) return ' (in Gatling: Integer.getInteger("threads", 1))'
  return ''
}

/** `threads` is per grid for on-demand grids, and per node for hosted ones. */
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

/** For tidy CSVs, the mean users of the busiest bucket. With both shapes, the series has no overall peak. */
export function mostThreads(collection: Collection): number | undefined {
  const measurements = wholeOf(collection)
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
