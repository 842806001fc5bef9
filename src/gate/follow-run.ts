import { capitalize, asSentence, formatDuration, messageOf } from '../contract/text.js'
import type { Run } from '../contract/api.js'
import type { GridChoice } from '../client/documents/requests.js'
import { GridHealth } from '../analysis/evidence/grid-health.js'
import type { CollectOptions } from './collect/collect.js'
import { withDeadline } from './deadline.js'
import { DeadlineError, failureOf, type Failure } from './errors.js'
import type { Findings } from './findings.js'
import type { Gate } from './gate.js'
import type { Progress } from './ports.js'
import { endRun } from './run/end-run.js'
import { hasEnded, phaseOf, runUrl } from './run/run-status.js'
import { handOverThresholds, startRun } from './run/start-run.js'
import { watchRun } from './run/watch-run.js'
import type { EarlyStopper } from './live/early-stop.js'
import type { Settings } from './settings/settings.js'
import { cleanUpRun, isCutOff, leftMs } from './cleanup/main-step.js'

/** What is needed after the end of the run is loaded while it runs, so that the run starts sooner. */
export const loadAfterRun = () => import('./after-run.js')

/** How one of several runs of a step differs from the only one. */
export interface RunOptions {
  readonly settings?: Partial<Settings>
  /** References to grids that exist already; what is expected of the results stays what the settings say. */
  readonly grids?: readonly GridChoice[]
  /** Where to save the CSVs, within the step's folder; null if nothing is collected. */
  readonly resultsFolder?: string | null
  /** For the log and the progress: "round 3 of 10: base". */
  readonly stage?: string
  /** False if another run is the one that the outputs name. */
  readonly isNamed?: boolean
  /** Ends with the time of all runs of the step; otherwise the timeout is that of this run. */
  readonly within?: AbortSignal | undefined
  /** How long collecting its results may take, if less than usual. */
  readonly longestCollectionMs?: number | undefined
}

/** A run of a gate, and what following it takes. */
interface Following extends RunOptions, Pick<CollectOptions, 'health' | 'createdMs'> {
  readonly gate: Gate
  readonly run: Run
  readonly signal: AbortSignal
  readonly beganMs: number
  readonly health: GridHealth
  readonly show: ((progress: Progress) => void) | undefined
}

const MINUTE = 60_000
const LONGEST_COLLECTION_MS = 10 * MINUTE
/** A run that failed may never have results, so ten minutes would be too long to wait. */
const LONGEST_COLLECTION_AFTER_BAD_END_MS = MINUTE
/** The embedded service has all results ready before it reports the end. */
const LONGEST_LOCAL_COLLECTION_AFTER_BAD_END_MS = 3_000
const LONGEST_STOP_MS = 3 * MINUTE

type Followed = Findings & { readonly run: Run }

/** One run: start → watch → collect. Returns what is known, and the failure if there was one. */
export async function followRun(whole: Gate, options: RunOptions = {}): Promise<Findings> {
  const gate = { ...whole, settings: { ...whole.settings, ...options.settings } }
  return options.within === undefined
    ? withTimeout(gate, 'The run', (signal) => follow(gate, options, signal))
    : follow(gate, options, options.within)
}

