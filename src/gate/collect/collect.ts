import { join } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import type { Report, Run, ResultLink } from '../../contract/api.js'
import { RETRY, retry, pauseBetweenLooks, type RetryPolicy } from '../../client/retry.js'
import type { Gate } from '../gate.js'
import { countResults, type CountedRun } from '../../analysis/evidence/count-results.js'
import { toCompare } from '../../analysis/evidence/own-rows.js'
import { GridHealth } from '../../analysis/evidence/grid-health.js'
import { messageOf, formatDuration } from '../../contract/text.js'
import { MalformedReplyError } from '../../client/errors.js'
import { stateOfApdex } from '../../analysis/evidence/apdex.js'
import { joinRemoteErrors } from '../../analysis/evidence/remote-errors.js'
import { hasEnded, phaseOf } from '../run/run-status.js'
import {
  expectedGrids,
  findMissing,
  findNameless,
  findSmaller,
  gridIdOf,
  type ExpectedGrid
} from './expected-grids.js'
import type { GridResult } from './fetch-results.js'
import { GridFetches, sourcesIn, isCompleteAtEnd } from './grid-fetches.js'

type Counts = Pick<CountedRun, 'measurements' | 'spansMs'>

/** What was downloaded, and what was counted in it. */
export interface Collection extends Counts, Partial<Omit<CountedRun, keyof Counts>> {
  readonly run: Run
  readonly report: Report | undefined
  readonly reportProblem: string | undefined
  readonly resultsDir: string
  readonly grids: readonly GridResult[]
  /** Descriptions of the grids that were requested and have no results. */
  readonly missingGrids: readonly string[]
  /** Notes on the figures, in sentences. */
  readonly notes?: readonly string[]
  /** Every CSV on disk, if there are more than one per grid. */
  readonly files?: readonly string[]
}

export interface CollectOptions {
  readonly signal: AbortSignal
  readonly first?: Run | undefined
  /** False when the verdict does not depend on what is collected. */
  readonly isPatient?: boolean
  readonly health?: GridHealth | undefined
  /** When the run was created, by the service's clock; undefined if it was not created here. */
  readonly createdMs?: number | undefined
  readonly stage?: string | undefined
  /** Where to save the CSVs, within the step's folder; `results` by default. */
  readonly resultsFolder?: string | undefined
}

export const RESULTS_FOLDER = 'results'

/** Downloads the report and every grid's CSV in parallel, reading the CSVs as they arrive. Failures are returned, not thrown. */
export async function collect(gate: Gate, run: Run, options: CollectOptions): Promise<Collection> {
  const { ports, settings } = gate
  const { signal, isPatient = true, health = new GridHealth() } = options
  const resultsDir = join(ports.scratchDir, options.resultsFolder ?? RESULTS_FOLDER)
  makeFolder(resultsDir)
  const fetches = new GridFetches(gate, { resultsDir, signal })
  void fetches.of(run)
  const reading = readReport(gate, run.id, signal)
  const earlier = await earlierRun(gate, options)
  const expected = expectedGrids(settings, earlier.run)
  const looked = await lookUntilSame(gate, run, { signal, expected, isPatient, health, fetches })
  const { run: latest, fetched: grids } = looked
  const { doubts: reportDoubts, ...report } = await reading
  const files = grids.flatMap(({ scan, result: { path } }) =>
    scan === undefined || path === undefined ? [] : [{ path, scan }]
  )
  const { startedMs, stoppedMs } = latest
  const durationSeconds = latest.durationSeconds ?? settings.durationSeconds
  const counted = await countResults(files, {
    warmUpMs: settings.warmUpMs,
    times: {
      ...{ startedMs, stoppedMs, createdMs: options.createdMs },
      durationMs: durationSeconds === undefined ? undefined : durationSeconds * 1000
    },
    earlier: (gate.earlierResults ?? []).filter(({ runId }) => runId !== run.id)
  })
  const name = options.stage ?? `run ${run.id}`
  // A rehearsal takes less time than its samples say.
  const isReal = report.report?.rehearsal !== true
  const compared = files.map(({ scan }) => ({ ...toCompare(scan), ...(!isReal && { starts: undefined }) }))
  gate.earlierResults?.push({ runId: run.id, name, scans: compared })
  return {
    ...report,
    run: latest,
    resultsDir,
    grids: grids.map(({ result }) => result),
    missingGrids: findMissing(expected, sourcesIn(gate, latest)),
    ...counted,
    gaps: [
      ...earlier.gaps,
      ...findNameless(latest),
      ...findSmaller(settings, latest.grids),
      ...health.gaps,
      ...counted.gaps
    ],
    doubts: [...looked.doubts, ...reportDoubts, ...health.doubts, ...counted.doubts]
  }
}

