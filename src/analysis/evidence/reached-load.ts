import type { NodeFacts, WarmUpFacts } from '../outcome.js'
import { overTimeOf, type Measurements } from '../results/figures/measurements.js'
import { formatDuration } from '../../contract/text.js'
import type { OnStall } from '../thresholds/judge/judgement.js'
import { formatMoment } from '../thresholds/format.js'

/** Below this share of the requested load, a run does not count as the run that was requested. */
const LEAST_SHARE = 0.9
/** Allowed between the run's start and its first sample, and between its last sample and its end. */
const SLACK_MS = 2_000

export interface Results {
  /** What is judged: without the samples of a warm-up. */
  readonly measurements: Measurements | undefined
  readonly warmUp?: WarmUpFacts | undefined
  /** From the first start to the last end of each grid's samples, by its id, if the CSV has times; for tidy CSVs with a bucket of slack. */
  readonly spansMs: ReadonlyMap<string, number>
  /** The typical pauses between each grid's samples, by its id; 0 where they are dense. */
  readonly pausesMs?: ReadonlyMap<string, number>
}

export interface RequestedLoad {
  readonly seconds: number | undefined
  /** The threads of all grids together. */
  readonly threads: number | undefined
  /** By how much the threads in the CSVs may have to be multiplied, where each node counts its own. */
  readonly countedBy: number
  readonly tool: string
}

export function describeShortfall(load: RequestedLoad, results: Results): string[] {
  return [...shortOfThreads(load, results), ...shortOfDuration(load, results)]
}

/** The measurements of all samples, whether they count or not: they show the load that was reached. */
export function wholeOf(results: Judged): Measurements | undefined {
  return results.warmUp?.whole ?? results.measurements
}

/** From the first start to the last end of samples. */
interface Span {
  readonly gridId: string
  /** The number of a node in it. */
  readonly number?: number
  readonly ms: number
  /** The typical pause between its samples; 0 where they are dense. */
  readonly pauseMs: number
}

/** The spans of the grids that are known, the shortest first. */
export function spansOfGrids({ spansMs, pausesMs }: Results): Span[] {
  const spans = [...spansMs].map(([gridId, ms]) => ({ gridId, ms, pauseMs: pausesMs?.get(gridId) ?? 0 }))
  return spans.sort((one, other) => one.ms - other.ms)
}

/** The same of each node: what the others did must not hide that one of them did a part of its share only. */
export function spansOfNodes(nodes: readonly NodeFacts[], { pausesMs }: Results): Span[] {
  const spans = nodes.flatMap(({ grid, number, threads, rows, firstSampleMs, lastSampleMs, lost }) => {
    // A node without threads is idle, and a lost node has been reported already.
    if (threads === 0 || lost !== null || firstSampleMs === undefined || lastSampleMs === undefined) return []
    const ms = lastSampleMs - firstSampleMs
    // The pauses of a node are those of its grid if all take turns, and shorter otherwise.
    const turns = nodes.filter((other) => other.grid === grid && other.threads !== 0).length
    const meanMs = rows !== null && rows > 1 ? ms / (rows - 1) : 0
    return { gridId: grid, number, ms, pauseMs: Math.max(meanMs, turns * (pausesMs?.get(grid) ?? 0)) }
  })
  return spans.sort((one, other) => one.ms - other.ms)
}

/** The first span that ends too early for the duration, unless it just ends in a pause of the plan. */
export function findCutOff(spans: readonly Span[], durationSeconds: number): Span | undefined {
  return spans.find((span) => !isLongEnough(span.ms, durationSeconds) && !endsInPause(span, durationSeconds))
}

/** If requests are far apart, a timer delays the first, and JMeter ends a thread whose pause would outlast the run: two are missing. */
function endsInPause({ ms, pauseMs }: Span, durationSeconds: number): boolean {
  return pauseMs >= SLACK_MS && 2 * (pauseMs + SLACK_MS) >= durationSeconds * 1000 - ms
}

/** Whether a run that took this long may have ended normally: its threads do not start a pause that would outlast the run. */
export function mayEndBeforePause(results: Results, tookMs: number, durationSeconds: number): boolean {
  const missingMs = durationSeconds * 1000 - tookMs
  const spans = spansOfGrids(results)
  return (
    spans.length > 0 && spans.every(({ pauseMs }) => pauseMs >= SLACK_MS && pauseMs + SLACK_MS >= missingMs)
  )
}