async function follow(gate: Gate, options: RunOptions, signal: AbortSignal): Promise<Findings> {
  const beganMs = gate.ports.clock.now()
  const show = progressOf(gate, options.stage)
  let findings: Findings = {}
  try {
    show?.({ status: 'starting', elapsedMs: 0, durationMs: undefined })
    const run = await startRun(gate, signal, options.grids)
    findings = { run }
    announceRun(gate, run, options)
    void lookForBaseline(gate)
    const handingOver = handOverThresholds(gate, run)
    if (!gate.settings.wait) {
      // Nothing else removes it later.
      await handingOver
      return leaveRunning(gate, run)
    }
    const following = {
      ...options,
      ...{ gate, run, signal, beganMs, show, health: new GridHealth() },
      // A run that was created elsewhere may be of any age.
      createdMs: gate.settings.origin.kind === 'existing' ? undefined : gate.client.latestReplyMs
    }
    const watched = await watch(following)
    const { failure, stoppedEarly } = watched
    if (failure?.kind === 'timed-out') return await collectAfterTimeout(following, failure)
    if (failure !== undefined) return watched
    return await collectResults(following, watched, { isPatient: stoppedEarly === undefined })
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}

/** Works within the time that the settings give to a run, or to all runs of the step together. */
export function withTimeout<T>(
  gate: Gate,
  subject: string,
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const { ports, settings, waitedMs = 0 } = gate
  const error = (): Error => new DeadlineError(describeTimeout(gate, subject))
  const options = { error, others: [ports.cancelled] }
  return withDeadline(ports.clock, Math.max(settings.timeoutMs - waitedMs, 1), options, work)
}

/** A service that was down, or busy with other runs, not a slow run, may have used up the time. */
function describeTimeout({ ports, settings, client, queueTime }: Gate, subject: string): string {
  const { lastFailure } = client
  const queued = queueTime?.describe(ports.clock.now())
  const timeout =
    `${subject} did not end within the timeout of ${formatDuration(settings.timeoutMs)}.` +
    (queued === undefined ? '' : ` ${queued}`)
  return lastFailure === undefined
    ? timeout
    : `${timeout} The last request to the service failed: ${asSentence(lastFailure.message)} Run the job again once the service answers.`
}

/** Meanwhile, so that the gate does not take longer. */
async function lookForBaseline(gate: Gate): Promise<void> {
  const { findBaseline, isSearched } = await loadAfterRun()
  if (isSearched(gate.settings)) await findBaseline(gate)
}

/** Reported at once, so that people can open the run while it is in progress. */
function announceRun({ ports, settings }: Gate, run: Run, { isNamed = true, stage }: RunOptions): void {
  const url = runUrl(settings, run) ?? ''
  if (isNamed) {
    ports.setOutput('run-id', run.id)
    ports.setOutput('run-url', url)
  }
  const which = stage === undefined ? 'Run' : `${capitalize(stage)}: run`
  ports.log.info(`${which} ${run.id} (${run.status})${url === '' ? '' : `: ${url}`}`)
}

function leaveRunning({ ports, saved }: Gate, run: Run): Findings {
  saved.note({ cleanupDue: false })
  const { madeGrids } = saved.state
  if (madeGrids.length > 0)
    ports.log.info(`The grids ${madeGrids.join(', ')} keep running with the run; their stop_after ends them.`)
  return { run, isDetached: true }
}

async function watch({ gate, run, signal, beganMs, show, health }: Following): Promise<Followed> {
  const { ports, client, settings, queueTime } = gate
  try {
    const early = await prepareEarlyStop(gate, signal)
    const watched = await watchRun({
      show: async () => {
        const seen = await client.showRun(run.id, signal)
        health.note(seen.grids, { hasEnded: hasEnded(seen.status) })
        return seen
      },
      ...{ log: ports.log, clock: ports.clock, signal, queueTime },
      longestMs: settings.pollIntervalMs,
      durationSeconds: settings.durationSeconds,
      onProgress: show,
      onLook: early && ((run) => early.look(run))
    })
    // If creating the run took long, or it had to be looked up, it may have been running before the watch started. Waiting is not running.
    const sinceMs = watched.waitedUntilMs ?? beganMs
    const found = { run: watched.run, watched: { ...watched, sinceMs } }
    return early?.stopped === undefined
      ? found
      : { ...found, stoppedEarly: early.stopped, isStoppedHere: true }
  } catch (thrown) {
    return { run, failure: failureOf(thrown) }
  }
}

function progressOf({ ports }: Gate, stage: string | undefined): ((progress: Progress) => void) | undefined {
  if (ports.onProgress === undefined) return undefined
  return (progress) => ports.onProgress?.({ ...progress, ...(stage !== undefined && { stage }) })
}

/** A run that the gate did not start is never stopped. */
async function prepareEarlyStop(gate: Gate, signal: AbortSignal): Promise<EarlyStopper | undefined> {
  const { settings } = gate
  if (!settings.stopEarly || settings.origin.kind === 'existing') return undefined
  const { EarlyStopper } = await loadAfterRun()
  return new EarlyStopper(gate, { signal, stop: (run) => stopRun(gate, run) })
}

async function collectResults(
  { gate, run: first, show, resultsFolder, ...following }: Following,
  findings: Followed,
  { isPatient }: { isPatient: boolean }
): Promise<Followed> {
  if (resultsFolder === null) return findings
  const { ports, settings } = gate
  const { within, longestCollectionMs = Infinity } = following
  show?.({ status: 'collecting the results', elapsedMs: 0, durationMs: undefined })
  const longestMs = Math.min(
    settings.timeoutMs,
    usualCollectionMs(settings, findings.run),
    longestCollectionMs
  )
  const error = new DeadlineError('Collecting the results timed out.')
  try {
    const { collect } = await loadAfterRun()
    const options = { ...following, first, resultsFolder, isPatient }
    const collection = await withDeadline(
      ports.clock,
      longestMs,
      { error, others: [ports.cancelled, within] },
      (signal) => collect(gate, findings.run, { ...options, signal })
    )
    const collected = { ...findings, run: collection.run, collection }
    return ports.cancelled.aborted ? { ...collected, failure: failureOf(ports.cancelled.reason) } : collected
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}

function usualCollectionMs({ target }: Settings, { status }: Run): number {
  if (phaseOf(status) === 'ended well') return LONGEST_COLLECTION_MS
  return target.kind === 'local'
    ? LONGEST_LOCAL_COLLECTION_AFTER_BAD_END_MS
    : LONGEST_COLLECTION_AFTER_BAD_END_MS
}

/** Stops the run, unless the gate did not start it, and collects the results so far. The verdict is still a timeout. */
async function collectAfterTimeout(following: Following, failure: Failure): Promise<Findings> {
  const { gate, run } = following
  const { ports, settings } = gate
  if (settings.origin.kind === 'existing') return { run, failure }
  ports.log.warning(
    `The timeout of ${formatDuration(settings.timeoutMs)} has passed: stopping run ${run.id}.`
  )
  const stopped = { ...(await stopRun(gate, run)), isStoppedHere: true }
  const late = { ...following, within: undefined, longestCollectionMs: undefined }
  const found =
    stopped.failure === undefined ? await collectResults(late, stopped, { isPatient: false }) : stopped
  if (found.failure !== undefined) ports.log.warning(`After the timeout: ${found.failure.message}`)
  return { ...found, failure: ports.cancelled.aborted ? failureOf(ports.cancelled.reason) : failure }
}

async function stopRun({ ports, client, saved }: Gate, run: Run): Promise<Followed> {
  const { clock, cancelled } = ports
  const error = new Error('the run did not end in time after the stop request')
  // A run that is over for the gate is stopped, regardless of stop-on-cancel.
  saved.noteDone({ leaveIfKilled: false })
  try {
    const end = (signal: AbortSignal): Promise<Run> => endRun(client, run.id, { clock, signal })
    return { run: await withDeadline(clock, LONGEST_STOP_MS, { error, others: [cancelled] }, end) }
  } catch (thrown) {
    return { run, failure: failureOf(thrown) }
  }
}

/** Follows one run to its end, cleans up, and returns everything known about it. */
export async function findOut(gate: Gate, options: RunOptions = {}): Promise<Findings> {
  const found = await followRun(gate, options)
  const findings = { ...found, endedMs: gate.ports.clock.now() }
  try {
    return await collectPartial(gate, await cleanUpRun(gate, findings))
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}

/** After a cancellation, what the embedded service has measured so far is read and reported, if there is time. */
export async function collectPartial(gate: Gate, findings: Findings): Promise<Findings> {
  const { ports, client } = gate
  const { run } = findings
  const withinMs = leftMs(gate, findings)
  if (run === undefined || withinMs <= 0 || !isCutOff(gate, findings)) return findings
  const error = new Error('there was no time left')
  const { collect } = await loadAfterRun()
  return withDeadline(ports.clock, withinMs, { error }, async (signal) => {
    const shown = await client.showRun(run.id, signal)
    // A CSV that still grows is not a result.
    if (!hasEnded(shown.status)) return findings
    const collection = await collect(gate, shown, { signal, isPatient: false })
    return { ...findings, run: shown, collection }
  }).catch((thrown: unknown) => {
    ports.log.info(`The partial results could not be read: ${messageOf(thrown)}`)
    return findings
  })
}
