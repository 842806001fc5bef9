import { apdexOf } from '../../analysis/evidence/apdex.js'
import { describeAside } from '../../analysis/evidence/aside-samples.js'
import { type CountedRun, readResults as readRows } from '../../analysis/evidence/count-results.js'
import { decideRun, findOtherRows, knowsRows, toJudge } from '../../analysis/evidence/decide-run.js'
import {
  findLongPause,
  describeShortfall,
  type RequestedLoad,
  sumThreads,
  wholeOf
} from '../../analysis/evidence/reached-load.js'
import type { RunTimes } from '../../analysis/evidence/own-rows.js'
import { listRemoteErrors, lostLoad, quoteLines, wasStopped } from '../../analysis/evidence/remote-errors.js'
import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import { judgeToolLines } from '../../analysis/thresholds/judge/tool-lines.js'
import { isAbsoluteThreshold, isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { judgeThresholds } from '../../analysis/thresholds/judge/judge.js'
import { describeNoOverTime, listStallLabels } from '../../analysis/thresholds/judge/over-time.js'
import { capitalize } from '../../contract/text.js'
import { apdexTargetMs } from '../runs/run-report.js'
import type { GridRecord, RunRecord, RunThresholds, RunVerdict } from '../../contract/records.js'
import type { RunData } from '../store/store.js'
import { readResults, type ResultsProblem } from './read-results.js'

export type Judged = Awaited<ReturnType<typeof judgeRun>>

/** `left` are the lines that name `baseline`: only the gate knows earlier runs. */
export function splitLines({ text }: RunThresholds) {
  const { thresholds } = parseThresholds(text)
  return { own: thresholds.filter(isAbsoluteThreshold), left: thresholds.filter(isBaselineThreshold) }
}

/** The labels that have figures over time of their own. */
export function labelsToFollow(thresholds: RunThresholds): (readonly string[])[] {
  return listStallLabels(parseThresholds(thresholds.text).thresholds)
}

/** Judges a run that has ended by its own results, by the rules of the gate. */
export async function judgeRun(run: RunRecord, thresholds: RunThresholds, store: RunData) {
  const { own, left } = splitLines(thresholds)
  const grids = store.gridsOf(run)
  const { onStall = 'fail' } = thresholds
  const warmUpMs = (thresholds.warmUpSec ?? 0) * 1000
  const { found: results = NO_RESULTS, problems } = await readResults(run, store, (files) =>
    readRows(
      files.map((file) => ({ ...file, stallLabels: labelsToFollow(thresholds) })),
      { warmUpMs, times: timesOf(run) }
    )
  )
  const changes = problems.length > 0 ? [] : findChanges(run, results)
  const missing = [...problems.map(({ words }) => words), ...changes, ...results.foreign]
  const apdex = apdexToJudge(run, thresholds, results)
  const judgements = [
    ...judgeThresholds(own, toJudge(results, { apdex, missing, onStall })),
    ...judgeToolLines(run.toolLines)
  ]
  const remoteErrors = listRemoteErrors(run.remoteErrors ?? undefined)
  const hasEndedWell = run.status === 'finished'
  const load = loadOf(run, grids, remoteErrors.length > 0)
  const shortfalls = hasEndedWell ? describeShortfall(load, results) : []
  const decision = decideRun(judgements, {
    ...{ status: run.status, hasEndedWell, remoteErrors, shortfalls, results },
    requestedSeconds: load.seconds,
    tookMs: run.startedMs === null || run.stoppedMs === null ? undefined : run.stoppedMs - run.startedMs,
    // As for any other service: what it says about itself is not evidence.
    reportsStops: false,
    nodes: run.nodes,
    lackOfResults: describeLack(run, problems),
    foreign: results.foreign,
    gaps: [...changes.map((clause) => `${capitalize(clause)}.`), ...results.gaps],
    onStall
  })
  const aside = describeAside(results.scans)
  return {
    ...leaveToGate(admitStop(decision as Decided, remoteErrors), { own, left }),
    ...{ judgements, left, lines: [...own, ...left] },
    ...{ measurements: results.measurements, countedFiles: results.countedFiles },
    ...(results.warmUp && { warmUp: results.warmUp }),
    // What makes the figures doubtful without changing the verdict.
    warnings: [
      ...shortfalls,
      ...results.doubts,
      ...[findLongPause(results, onStall).warning ?? []].flat(),
      ...judgements.flatMap(({ warning }) => warning ?? []),
      ...aside.warnings
    ],
    notes: [...aside.notes, ...describeNoOverTime(own, { measurements: results.measurements, onStall })],
    problems,
    // By the results that the run had at its end: judging it again cannot lead to anything else.
    isFinal: missing.length === 0
  }
}

/** How the lines stand while the run goes on, by the samples so far. */
export function judgeSoFar(run: RunRecord, thresholds: RunThresholds, measurements: Measurements) {
  const targetMs = apdexTargetMs(run.request.properties)
  const score = targetMs === undefined ? undefined : measurements.figures({})?.apdex(targetMs)
  return judgeThresholds(splitLines(thresholds).own, {
    apdex: score === undefined ? undefined : { score, targetMs },
    measurements,
    ...(thresholds.onStall && { onStall: thresholds.onStall })
  })
}

interface Decided {
  readonly verdict: RunVerdict
  readonly reason: string
}

/** Without results it is unknown what the run's apdex would be without the warm-up. */
function apdexToJudge(run: RunRecord, { warmUpSec = 0 }: RunThresholds, results: CountedRun) {
  return warmUpSec > 0 && results.warmUp === undefined
    ? 'there are no samples to compute it from without the warm-up'
    : apdexOf({ apdex: run.apdex }, results)
}

/** A gate stops a run as soon as a line cannot hold any more: what is inconclusive here has failed there. */
function admitStop(decided: Decided, remoteErrors: readonly string[]): Decided {
  if (decided.verdict !== 'inconclusive' || !wasStopped(remoteErrors)) return decided
  const words = quoteLines(lostLoad(remoteErrors))
  return {
    verdict: 'inconclusive',
    reason: `The run was stopped before its end: ${words}. If a gate stopped it, the gate has the verdict.`
  }
}

/** A line that cannot be judged here may be the one that breaks. */
function leaveToGate({ verdict, reason }: Decided, { own, left }: ReturnType<typeof splitLines>): Decided {
  const isAlone = own.length === 0
  const open = left.filter(({ level }) => isAlone || level === 'fail').length
  if (verdict !== 'passed' || open === 0) return { verdict, reason }
  const lines = open === 1 ? '1 line compares' : `${open} lines compare`
  const others = isAlone ? '' : `${reason} `
  return {
    verdict: 'left to the gate',
    reason: `${others}${lines} with a baseline, which only the gate knows: its verdict counts.`
  }
}

const NO_RESULTS: CountedRun = {
  ...{ measurements: undefined, spansMs: new Map(), scans: [], countedFiles: [] },
  ...{ foreign: [], gaps: [], doubts: [] }
}

function timesOf({ startedMs, stoppedMs, createdMs, request: { durationSec } }: RunRecord): RunTimes {
  return {
    ...{ startedMs: startedMs ?? undefined, stoppedMs: stoppedMs ?? undefined, createdMs },
    durationMs: durationSec === null ? undefined : durationSec * 1000
  }
}

function describeLack(run: RunRecord, [first, ...others]: readonly ResultsProblem[]): string | undefined {
  if (run.report === null) return 'The run has no report.'
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `Not all results can be read: ${first.words}${more}.`
}

/** How the results differ from those at the end of the run, in clauses. Where the rows are not known, the samples of all grids are. */
function findChanges({ samples, nodes }: RunRecord, results: CountedRun): string[] {
  if (results.measurements === undefined) return []
  if (samples === null || knowsRows(nodes, results)) return findOtherRows(nodes, results)
  const found = wholeOf(results)?.figures({})?.samples ?? 0
  if (found === samples) return []
  return [
    `the results have ${found} samples, and the run had ${samples} at its end: they are not those of this run, or not all of them`
  ]
}

function loadOf({ request }: RunRecord, grids: readonly GridRecord[], hasErrors: boolean): RequestedLoad {
  const nodes = grids.map(({ spec: { infrastructure, instanceQuantity } }) => {
    return { infrastructure, nodeCount: instanceQuantity }
  })
  return {
    seconds: request.durationSec ?? undefined,
    threads: sumThreads(request.threads ?? undefined, nodes),
    // With errors, the number of nodes that took part is unknown.
    countedBy: hasErrors ? 1 : Math.max(1, ...nodes.map(({ nodeCount }) => nodeCount)),
    tool: request.tool
  }
}
