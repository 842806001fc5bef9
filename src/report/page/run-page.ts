import type { Measurements, TimeSeries } from '../../analysis/results/figures/measurements.js'
import type { Judgement } from '../../analysis/thresholds/judge/judgement.js'
import type { GridFacts, NodeFacts, WarmUpFacts } from '../../analysis/outcome.js'
import { buildPageDocument } from './build-document.js'
import type { CurrentFigures, Live, PageDocument, RunStatus, ThresholdRow } from './document.js'
import { formatElapsed, formatNumber } from './numbers.js'
import { formatPosition } from './served-parts.js'
import { findQuiet, type Quiet } from './quiet.js'
import { type PagePaths, pagePolicy, renderPageDocument } from './page.js'

/** A page and its response header. */
export interface RenderedPage {
  readonly html: string
  /** The Content-Security-Policy. */
  readonly policy: string
}

/** How a run stands by the thresholds it was given. */
export interface RunJudgement {
  /** Undefined while the run goes on. */
  readonly verdict: 'passed' | 'failed' | 'inconclusive' | 'left to the gate' | undefined
  readonly reason: string
  readonly judgements: readonly Judgement[]
  /** Lines that only the gate can judge, as written. */
  readonly left: readonly string[]
  readonly warmUp?: WarmUpFacts | undefined
  readonly warnings: readonly string[]
  readonly notes: readonly string[]
}

/** What a service knows about a run. */
export interface RunState {
  readonly id: string
  readonly name: string | undefined
  readonly status: RunStatus
  readonly tool: string
  readonly threads: number | undefined
  readonly durationSeconds: number | undefined
  readonly startedMs: number | undefined
  readonly stoppedMs: number | undefined
  readonly user?: string | undefined
  readonly nowMs: number
  readonly apdexTargetMs: number | undefined
  readonly summary: string | undefined
  /** Why it failed. */
  readonly problem: string | undefined
  readonly rehearsal: boolean
  /** What to know when reading the figures. */
  readonly warnings: readonly string[]
  readonly grids: readonly GridFacts[]
  /** Where the load comes from. */
  readonly nodes?: readonly NodeFacts[] | undefined
  /** Whatever the grids' regions are, it all comes from the service's machine. */
  readonly isAllHere?: boolean
  readonly measurements: Measurements | undefined
  /** Why there are none, or not of every grid. */
  readonly resultsProblem?: string | undefined
  /** From 1, while it waits for its turn. */
  readonly queuePosition?: number | undefined
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

/** What a run's page shows. */
export function describeRun(run: RunState): PageDocument {
  const { judged } = run
  const isLive = run.status !== 'finished' && run.status !== 'problem'
  const targetMs = run.apdexTargetMs
  const score = targetMs === undefined ? undefined : run.measurements?.figures({})?.apdex(targetMs)
  const document = buildPageDocument({
    verdict: judged?.verdict ?? run.status,
    reason: judged?.verdict === undefined ? explain(run) : judged.reason,
    run: { ...run, url: undefined },
    apdex: score === undefined || targetMs === undefined ? undefined : { score, targetMs },
    summary: run.summary,
    rehearsal: run.rehearsal,
    judgements: judged?.judgements ?? [],
    grids: run.grids,
    nodes: run.nodes,
    isAllHere: run.isAllHere ?? false,
    measurements: run.measurements,
    ...(judged?.warmUp && { warmUp: judged.warmUp }),
    warnings: [...run.warnings, ...(judged?.warnings ?? [])],
    // They explain a failed run; on a successful one they are a warning.
    remoteErrors: run.status === 'finished' ? (run.problem?.split('\n') ?? []) : [],
    notes: judged?.notes ?? []
  })
  const thresholds = [
    ...(isLive ? document.thresholds.map(asSoFar) : document.thresholds),
    ...(judged?.left ?? []).map(leftToGate)
  ]
  if (!isLive) return { ...document, thresholds }
  return {
    ...document,
    thresholds,
    series: document.series && finishedPart(document.series),
    live: describeProgress(run)
  }
}

function explain(run: RunState): string {
  const samples = run.measurements?.figures({})?.samples ?? 0
  const count = `${formatNumber(samples)} ${samples === 1 ? 'sample' : 'samples'}`
  switch (run.status) {
    case 'queued':
      return run.queuePosition === undefined
        ? 'The run is waiting for its grids.'
        : `The run is waiting for its turn: it is ${formatPosition(run.queuePosition)} in the queue.`
    case 'running':
      return samples === 0 ? 'The run has started; there are no samples yet.' : `${count} so far.`
    case 'stopping':
      return `The run is being stopped; ${count} so far.`
    case 'problem':
      return run.problem ?? 'The run failed.'
    case 'finished':
      if (run.resultsProblem !== undefined) return `The figures are not complete: ${run.resultsProblem}.`
      return samples === 0
        ? 'No samples were recorded.'
        : `${count} in ${formatElapsed(Math.round(lengthOf(run) / 1000))}.`
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
    ...{ ratio: null, side: 'at', change: null }
  }
}

function lengthOf({ startedMs, stoppedMs, nowMs }: RunState): number {
  return startedMs === undefined ? 0 : Math.max(0, (stoppedMs ?? nowMs) - startedMs)
}

function describeProgress(run: RunState): Live {
  const { durationSeconds, startedMs, measurements, nowMs } = run
  const durationMs = durationSeconds === undefined ? null : durationSeconds * 1000
  const elapsedMs = startedMs === undefined ? null : lengthOf(run)
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
  quiet: Quiet | undefined
): CurrentFigures {
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
