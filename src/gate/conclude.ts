import type { GridFacts, Outcome, RunFacts } from '../report/outcome.js'
import type { Run } from '../service/documents.js'
import { judgeThresholds } from '../thresholds/judge.js'
import type { Judgement } from '../thresholds/judgement.js'
import { readApdex } from './apdex.js'
import type { Collection } from './collect.js'
import { decideByEvidence, gapInMeasurements } from './decide-by-evidence.js'
import type { Decision } from './decide-by-evidence.js'
import { formatDuration } from './durations.js'
import { hasEnded, phaseOf } from './run-status.js'
import { runUrl } from './run-url.js'
import type { Settings } from './settings.js'
import type { Trouble } from './trouble.js'
import type { Watched } from './watch-run.js'

/** What the story has brought together so far; each part may be missing. */
export interface Findings {
  run?: Run
  watched?: Watched
  collection?: Collection
  trouble?: Trouble
  isDetached?: boolean
  /** The copies of the tools' logs, after a bad end. */
  logs?: readonly string[]
}

/** A run that ended before this share of its duration was stopped by somebody. */
const LEAST_SHARE = 0.9

/** From what was found to a verdict. Without whole evidence it is never `passed`. */
export function conclude(settings: Settings, findings: Findings): Outcome {
  const { run, collection } = findings
  const apdex = readApdex(run?.apdex ?? null)
  const judgements = judge(settings, findings, apdex)
  const decided = decide(findings, { settings, judgements })
  return {
    ...decided,
    run: run && runFacts(run, settings),
    apdex: typeof apdex === 'string' ? undefined : apdex,
    summary: collection?.report?.summary,
    means: collection?.report?.means ?? {},
    rehearsal: collection?.report?.rehearsal ?? false,
    judgements,
    grids: (collection?.grids ?? []).map(gridFacts),
    measurements: collection?.measurements,
    notes: notesOf(settings)
  }
}

function judge(
  settings: Settings,
  { run, collection, isDetached }: Findings,
  apdex: ReturnType<typeof readApdex>
): Judgement[] {
  if (isDetached) return []
  const missing =
    collection?.grids.flatMap(({ gridId, problem }) =>
      problem === undefined ? [] : [`grid ${gridId}: ${problem}`]
    ) ?? []
  const hasRunEnded = run !== undefined && hasEnded(run.status)
  return judgeThresholds(settings.thresholds, {
    apdex: typeof apdex === 'string' || !hasRunEnded ? undefined : apdex,
    apdexProblem: hasRunEnded && typeof apdex === 'string' ? apdex : 'the run did not come to its end',
    measurements: collection?.measurements,
    ...(collection?.measurements === undefined || missing.length > 0
      ? { measurementsProblem: missing.join('; ') || 'there are no result CSVs' }
      : {})
  })
}

function decide(
  findings: Findings,
  { settings, judgements }: { settings: Settings; judgements: readonly Judgement[] }
): Decision {
  const { run, trouble, isDetached, collection } = findings
  if (trouble !== undefined) return { verdict: trouble.kind, reason: trouble.message }
  if (isDetached)
    return { verdict: 'detached', reason: 'The run was started and is left to itself (wait: false).' }
  const badEnd = run && badEndOf(findings, settings)
  if (badEnd !== undefined) return { verdict: 'inconclusive', reason: badEnd }
  return decideByEvidence(judgements, gapIn(collection))
}

function badEndOf({ run, watched }: Findings, settings: Settings): string | undefined {
  if (run === undefined) return undefined
  if (phaseOf(run.status) !== 'ended well') {
    const words = run.remoteErrors === undefined ? '' : ` It says: ${run.remoteErrors.slice(0, 500)}`
    return `The run ended as "${run.status}", not as "finished".${words}`
  }
  const wantedSeconds = settings.durationSeconds ?? run.durationSeconds
  // A run that was there before the watch began may have run for any time unseen.
  const tookMs = runTimeMs(run, settings.origin.kind === 'existing' ? undefined : watched)
  if (wantedSeconds === undefined || tookMs === undefined || tookMs >= wantedSeconds * 1000 * LEAST_SHARE)
    return undefined
  return `The run ended after ${formatDuration(tookMs)} of the ${formatDuration(wantedSeconds * 1000)} asked for: somebody or something stopped it.`
}

/** By the service's own times; else by what was seen, which is never less than the run really took. */
function runTimeMs(run: Run, watched: Watched | undefined): number | undefined {
  if (run.startedMs !== undefined && run.stoppedMs !== undefined) return run.stoppedMs - run.startedMs
  return watched === undefined ? undefined : watched.seenEndedMs - watched.sinceMs
}

/** What is missing in the evidence, whatever the thresholds are. */
function gapIn(collection: Collection | undefined): string | undefined {
  if (collection === undefined) return 'Nothing was collected from the run.'
  const { report, reportProblem, grids, measurements } = collection
  if (report === undefined) return `The report could not be had: ${reportProblem ?? 'no reason was given'}`
  if (grids.length === 0) return 'The service names no grid of the run, so there are no results to judge.'
  const missing = grids.find(({ problem }) => problem !== undefined)
  if (missing !== undefined)
    return `The CSV of grid ${missing.gridId} could not be had whole: ${missing.problem ?? ''}`
  return gapInMeasurements(measurements)
}

function notesOf({ unused }: Settings): string[] {
  return unused.length === 0 ? [] : [`Given but without meaning here: ${unused.join(', ')}.`]
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
