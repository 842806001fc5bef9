import type { GridFacts, NodeFacts, Outcome, RunFacts, StoppedEarly } from '../../report/outcome.js'
import type { Run } from '../../service/documents/documents.js'
import { describeStarved } from '../../report/node-rows.js'
import { judgeThresholds } from '../../thresholds/judge/judge.js'
import { SHOWN_LINES, judgeBaselineLines } from '../../baseline/judge-lines.js'
import type { ComparisonEvidence, ComparisonRules } from '../../baseline/judge-lines.js'
import { isAbsoluteThreshold, isBaselineThreshold } from '../../thresholds/grammar/threshold.js'
import type { Judgement } from '../../thresholds/judge/judgement.js'
import { apdexOf } from '../collect/apdex.js'
import type { Apdex } from '../collect/apdex.js'
import type { Collection } from '../collect/collect.js'
import { decideVerdict, gapInMeasurements } from './decide-verdict.js'
import type { Decision } from './decide-verdict.js'
import { formatDuration } from '../settings/durations.js'
import { hasEnded, phaseOf } from '../run/run-status.js'
import { runUrl } from '../run/run-url.js'
import { listRemoteErrors, lostLoad, quoteLines, withoutOwnStop } from '../collect/remote-errors.js'
import {
  cutOffNode,
  cutOffSpan,
  describeShortfall,
  hasEverySpan,
  mayEndBeforePause,
  requestedSeconds
} from './reached-load.js'
import type { Settings } from '../settings/settings.js'
import type { EarlyStop, Findings } from '../findings.js'
import { describeUnused } from '../settings/unused-inputs.js'
import { describeEarlyLabels } from './early-labels.js'
import { describeDifference } from './live-difference.js'
import type { Watched } from '../run/watch-run.js'

/** A run that ended before this share of its duration, by the service's times, was stopped early. */
const LEAST_SHARE = 0.9

const NOT_COMPARED: ComparisonEvidence = {
  kind: 'none',
  outcome: 'no baseline',
  reason: 'nothing was compared'
}

/** Turns the findings into a verdict. Without complete evidence it is never `passed`. */
export function conclude(settings: Settings, findings: Findings): Outcome {
  const { run, collection } = findings
  const apdex = findings.apdex ?? apdexToJudge(settings, findings)
  const difference = differenceOf(findings)
  const judgements = judge(settings, findings, { apdex, difference })
  const remoteErrors = remoteErrorsOf(findings)
  const warnings = shortfallOf(settings, findings)
  const nodes = run && nodesOf(run, settings)
  const decided = decide(findings, { settings, judgements, remoteErrors, warnings, difference })
  return {
    ...decided,
    run: run && runFacts(run, settings),
    apdex: typeof apdex === 'string' ? undefined : apdex,
    ...serviceFigures(collection),
    rehearsal: collection?.report?.rehearsal ?? false,
    judgements,
    grids: (collection?.grids ?? []).map(gridFacts),
    nodes,
    isAllHere: isAllHere(settings, findings),
    measurements: collection?.measurements,
    ...(collection?.warmUp !== undefined && { warmUp: collection.warmUp }),
    warnings: [
      ...warnings,
      ...(collection?.doubts ?? []),
      ...describeStarved(nodes),
      ...describeEarlyLabels(settings, collection)
    ],
    remoteErrors,
    notes: notesOf(settings),
    baseline: findings.baseline,
    ...shownComparisonsOf(settings, findings),
    trend: findings.trend,
    stoppedEarly: factsOfStop(findings.stoppedEarly)
  }
}

/** Without results it is unknown what the service's own apdex would be without the warm-up. */
function apdexToJudge({ warmUpMs }: Settings, { run, collection }: Findings): Apdex | string {
  if (warmUpMs > 0 && collection?.warmUp === undefined)
    return 'there are no samples to compute it from without the warm-up'
  return apdexOf({ apdex: run?.apdex ?? null }, collection)
}

