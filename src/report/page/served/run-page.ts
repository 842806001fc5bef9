import type { Measurements, TimeSeries } from '../../../analysis/results/figures/measurements.js'
import type { Outcome, RunFacts, WarmUpFacts } from '../../../analysis/outcome.js'
import type { Trend } from '../../../analysis/baseline/build-trend.js'
import { formatMoment } from '../../../analysis/thresholds/format.js'
import { asSentence, formatDuration } from '../../../contract/text.js'
import { buildPageDocument, type Live, type PageDocument, type RunStatus } from '../build-document.js'
import type { ThresholdRow } from '../build-document.js'
import { boundTrend } from '../../trend-points.js'
import { findOrigin, formatElapsed, formatNumber } from '../numbers.js'
import type { RunLinks } from './run-links.js'
import { formatPosition, type RenderedPage } from './served-parts.js'
import { type PagePaths, pagePolicy, renderPageDocument } from '../page.js'

/** How a run stands by the thresholds it was given. */
export interface RunJudgement extends Pick<Outcome, 'reason' | 'judgements' | 'warnings' | 'notes'> {
  /** Undefined while the run goes on. */
  readonly verdict: 'passed' | 'failed' | 'inconclusive' | 'left to the gate' | undefined
  /** Lines that only the gate can judge, as written. */
  readonly left: readonly string[]
  readonly warmUp?: WarmUpFacts | undefined
}

type OfOutcome = Pick<Outcome, 'summary' | 'rehearsal' | 'warnings' | 'grids' | 'nodes'> &
  Pick<Outcome, 'measurements' | 'details'>

/** What a service knows about a run. */
export interface RunState extends Omit<RunFacts, 'url'>, OfOutcome {
  readonly status: RunStatus
  readonly tool: string
  readonly nowMs: number
  /** When the load began; undefined until it has. */
  readonly firstSampleMs?: number | undefined
  readonly apdexTargetMs: number | undefined
  readonly problem: string | undefined
  /** Whatever the grids' regions are, it all comes from the service's machine. */
  readonly isAllHere?: boolean
  /** Why there are no measurements, or not of every grid. */
  readonly resultsProblem?: string | undefined
  /** From 1, while it waits for its turn. */
  readonly queuePosition?: number | undefined
  /** Why it does not start, apart from the runs before it. */
  readonly waitingReason?: string | undefined
  readonly judged?: RunJudgement | undefined
}

const WINDOW_MS = 5_000

/** The run's web page: the report with the verdict by its thresholds, if it has any; live while the run is in progress. */
export function renderRunPage(page: PageDocument, paths: PagePaths): RenderedPage {
  const { eventsPath, stopPath, ...others } = paths
  const used: PagePaths =
    page.live === undefined || eventsPath === undefined ? others : { ...others, eventsPath, stopPath }
  return { html: renderPageDocument(page, used), policy: pagePolicy(used) }
}

/** What changes without the run itself, added to its document when it is shown. */
export function addLinks(page: PageDocument, links: RunLinks, trend?: Trend): PageDocument {
  return { ...page, links, trend: boundTrend(trend) ?? null }
}

export function describeRun(run: RunState): PageDocument {
  const { judged } = run
  const isLive = run.status !== 'finished' && run.status !== 'problem'
  const targetMs = run.apdexTargetMs
  const score = targetMs === undefined ? undefined : run.measurements?.figures({})?.apdex(targetMs)
  const document = buildPageDocument({
    ...run,
    verdict: judged?.verdict ?? run.status,
    reason: judged?.verdict === undefined ? explain(run) : judged.reason,
    run: { ...run, url: undefined },
    apdex: score === undefined || targetMs === undefined ? undefined : { score, targetMs },
    judgements: judged?.judgements ?? [],
    isAllHere: run.isAllHere ?? false,
    ...(judged?.warmUp && { warmUp: judged.warmUp }),
    warnings: [...run.warnings, ...(judged?.warnings ?? [])],
    // They explain a failed run; on a successful one they are a warning.
    remoteErrors: run.status === 'finished' ? (run.problem?.split('\n') ?? []) : [],
    notes: judged?.notes ?? []
  })
  const left = (judged?.left ?? []).map(leftToGate)
  if (!isLive) return { ...document, thresholds: [...document.thresholds, ...left] }
  return {
    ...document,
    thresholds: [...document.thresholds.map(asSoFar), ...left],
    series: document.series && finishedPart(document.series),
    live: describeProgress(run)
  }
}

function explainWait({ waitingReason }: RunState): string {
  return waitingReason === undefined ? '' : ` It does not start for now: ${asSentence(waitingReason)}`
}

function explain(run: RunState): string {
  const samples = run.measurements?.figures({})?.samples ?? 0
  const count = `${formatNumber(samples)} ${samples === 1 ? 'sample' : 'samples'}`
  switch (run.status) {
    case 'queued':
      return run.queuePosition === undefined
        ? 'The run is waiting for its grids.'
        : `The run is waiting for its turn: it is ${formatPosition(run.queuePosition)} in the queue.${explainWait(run)}`
    case 'running':
      return samples > 0
        ? `${count} so far.`
        : run.firstSampleMs === undefined
          ? 'The run is starting; there are no samples yet.'
          : 'The first samples are there.'
    case 'stopping':
      return `The run is being stopped; ${count} so far.`
    case 'problem':
      return run.problem ?? 'The run failed.'
    case 'finished':
      if (run.resultsProblem !== undefined) return `The figures are not complete: ${run.resultsProblem}.`
      return samples === 0
        ? 'No samples were recorded.'
        : `${count} in ${formatElapsed(Math.round(spanOf(run) / 1000))}.`
  }
}

