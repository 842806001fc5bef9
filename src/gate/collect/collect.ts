import { join } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import type { Measurements } from '../../results/figures/measurements.js'
import type { ScanResult } from '../../results/counts/scan-result.js'
import type { WarmUpFacts } from '../../report/outcome.js'
import type { Report, Run } from '../../service/documents/documents.js'
import { RETRY, retry } from '../../service/retry.js'
import { expectedGrids, findMissing, findNameless, findSmaller } from './expected-grids.js'
import type { GridResult } from './fetch-results.js'
import type { Gate } from '../gate.js'
import { GridFetches, sourcesIn } from './grid-fetches.js'
import { asError, lookUntilSame } from './looks.js'
import { countResults } from '../../evidence/count-results.js'
import { toCompare } from '../../evidence/same-rows.js'
import { GridHealth } from '../../evidence/grid-health.js'
import { messageOf } from '../errors.js'
import { MalformedReplyError } from '../../service/errors.js'

export interface Collection {
  /** As last seen. */
  readonly run: Run
  readonly report: Report | undefined
  readonly reportProblem: string | undefined
  readonly resultsDir: string
  readonly grids: readonly GridResult[]
  /** Descriptions of the grids that were requested and have no results. */
  readonly missingGrids: readonly string[]
  /** Why results or rows are not this run's, in clauses: no line can be judged by them. */
  readonly foreign?: readonly string[]
  /** What else makes the results incomplete evidence, in sentences. */
  readonly gaps?: readonly string[]
  /** What looks wrong without proving that something is missing. */
  readonly doubts?: readonly string[]
  /** From the first start to the last end of each grid's samples, by its id, if the CSV has times; for tidy CSVs with a bucket of slack. */
  readonly spansMs: ReadonlyMap<string, number>
  /** The typical pauses between each grid's samples, by its id; 0 where they are dense. */
  readonly pausesMs?: ReadonlyMap<string, number>
  /** What the CSVs were read into, with the samples of a warm-up. */
  readonly scans?: readonly ScanResult[]
  /** The same without them, if there is a warm-up. */
  readonly countedScans?: readonly ScanResult[]
  /** What is judged: without the samples of a warm-up. */
  readonly measurements: Measurements | undefined
  /** Set if a warm-up was left out of the measurements. */
  readonly warmUp?: WarmUpFacts
  /** Every CSV on disk, if there are more than one per grid. */
  readonly files?: readonly string[]
}

export interface CollectOptions {
  readonly signal: AbortSignal
  /** The run when it was first read. */
  readonly first?: Run | undefined
  /** False when the verdict does not depend on what is collected. */
  readonly isPatient?: boolean
  /** What was seen of its grids while it ran. */
  readonly health?: GridHealth | undefined
  /** When the run was created, by the service's clock; undefined if it was not created here. */
  readonly createdMs?: number | undefined
  /** Which of the step's runs it is, if there are several. */
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

interface Earlier {
  readonly run: Run | undefined
  /** Why the expected grids are unknown. */
  readonly gaps: readonly string[]
}

/** If nothing was requested here, an earlier reading of the run shows which grids to expect. */
async function earlierRun({ client, ports, settings }: Gate, options: CollectOptions): Promise<Earlier> {
  const { signal, first, isPatient = true } = options
  const { origin } = settings
  if (origin.kind !== 'repeat') return { run: first, gaps: [] }
  try {
    const look = () => client.showRun(origin.runId, signal)
    const policy = isPatient ? RETRY.collect : { ...RETRY.collect, transientMs: 0, refusalMs: 0 }
    return { run: await retry(look, policy, { clock: ports.clock, signal, overWith: asError }), gaps: [] }
  } catch (thrown) {
    return {
      run: undefined,
      gaps: [
        `The expected grids are unknown: run ${origin.runId}, which this run repeats, could not be read: ${messageOf(thrown)}`
      ]
    }
  }
}

interface ReadReport {
  readonly report: Report | undefined
  /** Why there is none. */
  readonly reportProblem: string | undefined
  readonly doubts: readonly string[]
}

/** No threshold needs the summary: do not wait for it any longer. */
const SUMMARY_PATIENCE_MS = 10_000
const NO_SUMMARY =
  'The report of the run has no summary. The verdict does not depend on it: it is based on the CSVs.'

/** Requests the report until it is ready; one without a summary is accepted after a while. Failures are returned, not thrown. */
async function readReport(
  { client, ports: { clock, log } }: Gate,
  runId: string,
  signal: AbortSignal
): Promise<ReadReport> {
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