/** The service knows nothing of a warm-up: its samples are in what it says. */
function serviceFigures(collection: Collection | undefined): Pick<Outcome, 'summary' | 'means'> {
  const { summary, means = {} } = collection?.report ?? {}
  if (collection?.warmUp === undefined) return { summary, means }
  return { summary: summary && `${summary.trimEnd()} (These figures include the warm-up.)`, means: {} }
}

function factsOfStop(stop: EarlyStop | undefined): StoppedEarly | undefined {
  if (stop === undefined) return undefined
  const { afterSeconds, ofSeconds, savedSeconds, threshold } = stop
  return { afterSeconds, ofSeconds, savedSeconds, threshold }
}

/** Why a run that was followed to its end is not complete evidence, whatever the thresholds are. */
export function describeGap(settings: Settings, findings: Findings): string | undefined {
  const assessment = {
    settings,
    judgements: [],
    remoteErrors: remoteErrorsOf(findings),
    warnings: shortfallOf(settings, findings)
  }
  return cutShort(findings, assessment) ?? gapOf(findings, assessment)
}

function remoteErrorsOf({ run, isStoppedHere }: Findings): string[] {
  const reported = listRemoteErrors(run?.remoteErrors)
  return isStoppedHere ? withoutOwnStop(reported) : reported
}

/** A run that was cut short is not expected to reach the full load. */
function shortfallOf(settings: Settings, { run, collection, failure, stoppedEarly }: Findings): string[] {
  if (stoppedEarly !== undefined) return []
  const isWhole = failure === undefined && run !== undefined && phaseOf(run.status) === 'ended well'
  return isWhole && collection !== undefined ? describeShortfall({ settings, run, collection }) : []
}

function judge(
  settings: Settings,
  { run, collection, isDetached, comparison, isOnBaselineBranch, stoppedEarly }: Findings,
  { apdex, difference }: { apdex: Apdex | string; difference: string | undefined }
): Judgement[] {
  if (isDetached) return []
  const missing = [
    ...(difference === undefined ? [] : [difference]),
    ...(collection?.missingGrids ?? []).map((grid) => `${grid} is missing`),
    ...(collection?.grids ?? []).flatMap(({ gridId, problem }) =>
      problem === undefined ? [] : [`grid ${gridId}: ${problem}`]
    )
  ]
  const hasRunEnded = run !== undefined && hasEnded(run.status)
  const compared = judgeBaselineLines(
    settings.thresholds.filter(isBaselineThreshold),
    comparison ?? NOT_COMPARED,
    rulesOf(settings, isOnBaselineBranch)
  )
  const absolute = judgeThresholds(settings.thresholds.filter(isAbsoluteThreshold), {
    apdex: typeof apdex === 'string' || !hasRunEnded ? undefined : apdex,
    apdexProblem: hasRunEnded && typeof apdex === 'string' ? apdex : 'the run did not finish',
    measurements: collection?.measurements,
    ...(collection?.warmUp !== undefined && { warmUp: collection.warmUp }),
    ...(collection?.measurements === undefined || missing.length > 0
      ? { measurementsProblem: missing.join('; ') || 'there are no result CSVs' }
      : {})
  })
  // In the order in which they were written.
  return [...absolute, ...compared]
    .map((judgement) => decidedEarly(judgement, difference === undefined ? stoppedEarly : undefined))
    .sort((one, other) => one.threshold.line - other.threshold.line)
}

/** The line that ended the run stays broken, even if the figure of the samples up to the stop is within its limit. */
function decidedEarly(judgement: Judgement, stop: EarlyStop | undefined): Judgement {
  return stop?.judgement.threshold.line === judgement.threshold.line ? stop.judgement : judgement
}

/** What a run was stopped by must be in its results. */
function differenceOf({ stoppedEarly, collection }: Findings): string | undefined {
  const { live } = stoppedEarly ?? {}
  const lack = live && collection && describeDifference(live, collection)
  return lack && `the results are not the samples that were read during the run: ${lack}`
}

/** The branch's own runs make its baseline: if a missing one failed them, there would never be one. */
function rulesOf({ baseline }: Settings, isOnBaselineBranch = false): ComparisonRules {
  return baseline.onMissing === 'fail' && isOnBaselineBranch ? { ...baseline, onMissing: 'warn' } : baseline
}

