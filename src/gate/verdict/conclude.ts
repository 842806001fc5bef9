import { capitalize } from '../../contract/text.js'
import type { GridFacts, NodeFacts, Outcome, RunFacts, StoppedEarly } from '../../analysis/outcome.js'
import type { Run } from '../../contract/api.js'
import { describeStarved } from '../../report/rows.js'
import { judgeThresholds } from '../../analysis/thresholds/judge/judge.js'
import { compareLabels } from '../../analysis/baseline/compare-labels.js'
import { judgeBaselineLines, SHOWN_LINES } from '../../analysis/baseline/judge-lines.js'
import type { ComparisonRules, ComparisonEvidence } from '../../analysis/baseline/judge/sides.js'
import { judgeToolLines } from '../../analysis/thresholds/judge/tool-lines.js'
import { isAbsoluteThreshold, isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { Judgement } from '../../analysis/thresholds/judge/judgement.js'
import { describeNoOverTime } from '../../analysis/thresholds/judge/over-time.js'
import { apdexOf, type Apdex } from '../../analysis/evidence/apdex.js'
import { describeAside } from '../../analysis/evidence/aside-samples.js'
import type { Collection } from '../collect/collect.js'
import {
  decideRun,
  describeCut,
  describeGap as describeGapIn,
  type RunEvidence,
  findOtherRows,
  toJudge,
  decideVerdict,
  type Decision
} from '../../analysis/evidence/decide-run.js'
import { hasEnded, phaseOf, runUrl } from '../run/run-status.js'
import { listRemoteErrors, withoutOwnStop } from '../../analysis/evidence/remote-errors.js'
import { findLongPause, describeShortfall } from '../../analysis/evidence/reached-load.js'
import type { Settings } from '../settings/settings.js'
import type { ConfirmingRun, EarlyStop, Findings } from '../findings.js'
import { describeUnused } from '../settings/unused-inputs.js'
import { requestedLoad, requestedSeconds, describeDifference, type LoadSettings } from './reached-load.js'
import { describeEarlyLabels } from './early-labels.js'
import { describeFailedChecks } from './failed-logins.js'

/** The settings that a verdict depends on. */
type VerdictSettings = LoadSettings &
  Pick<
    Settings,
    'thresholds' | 'baseline' | 'warmUpMs' | 'onStall' | 'regions' | 'wait' | 'stopEarly' | 'unused'
  >

const NOT_COMPARED: ComparisonEvidence = {
  kind: 'none',
  outcome: 'no baseline',
  reason: 'nothing was compared'
}

/** Turns the findings into a verdict. Without complete evidence it is never `passed`. */
export function conclude(settings: VerdictSettings, findings: Findings): Outcome {
  const { run, collection } = findings
  const apdex = findings.apdex ?? apdexToJudge(settings, findings)
  const { confirming = [] } = findings
  const judgements = takeWorst(
    judge(settings, findings, apdex),
    confirming.map((found) => judgeConfirming(settings, found))
  )
  const nodes = run && nodesOf(run, settings)
  return {
    ...decide(settings, findings, judgements),
    run: run && runFacts(run, settings),
    apdex: typeof apdex === 'string' ? undefined : apdex,
    ...serviceFigures(collection),
    rehearsal: collection?.report?.rehearsal ?? false,
    judgements,
    grids: (collection?.grids ?? []).map(({ path, bytes, ...grid }): GridFacts => ({
      ...grid,
      bytes: path === undefined ? undefined : bytes
    })),
    nodes,
    isAllHere: isAllHere(settings, findings),
    measurements: collection?.measurements,
    ...(collection?.warmUp !== undefined && { warmUp: collection.warmUp }),
    warnings: [
      ...shortfallOf(settings, findings),
      ...[findings, ...confirming.map((each) => each.findings)].flatMap((each) => each.warnings ?? []),
      ...(collection?.doubts ?? []),
      ...describeStarved(nodes),
      ...describeEarlyLabels(settings.thresholds, collection),
      ...describeFailedChecks(collection?.measurements, settings.thresholds, run?.toolLines),
      ...[findLongPause(collection, settings.onStall).warning ?? []].flat(),
      ...judgements.flatMap(({ warning }) => warning ?? []),
      ...asideOf(findings).warnings
    ],
    remoteErrors: remoteErrorsOf(findings),
    notes: notesOf(settings, findings),
    baseline: findings.baseline,
    ...shownComparisonsOf(settings, findings),
    labelChanges: findings.comparison && compareLabels(findings.comparison, settings, judgements),
    trend: findings.trend,
    stoppedEarly: factsOfStop(findings.stoppedEarly)
  }
}

/** The same without the lines that name `baseline`. */
export function withoutBaselineLines(
  settings: VerdictSettings,
  findings: Findings,
  outcome: Outcome
): Outcome {
  const judgements = outcome.judgements.filter(({ threshold }) => !isBaselineThreshold(threshold))
  return { ...outcome, ...decide(settings, findings, judgements), judgements }
}

/** Without results it is unknown what the service's own apdex would be without the warm-up. */
function apdexToJudge({ warmUpMs }: VerdictSettings, { run, collection }: Findings): Apdex | string {
  if (warmUpMs > 0 && collection?.warmUp === undefined)
    return 'there are no samples to compute it from without the warm-up'
  return apdexOf({ apdex: run?.apdex ?? null }, collection)
}

/** The service does not know of a warm-up: its report includes those samples. */
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
export function describeGap(settings: VerdictSettings, findings: Findings): string | undefined {
  const evidence = evidenceOf(settings, findings)
  return describeCut(evidence) ?? describeGapIn(evidence)
}

function remoteErrorsOf({ run, isStoppedHere }: Findings): string[] {
  const reported = listRemoteErrors(run?.remoteErrors)
  return isStoppedHere ? withoutOwnStop(reported) : reported
}

/** A run that was cut short is not expected to reach the full load. */
function shortfallOf(
  settings: VerdictSettings,
  { run, collection, failure, stoppedEarly }: Findings
): string[] {
  if (stoppedEarly !== undefined) return []
  const isWhole = failure === undefined && run !== undefined && phaseOf(run.status) === 'ended well'
  return isWhole && collection !== undefined
    ? describeShortfall(requestedLoad({ settings, run, collection }), collection)
    : []
}

function judge(settings: VerdictSettings, findings: Findings, apdex: Apdex | string): Judgement[] {
  const { run, collection, isDetached, comparison, isOnBaselineBranch, stoppedEarly } = findings
  if (isDetached) return []
  const difference = differenceOf(findings)
  const missing = [
    ...(difference === undefined ? [] : [difference]),
    ...(collection?.missingGrids ?? []).map((grid) => `${grid} is missing`),
    ...(collection?.grids ?? []).flatMap(({ gridId, problem }) =>
      problem === undefined ? [] : [`grid ${gridId}: ${problem}`]
    ),
    ...(collection?.foreign ?? [])
  ]
  if (missing.length === 0 && run && collection)
    missing.push(...findOtherRows(nodesOf(run, settings), collection))
  const hasRunEnded = run !== undefined && hasEnded(run.status)
  const compared = judgeBaselineLines(
    settings.thresholds.filter(isBaselineThreshold),
    comparison ?? NOT_COMPARED,
    rulesOf(settings, isOnBaselineBranch)
  )
  const told = hasRunEnded ? apdex : 'the run did not finish'
  const absolute = judgeThresholds(
    settings.thresholds.filter(isAbsoluteThreshold),
    toJudge(collection, { apdex: told, missing, onStall: settings.onStall })
  )
  // The line that ended the run stays broken, even if the figure of the samples up to the stop is within its limit.
  const early = difference === undefined ? stoppedEarly?.judgement : undefined
  // In the order in which they were written.
  return [...absolute, ...compared, ...judgeToolLines(run?.toolLines)]
    .map((judgement) => (early?.threshold.line === judgement.threshold.line ? early : judgement))
    .sort((one, other) => one.threshold.line - other.threshold.line)
}

/** A confirming run by itself: whatever the others say of it, no limit is exceeded in any of them. */
function judgeConfirming(settings: VerdictSettings, { stage, findings }: ConfirmingRun): JudgedRun {
  const alone = { ...settings, thresholds: settings.thresholds.filter(isAbsoluteThreshold) }
  const name = findings.run === undefined ? stage : `${stage} (${findings.run.id})`
  return { name, judgements: judge(alone, findings, apdexToJudge(settings, findings)) }
}

/** The samples that stopped a run must be in its results. */
function differenceOf({ stoppedEarly, collection }: Findings): string | undefined {
  const { live } = stoppedEarly ?? {}
  const lack = live && collection && describeDifference(live, collection)
  return lack && `the results are not the samples that were read during the run: ${lack}`
}

/** The branch's own runs create its baseline: if a missing baseline failed them, there would never be one. */
function rulesOf({ baseline, onStall }: VerdictSettings, isOnBaselineBranch = false): ComparisonRules {
  const rules = { ...baseline, onStall }
  return baseline.onMissing === 'fail' && isOnBaselineBranch ? { ...rules, onMissing: 'warn' } : rules
}

/** Whether a line that names `baseline` is broken or unsure, so that more evidence is worth its time. */
export function isInDoubt(settings: VerdictSettings, evidence: ComparisonEvidence): boolean {
  const lines = settings.thresholds.filter(isBaselineThreshold)
  return judgeBaselineLines(lines, evidence, rulesOf(settings)).some(
    ({ comparison }) => comparison?.outcome === 'broken' || comparison?.outcome === 'unsure'
  )
}

/** Where no line names `baseline`, the comparison is shown all the same. */
function shownComparisonsOf(
  settings: VerdictSettings,
  { comparison }: Findings
): Pick<Outcome, 'shownComparisons'> {
  if (comparison === undefined || comparison.kind === 'none') return {}
  if (settings.thresholds.some(isBaselineThreshold)) return {}
  return { shownComparisons: judgeBaselineLines(SHOWN_LINES, comparison, rulesOf(settings)) }
}

function decide(settings: VerdictSettings, findings: Findings, judgements: readonly Judgement[]): Decision {
  const difference = differenceOf(findings)
  const { failure, isDetached, stoppedEarly } = findings
  if (failure !== undefined) return { verdict: failure.kind, reason: failure.message }
  if (isDetached)
    return { verdict: 'detached', reason: 'The run was started and left running (wait: false).' }
  if (stoppedEarly !== undefined && difference !== undefined)
    return {
      verdict: 'inconclusive',
      reason: `${capitalize(difference)}. During the run: ${stoppedEarly.judgement.reason}.`
    }
  // Missing results, because of the stop or otherwise, cannot make a broken line hold.
  if (stoppedEarly !== undefined)
    return { verdict: 'failed', reason: `${capitalize(stoppedEarly.judgement.reason)}.` }
  if (findings.gap !== undefined) return decideVerdict(judgements, findings.gap)
  return decideRun(judgements, evidenceOf(settings, findings))
}

/** What is known about the run; without a run, only results can be missing. */
function evidenceOf(settings: VerdictSettings, findings: Findings): RunEvidence {
  const { run, collection, watched } = findings
  return {
    status: run?.status ?? '',
    hasEndedWell: run === undefined || phaseOf(run.status) === 'ended well',
    remoteErrors: remoteErrorsOf(findings),
    shortfalls: shortfallOf(settings, findings),
    requestedSeconds: run && requestedSeconds({ settings, run }),
    // An existing run may have been running for any time before the gate started watching.
    tookMs: run && runTimeMs(run, settings.origin.kind === 'existing' ? undefined : watched),
    // The embedded service does.
    reportsStops: settings.target.kind === 'local',
    nodes: run && nodesOf(run, settings),
    results: collection,
    lackOfResults: gapInDownloads(settings, collection),
    foreign: collection?.foreign ?? [],
    gaps: collection?.gaps ?? [],
    onStall: settings.onStall
  }
}

/** By the service's times if it has them; otherwise by the time watched, which is never less than the real run time. */
function runTimeMs(run: Run, watched: Findings['watched']): number | undefined {
  if (run.startedMs !== undefined && run.stoppedMs !== undefined) return run.stoppedMs - run.startedMs
  return watched === undefined ? undefined : watched.seenEndedMs - watched.sinceMs
}

/** What is missing from the evidence, regardless of the thresholds. */
function gapInDownloads({ origin }: VerdictSettings, collection: Collection | undefined): string | undefined {
  if (collection === undefined) return 'Nothing was collected from the run.'
  if (origin.kind === 'results') return describeRefused(collection)
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

/** Files without samples. */
function describeRefused({ grids }: Collection): string | undefined {
  const [first, ...others] = grids.flatMap(({ problem }) => problem ?? [])
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return first && `Not every result file can be judged: ${first}${more}.`
}

function asideOf({ collection, isDetached }: Findings): ReturnType<typeof describeAside> {
  return describeAside(isDetached ? [] : (collection?.scans ?? []))
}

function notesOf(settings: VerdictSettings, findings: Findings): string[] {
  const { thresholds, onStall } = settings
  const { collection, isDetached } = findings
  const measurements = isDetached ? undefined : collection?.measurements
  return [
    ...[describeUnused(settings) ?? []].flat(),
    ...(collection?.notes ?? []),
    ...asideOf(findings).notes,
    ...describeNoOverTime(thresholds, { measurements, onStall })
  ]
}

function runFacts(run: Run, settings: VerdictSettings): RunFacts {
  const { id, name, status, tool, threads, startedMs, stoppedMs } = run
  const durationSeconds = settings.durationSeconds ?? run.durationSeconds
  const url = runUrl(settings, run)
  return { id, url, name, status, tool, threads, durationSeconds, startedMs, stoppedMs }
}

/** Side by side there are several runs, and the nodes of one of them would stand for all. */
function nodesOf({ nodes }: Run, { target, baseline }: VerdictSettings): readonly NodeFacts[] | undefined {
  if (baseline.source.kind === 'side-by-side') return undefined
  // A remote service's "this machine" is not this one.
  return target.kind === 'local'
    ? nodes
    : nodes?.map((node) =>
        node.place === 'this machine' ? { ...node, place: "the service's machine" } : node
      )
}

/** A rehearsal generates no load anywhere. */
function isAllHere({ target, regions }: VerdictSettings, { run, collection }: Findings): boolean {
  const isRehearsal = collection?.report?.rehearsal ?? false
  return target.kind === 'local' && regions === undefined && run !== undefined && !isRehearsal
}

/** The lines of one run that have limits of their own. */
interface JudgedRun {
  /** `confirming run 1 (c0ffee)` */
  readonly name: string
  readonly judgements: readonly Judgement[]
}

const VERDICTS: readonly Judgement['verdict'][] = ['failed', 'inconclusive', 'passed']

/** Each line by the run in which it fares worst, and which one that was. Lines that name `baseline` are judged by all runs together. */
export function takeWorst(first: readonly Judgement[], confirming: readonly JudgedRun[]): Judgement[] {
  if (confirming.length === 0) return [...first]
  return [...first.map((own) => worstOf(own, confirming)), ...onlyConfirming(first, confirming)]
}

/** Some lines of a plan exist only where they are broken. */
function onlyConfirming(first: readonly Judgement[], confirming: readonly JudgedRun[]): Judgement[] {
  const known = new Set(first.map(({ threshold }) => threshold.text))
  const more = confirming.flatMap(({ name, judgements }) =>
    judgements
      .filter(({ threshold }) => 'isToolLine' in threshold && !known.has(threshold.text))
      .map((own) => ({ ...own, reason: `${own.reason}, in ${name}` }))
  )
  return [...new Map(more.map((own) => [own.threshold.text, own])).values()]
}

function worstOf(own: Judgement, confirming: readonly JudgedRun[]): Judgement {
  if (own.comparison !== undefined) return own
  const runs = [
    { name: 'the first one', judgement: own },
    ...confirming.flatMap(({ name, judgements }) => {
      const judgement = judgements.find(({ threshold: { line, text } }) => {
        return line === own.threshold.line && text === own.threshold.text
      })
      return judgement === undefined ? [] : [{ name, judgement }]
    })
  ]
  const worst = runs.reduce((one, other) => (isWorse(other.judgement, one.judgement) ? other : one))
  const reason = `${worst.judgement.reason}; the worst of ${runs.length} runs: ${worst.name}`
  return { ...worst.judgement, reason }
}

function isWorse(one: Judgement, other: Judgement): boolean {
  const [rank, otherRank] = [rankOf(one), rankOf(other)]
  if (rank !== otherRank) return rank < otherRank
  // Above a limit of 0 there is no margin.
  return (one.margin ?? -Infinity) < (other.margin ?? -Infinity)
}

/** The lower, the worse: a warning about a line that holds must not get lost. */
function rankOf({ verdict, warning, doubt }: Judgement): number {
  return 2 * VERDICTS.indexOf(verdict) + (warning === undefined && doubt === undefined ? 1 : 0)
}