/** If nothing was requested here, an earlier reading of the run shows which grids to expect; a gap says why they are unknown. */
async function earlierRun({ client, ports, settings }: Gate, options: CollectOptions) {
  const { signal, first, isPatient = true } = options
  const { origin } = settings
  if (origin.kind !== 'repeat') return { run: first, gaps: [] }
  try {
    const look = () => client.showRun(origin.runId, signal)
    const policy = isPatient ? RETRY.collect : { ...RETRY.collect, transientMs: 0, refusalMs: 0 }
    return { run: await retry(look, policy, { clock: ports.clock, signal, overWith: asError }), gaps: [] }
  } catch (thrown) {
    const gap = `The expected grids are unknown: run ${origin.runId}, which this run repeats, could not be read: ${messageOf(thrown)}`
    return { run: undefined, gaps: [gap] }
  }
}

/** No threshold needs the summary: do not wait for it any longer. */
const SUMMARY_PATIENCE_MS = 10_000
const NO_SUMMARY =
  'The report of the run has no summary. The verdict does not depend on it: it is based on the CSVs.'

/** Requests the report until it is ready; one without a summary is accepted after a while. Failures are returned, not thrown. */
async function readReport({ client, ports: { clock, log } }: Gate, runId: string, signal: AbortSignal) {
  let retries = 0
  let bare: { readonly report: Report; readonly sinceMs: number } | undefined
  const ask = async (): Promise<Report> => {
    const report = await client.report(runId, signal)
    if (report.summary !== undefined) return report
    bare = { report, sinceMs: bare?.sinceMs ?? clock.now() }
    if (clock.now() - bare.sinceMs >= SUMMARY_PATIENCE_MS) return report
    throw new MalformedReplyError(`reading the report of run ${runId}`, 'it has no summary')
  }
  const found = await retry(ask, RETRY.collect, {
    clock,
    signal,
    onRetry: (thrown) => {
      if (retries++ === 0) log.info(`The report is not ready (${messageOf(thrown)}); retrying.`)
    },
    overWith: (failure) =>
      new Error(`not available within the collection time; the last answer: ${messageOf(failure)}`)
  }).catch((thrown: unknown) => bare?.report ?? messageOf(thrown))
  if (typeof found === 'string') return { report: undefined, reportProblem: found, doubts: [] }
  const said = found.warnings.map((warning) => `The service says: ${warning}`)
  const doubts = [...(found.summary === undefined ? [NO_SUMMARY] : []), ...said]
  return { report: found, reportProblem: undefined, doubts }
}

interface LookOptions {
  readonly signal: AbortSignal
  readonly expected: readonly ExpectedGrid[]
  readonly isPatient: boolean
  readonly health: GridHealth
  readonly fetches: GridFetches
}

/** How long to wait for a value that no threshold needs. */
const OPTIONAL_PATIENCE_MS = 10_000
/** Few services compute it longer than this after the end; many never give one. */
const APDEX_PATIENCE_MS = 2 * 60_000

/** Values, links and rows may come late: looks and downloads until nothing is missing or new, or the time for what is missing is up. */
async function lookUntilSame(gate: Gate, first: Run, options: LookOptions) {
  const { signal, isPatient, health, fetches } = options
  const { client, ports, settings } = gate
  const { clock, log } = ports
  const doubts: string[] = []
  let awaited: { readonly what: string; readonly sinceMs: number } | undefined
  let isReadable = true
  const isFinal = ({ status }: Run): boolean =>
    settings.target.kind === 'local' || phaseOf(status) !== 'ended well' || !isPatient

  /** What is missing, unless it has been waited for long enough. */
  const lackOf = (run: Run): Lack | undefined => {
    const lack = isReadable ? lackIn(gate, run, options) : undefined
    if (lack === undefined) return undefined
    const { what, isNeeded } = lack
    const longestMs = isNeeded ? lack.longestMs : OPTIONAL_PATIENCE_MS
    if (awaited?.what !== what) {
      const limit = longestMs === Infinity ? '' : `, for ${formatDuration(longestMs)} at most`
      log[isNeeded ? 'info' : 'debug'](`Run ${run.id} has ended; waiting for ${what}${limit}.`)
      awaited = { what, sinceMs: clock.now() }
    }
    const leftMs = awaited.sinceMs + longestMs - clock.now()
    return leftMs > 0 ? { what, isNeeded, leftMs } : undefined
  }

  /** The run as it is now; the run as it was if it cannot be read. */
  const lookAgain = async (seen: Run, lack: Lack | undefined): Promise<Run> => {
    if (!isReadable) return seen
    try {
      const show = () => client.showRun(seen.id, signal)
      return joinLooks(seen, await retry(show, policyFor(lack), { clock, signal, overWith: asError }))
    } catch (thrown) {
      isReadable = false
      const words = `The run could not be read again: ${messageOf(thrown)}`
      if (lack?.isNeeded && thrown !== signal.reason) doubts.push(words)
      else log.debug(words)
      return seen
    }
  }

  let run = first
  for (let looks = 1; ; looks++) {
    health.note(run.grids, { hasEnded: hasEnded(run.status) })
    const fetching = fetches.of(run)
    const lack = lackOf(run)
    if (lack !== undefined)
      await clock.sleep(Math.min(pauseBetweenLooks(looks), lack.leftMs), signal).catch(() => undefined)
    else {
      const fetched = await fetching
      if (isFinal(run)) return { run, fetched, doubts }
    }
    const next = await lookAgain(run, lack)
    const hasMore = !fetches.haveBegun(next) || lackOf(next) !== undefined
    const isSame = lack === undefined && !hasMore && (isFinal(next) || !(await fetches.haveGrown(next)))
    run = next
    if (!isSame) continue
    health.note(run.grids, { hasEnded: hasEnded(run.status) })
    return { run, fetched: await fetches.of(run), doubts }
  }
}

