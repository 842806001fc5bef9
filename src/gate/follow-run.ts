import type { Run } from '../service/documents/documents.js'
import type { CollectOptions } from './collect/collect.js'
import { startDeadline } from './deadline.js'
import { DeadlineError, failureOf } from './errors.js'
import type { Failure } from './errors.js'
import type { Findings } from './findings.js'
import type { Gate } from './gate.js'
import { endRun } from './run/end-run.js'
import { phaseOf } from './run/run-status.js'
import { runUrl } from './run/run-url.js'
import { showRun } from './run/show-run.js'
import { startRun } from './run/start-run.js'
import { watchRun } from './run/watch-run.js'
import { formatDuration } from './settings/durations.js'
import type { Settings } from './settings/settings.js'

/** What is needed once the run has ended is loaded while it runs: the run is started sooner without it. */
export const loadAfterRun = () => import('./after-run.js')

const MINUTE = 60_000
const LONGEST_COLLECTION_MS = 10 * MINUTE
/** A run that ended badly may never have results; nobody waits ten minutes for them. */
const LONGEST_COLLECTION_AFTER_BAD_END_MS = MINUTE
/** The embedded service has everything in place before it tells the end. */
const LONGEST_LOCAL_COLLECTION_AFTER_BAD_END_MS = 3_000
const STOP_ON_TROUBLE_MS = 3 * MINUTE

/** A run of which something is known. */
type Followed = Findings & { readonly run: Run }

/** Start → watch → collect. Each step answers what it found, with what was found before it, and with its failure if there was one. */
export async function followRun(gate: Gate): Promise<Findings> {
  const { ports, settings } = gate
  const beganMs = ports.clock.now()
  const deadline = startDeadline(ports.clock, settings.timeoutMs, {
    error: new DeadlineError(
      `The run did not end within the timeout of ${formatDuration(settings.timeoutMs)}.`
    ),
    others: [ports.cancelled]
  })
  try {
    const started = await start(gate, deadline.signal)
    if (started.run === undefined || started.failure !== undefined || started.isDetached) return started
    const first = started.run
    const watched = await watch(gate, first, { signal: deadline.signal, beganMs })
    const { failure } = watched
    if (failure === undefined) return await collectResults(gate, watched, { first })
    return failure.kind === 'timed-out' ? await collectAfterTimeout(gate, first, failure) : watched
  } finally {
    deadline.release()
  }
}

async function start(gate: Gate, signal: AbortSignal): Promise<Findings> {
  let run: Run | undefined
  try {
    run = await startRun(gate, signal)
    tellRun(gate, run)
    void loadAfterRun()
    return gate.settings.wait ? { run } : leaveRunning(gate, run)
  } catch (thrown) {
    return { ...(run !== undefined && { run }), failure: failureOf(thrown) }
  }
}

/** At once: a person who waits wants to look at the run itself. */
function tellRun({ ports, settings }: Gate, run: Run): void {
  const url = runUrl(settings, run) ?? ''
  ports.setOutput('run-id', run.id)
  ports.setOutput('run-url', url)
  ports.log.info(`Run ${run.id} (${run.status})${url === '' ? '' : `: ${url}`}`)
}

function leaveRunning({ ports, saved }: Gate, run: Run): Findings {
  saved.note({ cleanupDue: false })
  const { madeGrids } = saved.state
  if (madeGrids.length > 0)
    ports.log.info(`The grids ${madeGrids.join(', ')} are left to the run; their stop_after ends them.`)
  return { run, isDetached: true }
}

async function watch(
  { ports, client, settings }: Gate,
  run: Run,
  { signal, beganMs }: { signal: AbortSignal; beganMs: number }
): Promise<Followed> {
  try {
    const watched = await watchRun({
      show: () => showRun(client, run.id, signal),
      log: ports.log,
      clock: ports.clock,
      signal,
      longestMs: settings.pollIntervalMs,
      durationSeconds: settings.durationSeconds,
      onProgress: (progress) => ports.onProgress?.(progress)
    })
    // A run whose creation took long, or was looked for, may have run before the watch began.
    return { run: watched.run, watched: { ...watched, sinceMs: beganMs } }
  } catch (thrown) {
    return { run, failure: failureOf(thrown) }
  }
}

async function collectResults(
  gate: Gate,
  findings: Followed,
  options: Omit<CollectOptions, 'signal'>
): Promise<Followed> {
  const { ports, settings } = gate
  const longestMs = longestCollectionMs(settings, findings.run)
  const deadline = startDeadline(ports.clock, Math.min(settings.timeoutMs, longestMs), {
    error: new DeadlineError('The time for collecting the results is over.'),
    others: [ports.cancelled]
  })
  try {
    const { collect } = await loadAfterRun()
    const collection = await collect(gate, findings.run, { ...options, signal: deadline.signal })
    const collected = { ...findings, run: collection.run, collection }
    return ports.cancelled.aborted ? { ...collected, failure: failureOf(ports.cancelled.reason) } : collected
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  } finally {
    deadline.release()
  }
}

function longestCollectionMs({ target }: Settings, { status }: Run): number {
  if (phaseOf(status) === 'ended well') return LONGEST_COLLECTION_MS
  return target.kind === 'local'
    ? LONGEST_LOCAL_COLLECTION_AFTER_BAD_END_MS
    : LONGEST_COLLECTION_AFTER_BAD_END_MS
}

/** The run is stopped, unless it is somebody else's, and what it has brought so far is collected. It has timed out all the same. */
async function collectAfterTimeout(gate: Gate, run: Run, failure: Failure): Promise<Findings> {
  const { ports, settings } = gate
  if (settings.origin.kind === 'existing') return { run, failure }
  const stopped = { ...(await stopRun(gate, run)), isStoppedHere: true }
  const found =
    stopped.failure === undefined
      ? await collectResults(gate, stopped, { first: run, isPatient: false })
      : stopped
  if (found.failure !== undefined) ports.log.warning(`After the timeout: ${found.failure.message}`)
  return { ...found, failure: ports.cancelled.aborted ? failureOf(ports.cancelled.reason) : failure }
}

async function stopRun({ ports, client, saved, settings }: Gate, run: Run): Promise<Followed> {
  const { clock, cancelled, log } = ports
  const deadline = startDeadline(clock, STOP_ON_TROUBLE_MS, {
    error: new Error('the run did not end in time after it was told to stop'),
    others: [cancelled]
  })
  // What has run out of its time is stopped, whatever stop-on-cancel says.
  saved.noteDone({ leaveIfKilled: false })
  try {
    log.warning(`The timeout of ${formatDuration(settings.timeoutMs)} is over: stopping run ${run.id}.`)
    return { run: await endRun(client, run.id, { clock, signal: deadline.signal }) }
  } catch (thrown) {
    return { run, failure: failureOf(thrown) }
  } finally {
    deadline.release()
  }
}