const SO_FAR: Readonly<Record<string, string>> = {
  passed: 'holds so far',
  failed: 'broken so far',
  warning: 'broken so far',
  inconclusive: 'not known yet'
}

/** A line that holds now may break later. */
function asSoFar(row: ThresholdRow): ThresholdRow {
  return { ...row, verdict: SO_FAR[row.verdict] ?? row.verdict }
}

function leftToGate(line: string): ThresholdRow {
  return {
    ...{ threshold: line, actual: '–', margin: '–', verdict: 'judged by the gate' },
    reason: 'It compares with a baseline, which only the gate knows.',
    ...{ ratio: null, change: null }
  }
}

/** From the first sample to the last one: what a tool needs to start and to end is not part of it. */
function spanOf({ measurements, startedMs, stoppedMs, nowMs }: RunState): number {
  const { startMs, endMs } = measurements ?? {}
  if (startMs !== undefined && endMs !== undefined) return endMs - startMs
  return startedMs === undefined ? 0 : Math.max(0, (stoppedMs ?? nowMs) - startedMs)
}

function describeProgress(run: RunState): Live {
  const { durationSeconds, measurements, nowMs, firstSampleMs = measurements?.startMs } = run
  const durationMs = durationSeconds === undefined ? null : durationSeconds * 1000
  const elapsedMs = firstSampleMs === undefined ? null : Math.max(0, nowMs - firstSampleMs)
  // From the planned end on, nothing has to be answered.
  const isUnderLoad = run.status === 'running' && (elapsedMs ?? 0) < (durationMs ?? Infinity)
  const quiet = isUnderLoad ? findQuiet(measurements, nowMs) : undefined
  return {
    elapsedMs,
    durationMs,
    now: measurements?.series === undefined ? null : describeNow(finishedPart(measurements.series), quiet),
    quiet: quiet?.words ?? null
  }
}

/** Without the last point, if there are others: it is incomplete, so it would always look like a drop. */
function finishedPart(series: TimeSeries): TimeSeries {
  const { bucketMs, ...lists } = series
  if (lists.atMs.length < 2) return series
  const cut = Object.entries(lists).map(([name, list]) => [name, list.slice(0, -1)])
  return { bucketMs, ...(Object.fromEntries(cut) as typeof lists) }
}

/** The series ends with the last answer. */
function describeNow(
  { bucketMs, throughput, failures, p95Ms }: TimeSeries,
  quiet: ReturnType<typeof findQuiet>
): Live['now'] {
  if (quiet !== undefined) return { windowMs: quiet.ms, throughput: 0, failures: 0, bucketMs, p95Ms: null }
  const points = Math.min(throughput.length, Math.ceil(WINDOW_MS / bucketMs))
  const sum = (list: readonly number[]): number => list.slice(-points).reduce((all, one) => all + one, 0)
  return {
    windowMs: points * bucketMs,
    throughput: sum(throughput) / points,
    failures: sum(failures),
    bucketMs,
    p95Ms: p95Ms.at(-1) ?? null
  }
}

/** Pauses this recent tell what is usual. */
const USUAL_WINDOW_MS = 120_000
const LEAST_MS = 2_000
/** At the start of a run it is unknown what is usual. */
const LEAST_AT_FIRST_MS = 30_000
const FIRST_POINTS = 5
/** Random arrivals are this many mean gaps apart once in twenty thousand times. */
const MEAN_GAPS = 10
const LONGEST_PAUSES = 3

/** How long nothing has been answered, in whole seconds and in words; undefined while that is usual, by the run so far. */
function findQuiet(measurements: Measurements | undefined, nowMs: number) {
  const { startMs, endMs } = measurements ?? {}
  if (measurements === undefined || startMs === undefined || endMs === undefined) return undefined
  const quietMs = nowMs - endMs
  if (quietMs <= LEAST_MS || quietMs <= usualQuietMs(measurements)) return undefined
  const seconds = Math.floor(quietMs / 1000)
  return {
    ms: seconds * 1000,
    words: `Nothing answered for ${formatDuration(seconds * 1000)}; the last answer came at ${formatMoment(endMs - startMs)}.`
  }
}

/** By the pauses of the last minutes without stalls: a second stall must be reported too. */
function usualQuietMs(measurements: Measurements): number {
  const { series } = measurements
  const originMs = findOrigin(measurements)
  if (series === undefined || originMs === undefined) return Infinity
  const { bucketMs, atMs, throughput } = series
  const overTime = measurements.figures({})?.overTime()
  const stalls = typeof overTime === 'object' ? overTime.stalls : []
  const isStalled = (index: number): boolean => {
    const fromMs = originMs + (atMs[index] ?? 0)
    return stalls.some(({ startMs, ms }) => startMs < fromMs + bucketMs && startMs + ms > fromMs)
  }
  const first = Math.max(0, atMs.length - Math.ceil(USUAL_WINDOW_MS / bucketMs))
  let samples = 0
  let seconds = 0
  let emptyMs = 0
  let longestMs = 0
  for (let index = first; index < atMs.length; index++) {
    const rate = throughput[index] ?? 0
    const isEmpty = rate === 0 && !isStalled(index)
    emptyMs = isEmpty ? (emptyMs === 0 ? 2 * bucketMs : emptyMs + bucketMs) : 0
    longestMs = Math.max(longestMs, emptyMs)
    if (rate === 0 && !isEmpty) continue
    samples += (rate * bucketMs) / 1000
    seconds += bucketMs / 1000
  }
  return Math.max(
    atMs.length < FIRST_POINTS ? LEAST_AT_FIRST_MS : 0,
    MEAN_GAPS * 1000 * (seconds / samples),
    LONGEST_PAUSES * longestMs
  )
}
