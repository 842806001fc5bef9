import type { Outcome } from '../../analysis/outcome.js'
import { isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import { type Judgement, leaveUndecided } from '../../analysis/thresholds/judge/judgement.js'
import { listRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import type { RunRecord } from '../../contract/records.js'
import { RequestError } from '../errors.js'
import { apdexTargetMs } from '../runs/run-report.js'
import { describeTool, type ServiceFacts } from '../service-facts.js'
import type { Judged } from './judge-run.js'
import { describeGrids } from './read-results.js'
import type { Verdicts } from './verdicts.js'

const BY_THE_SERVICE =
  "Judged by the service, by the thresholds that the run has there. The verdict of a gate that started the run is in the gate's own artifact."
const ONLY_THE_GATE = 'It compares with a baseline, which only the gate knows.'

/** `verdict.json` of a run that has ended, as this service judges it. A gate that started it may have more to judge by. */
export async function writeVerdict(
  run: RunRecord,
  { facts, verdicts, url }: { facts: ServiceFacts; verdicts: Verdicts; url: string }
): Promise<string> {
  // Nor does its page have a verdict.
  if (run.thresholds === undefined)
    throw new RequestError(
      409,
      `run ${run.id} has no thresholds at this service, so there is no verdict; set them on its page, or with PUT …/thresholds`
    )
  const judged = await verdicts.judge(run, run.thresholds)
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
    notes: [...judged.notes, BY_THE_SERVICE]
  }
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