/** Where no line names `baseline`, the comparison is shown all the same. */
function shownComparisonsOf(settings: Settings, { comparison }: Findings): Pick<Outcome, 'shownComparisons'> {
  if (comparison === undefined || comparison.kind === 'none') return {}
  if (settings.thresholds.some(isBaselineThreshold)) return {}
  return { shownComparisons: judgeBaselineLines(SHOWN_LINES, comparison, settings.baseline) }
}

interface Assessment {
  readonly settings: Settings
  readonly judgements: readonly Judgement[]
  readonly remoteErrors: readonly string[]
  readonly warnings: readonly string[]
  readonly difference?: string | undefined
}

function decide(findings: Findings, assessment: Assessment): Decision {
  const { failure, isDetached, stoppedEarly } = findings
  if (failure !== undefined) return { verdict: failure.kind, reason: failure.message }
  if (isDetached)
    return { verdict: 'detached', reason: 'The run was started and left running (wait: false).' }
  if (stoppedEarly !== undefined && assessment.difference !== undefined)
    return {
      verdict: 'inconclusive',
      reason: `${capitalize(assessment.difference)} During the run: ${stoppedEarly.judgement.reason}.`
    }
  // What is missing because of the stop, and whatever else, cannot make a broken line hold.
  if (stoppedEarly !== undefined)
    return { verdict: 'failed', reason: capitalize(stoppedEarly.judgement.reason) }
  if (findings.gap !== undefined) return decideVerdict(assessment.judgements, findings.gap)
  const reason = cutShort(findings, assessment)
  if (reason !== undefined) return { verdict: 'inconclusive', reason }
  return decideVerdict(assessment.judgements, gapOf(findings, assessment))
}

/** Why the run is not the one that was requested: nothing in it can be judged. */
function cutShort(findings: Findings, assessment: Assessment): string | undefined {
  const { run } = findings
  const badEnd = run && badEndOf(run, assessment)
  if (badEnd !== undefined) return badEnd
  const earlyEnd = run && earlyEndOf(run, findings, assessment)
  // Lost load is why a run ends early or records nothing.
  return earlyEnd && (lossOf(assessment) ?? earlyEnd)
}