export function hasEverySpan({ measurements, spansMs }: Results, durationSeconds: number): boolean {
  const isShown = (grid: string): boolean => isLongEnough(spansMs.get(grid) ?? -Infinity, durationSeconds)
  return measurements?.sources.every(({ grid }) => isShown(grid)) ?? false
}

function isLongEnough(spanMs: number, durationSeconds: number): boolean {
  return spanMs + SLACK_MS >= durationSeconds * 1000 * LEAST_SHARE
}

function shortOfDuration({ seconds }: RequestedLoad, results: Results): string[] {
  const [span] = spansOfGrids(results)
  if (seconds === undefined || span === undefined || span.ms + SLACK_MS >= seconds * 1000) return []
  const spans = `The samples of grid ${span.gridId} span ${formatDuration(span.ms)} of the ${formatDuration(seconds * 1000)} requested`
  if (endsInPause(span, seconds))
    return [`${spans}. They are far apart, so the run may well have ended between two of them.`]
  return [
    `${spans}. Check that the plan takes its duration from the settings, and that nothing ended it early.`
  ]
}

function shortOfThreads({ threads: requested, countedBy, tool }: RequestedLoad, results: Results): string[] {
  const reached = mostThreads(results)
  if (requested === undefined || reached === undefined) return []
  if (reached * countedBy >= requested * LEAST_SHARE) return []
  const reachedOf = `The load reached ${count(reached)} of the ${count(requested)} requested. `
  const check = `heck that the plan takes its threads from the settings${howToTake(tool)}, and that every node took part.`
  // CSVs contain the number of threads active at a time, not in total: with fewer samples than threads, some never show up.
  const samples = wholeOf(results)?.figures({})?.samples ?? 0
  if (samples < requested * LEAST_SHARE) return [`${reachedOf}C${check}`]
  return [
    `${reachedOf}That many were active at the same time, which is normal where threads end before the last ones start, ` +
      `as in one short pass with a ramp-up. Otherwise c${check}`
  ]
}

function howToTake(tool: string): string {
  if (tool.startsWith('jmeter')) return ' (in JMeter: ${__P(threads,1)})'
  if (tool.startsWith('gatling')) return ' (in Gatling: Integer.getInteger("threads", 1))'
  if (tool.startsWith('k6')) return ' (in k6: __ENV.THREADS)'
  return ''
}

/** `threads` is per grid for on-demand grids, and per node for hosted ones. */
export function sumThreads(
  threads: number | undefined,
  grids: readonly { readonly infrastructure: string | undefined; readonly nodeCount: number | undefined }[]
): number | undefined {
  if (threads === undefined || threads <= 0 || grids.length === 0) return undefined
  return grids.reduce((sum, { infrastructure, nodeCount }) => {
    return sum + threads * (infrastructure === 'hosted' ? (nodeCount ?? 1) : 1)
  }, 0)
}

/** For tidy CSVs, the mean users of the busiest bucket. With both shapes, the series has no overall peak. */
export function mostThreads(results: Judged): number | undefined {
  const measurements = wholeOf(results)
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

/** A longer pause is reported, unless it is one of many. */
const TOLD_SHARE = 0.1
const LEAST_TIMES_OTHERS = 10
/** A longer one leaves too little of the run. */
const MOST_SHARE = 0.5

const WAY_OUT =
  'Check what the plan waits for, and that all results are from this run. If it pauses on purpose, set warm-up (for a pause at its start) or on-stall: warn.'

type Judged = Pick<Results, 'measurements' | 'warmUp'>

interface LongPause {
  readonly warning?: string
  /** Why what was measured is not a run of this length. */
  readonly gap?: string
}

/** A long time in a grid's load, after the warm-up, with nothing in flight: nothing was sent, so it is unknown how the server would have responded. */
export function findLongPause(results: Judged | undefined, onStall: OnStall = 'fail'): LongPause {
  const grids = results?.measurements?.grids ?? []
  const pauses = grids.map((grid) => (results === undefined ? {} : findInGrid(results, grid)))
  const found = pauses.find(({ gap }) => gap) ?? pauses.find(({ warning }) => warning) ?? {}
  return found.gap === undefined || onStall === 'fail' ? found : { warning: found.gap }
}

function findInGrid(results: Judged, grid: string): LongPause {
  const startMs = wholeOf(results)?.startMs
  const figures = results.measurements?.figures({ grid })
  const overTime = overTimeOf(figures)
  if (startMs === undefined || figures === undefined || overTime === undefined) return {}
  const { silences, spanMs } = overTime
  const [longest, second] = silences
  // With only a few requests, each is far from the next.
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