interface Lack {
  readonly what: string
  readonly isNeeded: boolean
  readonly leftMs: number
}

function policyFor(lack: Lack | undefined): RetryPolicy {
  // Everything is downloaded by then; the service may still be down for a moment.
  if (lack === undefined) return RETRY.lastLook
  const { isNeeded, leftMs } = lack
  const refusalMs = isNeeded ? Math.min(RETRY.collect.refusalMs, leftMs) : leftMs
  return { ...RETRY.collect, transientMs: leftMs, refusalMs }
}

/** A run that ended abnormally may never have everything. */
function lackIn(gate: Gate, run: Run, { expected, isPatient }: LookOptions) {
  if (isCompleteAtEnd(gate) || phaseOf(run.status) !== 'ended well') return undefined
  const sources = sourcesIn(gate, run)
  const isOdd = run.oddGrids !== undefined
  if (sources.length === 0 || isOdd || findMissing(expected, sources).length > 0)
    return { what: 'the results of its grids', isNeeded: isPatient, longestMs: Infinity }
  const apdex = stateOfApdex(run.apdex)
  if (apdex === 'there') return undefined
  const isNeeded = apdex === 'late' && gate.settings.thresholds.some(({ metric }) => metric === 'apdex')
  return { what: "the service's apdex", isNeeded: isPatient && isNeeded, longestMs: APDEX_PATIENCE_MS }
}

/** The service's error, rather than the timeout. */
function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(messageOf(failure), { cause: failure })
}

/** Nothing reported once gets lost; a reply from before the end is ignored. */
function joinLooks(seen: Run, next: Run): Run {
  if (!hasEnded(next.status)) return seen
  return {
    ...next,
    // If there are two final statuses, the worse one counts.
    status: phaseOf(seen.status) === 'ended abnormally' ? seen.status : next.status,
    apdex:
      stateOfApdex(seen.apdex) === 'there' && stateOfApdex(next.apdex) !== 'there'
        ? seen.apdex
        : (next.apdex ?? seen.apdex),
    remoteErrors: joinRemoteErrors(seen.remoteErrors, next.remoteErrors),
    startedMs: next.startedMs ?? seen.startedMs,
    stoppedMs: next.stoppedMs ?? seen.stoppedMs,
    grids: [...next.grids, ...seen.grids.filter(({ id }) => !next.grids.some((grid) => grid.id === id))],
    results: joinLinks(seen.results, next.results)
  }
}

/**
 * For each grid, the links of the reply that has more of them, or else of the later one: links may be signed anew for each reply, and
 * one CSV must not count twice. Known links keep their position.
 */
function joinLinks(seen: readonly ResultLink[], next: readonly ResultLink[]): ResultLink[] {
  const grids = new Set([...seen, ...next].map(({ href }) => gridIdOf(href)))
  return [...grids].flatMap((grid) => {
    const [before, now] = [seen, next].map((links) => links.filter(({ href }) => gridIdOf(href) === grid))
    if (before === undefined || now === undefined || before.length > now.length) return before ?? []
    const isKept = ({ href }: ResultLink): boolean => now.some((link) => link.href === href)
    const isNew = ({ href }: ResultLink): boolean => !before.some((link) => link.href === href)
    return [...before.filter(isKept), ...now.filter(isNew)]
  })
}