function gapOf({ collection }: Findings, assessment: Assessment): string | undefined {
  return (
    gapInDownloads(collection) ??
    lossOf(assessment) ??
    gapInSamples(collection) ??
    shortfallWithErrors(assessment)
  )
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function badEndOf(run: Run, { remoteErrors }: Assessment): string | undefined {
  if (phaseOf(run.status) === 'ended well') return undefined
  const words = remoteErrors.length === 0 ? '' : ` The service says: ${quoteLines(remoteErrors)}`
  return `The run ended as "${run.status}", not "finished".${words}`
}

function earlyEndOf(
  run: Run,
  { watched, collection }: Findings,
  { settings }: Assessment
): string | undefined {
  const seconds = requestedSeconds({ settings, run })
  if (seconds === undefined) return undefined
  const wanted = formatDuration(seconds * 1000)
  const span = collection && cutOffSpan(collection, seconds)
  if (span !== undefined)
    return `The samples of grid ${span.gridId} span ${formatDuration(span.ms)} of the ${wanted} requested: the run was stopped early, or the plan does not take its duration from the settings.`
  const node = collection && cutOffNode(nodesOf(run, settings) ?? [], collection, seconds)
  if (node !== undefined)
    return `The samples of node ${node.number} of grid ${node.gridId} span ${formatDuration(node.ms)} of the ${wanted} requested: it did a part of its share of the load only. Check what ended the plan there.`
  if (collection !== undefined && hasEverySpan(collection, seconds)) return undefined
  // An existing run may have been running for any time before the gate started watching.
  const tookMs = runTimeMs(run, settings.origin.kind === 'existing' ? undefined : watched)
  if (tookMs === undefined || tookMs >= seconds * 1000 * LEAST_SHARE) return undefined
  // The embedded service reports every stop, and every tool that did not finish.
  const reportsStops = settings.target.kind === 'local'
  if (reportsStops && collection && mayEndBeforePause(collection, { tookMs, durationSeconds: seconds }))
    return undefined
  return `The run ended after ${formatLess(tookMs, wanted)} of the ${wanted} requested: it was stopped early.`
}

/** Whole seconds of a run of a few seconds may hide the difference. */
function formatLess(ms: number, wanted: string): string {
  const whole = formatDuration(ms)
  return whole === wanted ? `${(Math.floor(ms / 100) / 10).toFixed(1)} s` : whole
}

/** A service may report lost load explicitly. */
function lossOf({ remoteErrors }: Assessment): string | undefined {
  const lost = lostLoad(remoteErrors)
  return lost.length > 0 ? `Part of the load was lost: ${quoteLines(lost)}` : undefined
}

/** Any other error counts as lost load if the requested load was not reached. */
function shortfallWithErrors({ remoteErrors, warnings }: Assessment): string | undefined {
  const [shortfall] = warnings
  if (remoteErrors.length === 0 || shortfall === undefined) return undefined
  return `${shortfall} The service says: ${quoteLines(remoteErrors)}`
}

/** By the service's times if it has them; otherwise by the time watched, which is never less than the real run time. */
function runTimeMs(run: Run, watched: Watched | undefined): number | undefined {
  if (run.startedMs !== undefined && run.stoppedMs !== undefined) return run.stoppedMs - run.startedMs
  return watched === undefined ? undefined : watched.seenEndedMs - watched.sinceMs
}

/** What is missing from the evidence, regardless of the thresholds. */
function gapInDownloads(collection: Collection | undefined): string | undefined {
  if (collection === undefined) return 'Nothing was collected from the run.'
  const { report, reportProblem, grids } = collection
  if (report === undefined)
    return `The report could not be downloaded: ${reportProblem ?? 'no reason was given'}`
  if (grids.length === 0) return 'The service lists no grids for the run, so there are no results to judge.'
  const [first, ...others] = collection.missingGrids
  if (first !== undefined) {
    const missing = others.length === 0 ? `${first} is` : `${first} and ${others.length} more are`
    return `Not every requested grid has results: ${missing} missing from the service's list (${grids.length} found).`
  }
  const missing = grids.find(({ problem }) => problem !== undefined)
  if (missing !== undefined)
    return `The CSV of grid ${missing.gridId} could not be downloaded completely: ${missing.problem ?? ''}`
  return undefined
}

/** The same for what was downloaded. */
function gapInSamples(collection: Collection | undefined): string | undefined {
  return collection?.gaps?.[0] ?? gapInMeasurements(collection?.measurements)
}

function notesOf(settings: Settings): string[] {
  const unused = describeUnused(settings)
  return unused === undefined ? [] : [unused]
}

function runFacts(run: Run, settings: Settings): RunFacts {
  return {
    id: run.id,
    url: runUrl(settings, run),
    name: run.name,
    status: run.status,
    tool: run.tool,
    threads: run.threads,
    durationSeconds: settings.durationSeconds ?? run.durationSeconds,
    startedMs: run.startedMs,
    stoppedMs: run.stoppedMs
  }
}

/** Side by side there are several runs, and the nodes of one of them would stand for all. */
function nodesOf({ nodes }: Run, { target, baseline }: Settings): readonly NodeFacts[] | undefined {
  if (baseline.source.kind === 'side-by-side') return undefined
  // What a service elsewhere calls this machine is not this one.
  return target.kind === 'local'
    ? nodes
    : nodes?.map((node) =>
        node.place === 'this machine' ? { ...node, place: "the service's machine" } : node
      )
}

/** A rehearsal generates no load anywhere. */
function isAllHere({ target, regions }: Settings, { run, collection }: Findings): boolean {
  const isRehearsal = collection?.report?.rehearsal ?? false
  return target.kind === 'local' && regions === undefined && run !== undefined && !isRehearsal
}

function gridFacts({
  gridId,
  region,
  nodeCount,
  path,
  bytes,
  problem
}: Collection['grids'][number]): GridFacts {
  return { gridId, region, nodeCount, bytes: path === undefined ? undefined : bytes, problem }
}
