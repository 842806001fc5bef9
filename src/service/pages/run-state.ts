import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { readDetails } from '../../analysis/details/read-details.js'
import { readResults as readRows } from '../../analysis/evidence/count-results.js'
import type { Details } from '../../analysis/outcome.js'
import type { BaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { hasEnded, type RunRecord, type RunThresholds } from '../../contract/records.js'
import type { PageDocument } from '../../report/page/build-document.js'
import type { RunState } from '../../report/page/served/served-pages.js'
import { judgeSoFar, splitLines } from '../judging/judge-run.js'
import {
  describeGrids,
  describeUnreadable,
  readResults,
  type ResultsProblem
} from '../judging/read-results.js'
import type { Verdicts } from '../judging/verdicts.js'
import { findFirstSample } from '../runs/first-sample.js'
import { apdexTargetMs } from '../runs/run-report.js'
import { describeTool } from '../service-facts.js'
import type { PagePorts } from './page-access.js'

/** What pages are made from. */
export interface RunPagePorts {
  readonly facts: PagePorts
  readonly verdicts: Verdicts
  readonly synthetic: boolean
}

/** Reads the results of an ended run, and judges them if it has thresholds. */
export async function readEnded(
  run: RunRecord,
  ports: RunPagePorts
): Promise<{ document: PageDocument; isFinal: boolean }> {
  const { loadPages, store, log } = ports.facts
  const pages = await loadPages()
  if (run.thresholds !== undefined) {
    const judged = await ports.verdicts.judge(run, run.thresholds)
    const state = await stateOf(run, ports, judged.measurements, judged.problems)
    const left = judged.left.map(asWritten)
    const details = await readDetails(judged.countedFiles, { ...judged, thresholds: judged.lines })
    const document = pages.describeRun({ ...state, ...asDetails(details), judged: { ...judged, left } })
    return { document, isFinal: judged.isFinal }
  }
  const { found, problems } = await readResults(run, store, (files) => readRows(files, { warmUpMs: 0 }))
  for (const { detail } of problems) log(describeUnreadable(run, detail))
  const { measurements, countedFiles = [] } = found ?? {}
  const details = await readDetails(countedFiles, { measurements, thresholds: [] })
  const state = await stateOf(run, ports, measurements, problems)
  const document = pages.describeRun({ ...state, ...asDetails(details) })
  return { document, isFinal: problems.length === 0 }
}

export async function stateOf(
  run: RunRecord,
  ports: RunPagePorts,
  measurements?: Measurements,
  problems: readonly ResultsProblem[] = []
): Promise<RunState> {
  const { request } = run
  return {
    ...factsOf(run, ports),
    tool: describeTool(run, ports.facts),
    threads: request.threads ?? undefined,
    durationSeconds: request.durationSec ?? undefined,
    startedMs: run.startedMs ?? undefined,
    stoppedMs: run.stoppedMs ?? undefined,
    nowMs: ports.facts.clock.now(),
    firstSampleMs: await findFirstSample(run, ports.facts.store),
    apdexTargetMs: apdexTargetMs(request.properties),
    summary: run.report?.summary,
    warnings: run.warnings ?? [],
    grids: hasEnded(run) ? await describeGrids(run, problems, ports.facts.store) : [],
    nodes: run.nodes,
    isAllHere: ports.facts.places.regions === undefined,
    measurements,
    resultsProblem: problems.length === 0 ? undefined : problems.map(({ words }) => words).join('; '),
    ...(run.thresholds && !hasEnded(run) && { judged: describeSoFar(run, run.thresholds, measurements) })
  }
}

export function factsOf(run: RunRecord, ports: RunPagePorts) {
  const { accounts, queue } = ports.facts
  const { id, status, user, request, remoteErrors } = run
  return {
    ...{ id, status, name: request.name ?? undefined, problem: remoteErrors ?? undefined },
    rehearsal: run.report?.rehearsal ?? ports.synthetic,
    // Somebody else may have the name of a removed user now.
    user: user && accounts.isRemoved(user.id) ? `${user.name} (removed)` : user?.name,
    queuePosition: queue.positionOf(id) ?? undefined,
    waitingReason: queue.reasonFor(id)
  }
}

export function pathOf({ id }: RunRecord, { facts }: RunPagePorts): string {
  return `/${facts.words.runs}/${id}`
}

function asDetails(details: Details | string): Pick<RunState, 'details'> {
  return typeof details === 'string' ? {} : { details }
}

/** No verdict: a line that holds now may break later. */
function describeSoFar(run: RunRecord, thresholds: RunThresholds, measurements: Measurements | undefined) {
  const { warmUpSec } = thresholds
  const isWarm = warmUpSec === undefined || measurements === undefined
  return {
    ...{ verdict: undefined, reason: '', warnings: [] },
    judgements: measurements === undefined ? [] : judgeSoFar(run, thresholds, measurements),
    left: splitLines(thresholds).left.map(asWritten),
    notes: isWarm ? [] : [`The first ${warmUpSec} s are left out once the run has ended, not before.`]
  }
}

function asWritten({ level, text }: BaselineThreshold): string {
  return level === 'warn' ? `warn: ${text}` : text
}
