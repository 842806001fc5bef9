import type { Outcome } from '../../analysis/outcome.js'
import { isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { type Judgement, leaveUndecided } from '../../analysis/thresholds/judge/judgement.js'
import { listRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import type { RunRecord, RunThresholds } from '../../contract/records.js'
import { apdexTargetMs } from '../runs/run-report.js'
import { describeTool, type ServiceFacts } from '../service-facts.js'
import type { Judged } from './judge-run.js'
import { describeGrids } from './read-results.js'
import type { Verdicts } from './verdicts.js'

/** Judges whether the run ended well, and nothing else. */
const NO_THRESHOLDS: RunThresholds = { text: '' }

const ONLY_THE_GATE = 'It compares with a baseline, which only the gate knows.'

/** `verdict.json` of a run that has ended, as this service judges it. A gate that started it may have more to judge by. */
export async function writeVerdict(
  run: RunRecord,
  { facts, verdicts, url }: { facts: ServiceFacts; verdicts: Verdicts; url: string }
): Promise<string> {
  const judged = await verdicts.judge(run, run.thresholds ?? NO_THRESHOLDS)
  // Most services are never asked for one.
  const { printVerdict } = await import('../../report/verdict-document.js')
  const grids = await describeGrids(run, judged.problems, facts.store)
  return printVerdict({ ...outcomeOf(run, judged), grids, run: factsOf(run, url, facts) })
}

function outcomeOf(run: RunRecord, judged: Judged): Omit<Outcome, 'grids' | 'run'> {
  const { measurements, warmUp } = judged
  const targetMs = apdexTargetMs(run.request.properties)
  const score = targetMs === undefined ? undefined : measurements?.figures({})?.apdex(targetMs)
  return {
    // The contract has no word for a verdict that is left to somebody else: what is not judged here has not passed.
    verdict: judged.verdict === 'left to the gate' ? 'inconclusive' : judged.verdict,
    reason: judged.reason,
    apdex: score === undefined || targetMs === undefined ? undefined : { score, targetMs },
    summary: run.report?.summary,
    means: meansOf(run),
    rehearsal: run.report?.rehearsal ?? false,
    judgements: [...judged.judgements, ...judged.left.map(leaveToGate)],
    nodes: run.nodes,
    measurements,
    ...(warmUp && { warmUp }),
    warnings: [...(run.warnings ?? []), ...judged.warnings],
    remoteErrors: listRemoteErrors(run.remoteErrors ?? undefined),
    notes: [...judged.notes, explain(run)]
  }
}

function explain({ thresholds }: RunRecord): string {
  const by = thresholds
    ? 'by the thresholds that the run has there'
    : 'without thresholds: the run has none there'
  return `Judged by the service, ${by}. The verdict of a gate that started the run is in the gate's own artifact.`
}

function leaveToGate(threshold: Judged['left'][number]): Judgement {
  const judgement = leaveUndecided(threshold, ONLY_THE_GATE)
  return isBaselineThreshold(threshold)
    ? { ...judgement, comparison: { outcome: 'no baseline', baseRuns: 0, ifNotJudged: 'warn' } }
    : judgement
}

function meansOf({ report }: RunRecord): Record<string, number> {
  return Object.fromEntries(
    Object.entries(report ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  )
}

function factsOf(run: RunRecord, url: string, facts: ServiceFacts): NonNullable<Outcome['run']> {
  const { id, status, request, startedMs, stoppedMs } = run
  return {
    ...{ id, url, status, tool: describeTool(run, facts) },
    ...(request.name !== null && { name: request.name }),
    ...(request.threads !== null && { threads: request.threads }),
    ...(request.durationSec !== null && { durationSeconds: request.durationSec }),
    ...(startedMs !== null && { startedMs: Math.round(startedMs) }),
    ...(stoppedMs !== null && { stoppedMs: Math.round(stoppedMs) })
  }
}
