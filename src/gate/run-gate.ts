import type { Outcome } from '../report/outcome.js'
import type { Run } from '../service/documents/documents.js'
import type { CollectOptions } from './collect/collect.js'
import type { Findings } from './verdict/conclude.js'
import { startDeadline } from './deadline.js'
import { formatDuration } from './settings/durations.js'
import { endRun } from './run/end-run.js'
import type { Gate } from './gate.js'
import { keepPartial, notePartial } from './collect/keep-partial.js'
import { showRun } from './collect/late-values.js'
import { closeGate, openGate } from './open-gate.js'
import { phaseOf } from './run/run-status.js'
import { runUrl } from './run/run-url.js'
import type { Settings } from './settings/settings.js'
import { startRun } from './run/start-run.js'
import { tidyUp } from './cleanup/main-step.js'
import { DeadlineError, messageOf, troubleOf } from './errors.js'
import { watchRun } from './run/watch-run.js'
import type { Workbench } from './ports.js'

/** What is needed once the run has ended is loaded while it runs: the run is started sooner without it. */
const loadSecondHalf = () => import('./after-run.js')

const MINUTE = 60_000
const LONGEST_COLLECTION_MS = 10 * MINUTE
/** A run that ended badly may never have results; nobody waits ten minutes for them. */
const LONGEST_COLLECTION_AFTER_BAD_END_MS = MINUTE
/** The embedded service has everything in place before it tells the end. */
const LONGEST_LOCAL_COLLECTION_AFTER_BAD_END_MS = 3_000
const STOP_ON_TROUBLE_MS = 3 * MINUTE

/** The story: start → watch → collect → judge → publish, and nothing left running. */
export async function runGate(bench: Workbench, settings: Settings): Promise<Outcome> {
  const findings: Findings = {}
  try {
    const gate = await openGate(bench, settings)
    await findOut(gate, findings)
    const endedMs = bench.clock.now()
    await tidyUp(gate, findings)
    await (await loadSecondHalf()).keepLogs(gate, findings)
    await closeGate(gate, await keepPartial(gate, findings, endedMs))
    await notePartial(gate, findings)
  } catch (thrown) {
    findings.trouble = troubleOf(thrown)
  }
  const { conclude, publish } = await loadSecondHalf()
  const outcome = conclude(settings, findings)
  const withArtifact =
    outcome.run !== undefined && outcome.verdict !== 'cancelled' && outcome.verdict !== 'detached'
  await publish(bench, {
    settings,
    outcome,
    collection: findings.collection,
    logs: findings.logs,
    withArtifact
  })
  return outcome
}

/** Fills in the findings as they come, so that what was found before a trouble is kept. */
async function findOut(gate: Gate, findings: Findings): Promise<void> {
  const { bench, settings, client } = gate
  const { clock, log, cancelled } = bench
  const deadline = startDeadline(clock, settings.timeoutMs, {
    error: new DeadlineError(
      `The run did not end within the timeout of ${formatDuration(settings.timeoutMs)}.`
    ),
    others: [cancelled]
  })
  try {
    const beganMs = clock.now()
    const run = (findings.run = await startRun(gate, deadline.signal))
    tellRun(gate, run)
    void loadSecondHalf()
    if (!settings.wait) {
      leaveRunning(gate, findings)
      return
    }
    const watched = await watchRun({
      show: () => showRun(client, run.id, deadline.signal),
      log,
      clock,
      signal: deadline.signal,
      longestMs: settings.pollIntervalMs,
      durationSeconds: settings.durationSeconds,
      onProgress: (progress) => bench.onProgress?.(progress)
    })
    // A run whose creation took long, or was looked for, may have run before the watch began.
    findings.watched = { ...watched, sinceMs: beganMs }
    findings.run = watched.run
    await collectResults(gate, findings, { first: run })
  } catch (thrown) {
    findings.trouble = troubleOf(thrown)
    if (findings.trouble.kind === 'timed-out') await collectAfterTimeout(gate, findings)
  } finally {
    deadline.release()
  }
}

/** At once: a person who waits wants to look at the run itself. */
function tellRun({ bench, settings }: Gate, run: Run): void {
  const url = runUrl(settings, run) ?? ''
  bench.setOutput('run-id', run.id)
  bench.setOutput('run-url', url)
  bench.log.info(`Run ${run.id} (${run.status})${url === '' ? '' : `: ${url}`}`)
}

function leaveRunning({ bench, ledger }: Gate, findings: Findings): void {
  ledger.note({ cleanupDue: false })
  findings.isDetached = true
  const { madeGrids } = ledger.state
  if (madeGrids.length > 0)
    bench.log.info(`The grids ${madeGrids.join(', ')} are left to the run; their stop_after ends them.`)
}

async function collectResults(
  gate: Gate,
  findings: Findings,
  options: Omit<CollectOptions, 'signal'>
): Promise<void> {
  const { bench, settings } = gate
  const { run } = findings
  if (run === undefined) return
  const longestMs = longestCollectionMs(settings, run)
  const deadline = startDeadline(bench.clock, Math.min(settings.timeoutMs, longestMs), {
    error: new DeadlineError('The time for collecting the results is over.'),
    others: [bench.cancelled]
  })
  try {
    const { collect } = await loadSecondHalf()
    findings.collection = await collect(gate, run, { ...options, signal: deadline.signal })
    findings.run = findings.collection.run
  } finally {
    deadline.release()
  }
  bench.cancelled.throwIfAborted()
}

function longestCollectionMs({ target }: Settings, { status }: Run): number {
  if (phaseOf(status) === 'ended well') return LONGEST_COLLECTION_MS
  return target.kind === 'local'
    ? LONGEST_LOCAL_COLLECTION_AFTER_BAD_END_MS
    : LONGEST_COLLECTION_AFTER_BAD_END_MS
}

/** The run is stopped, unless it is somebody else's, and what it has brought so far is collected. */
async function collectAfterTimeout(gate: Gate, findings: Findings): Promise<void> {
  const { bench, client, settings } = gate
  const { run } = findings
  if (run === undefined || settings.origin.kind === 'existing') return
  const deadline = startDeadline(bench.clock, STOP_ON_TROUBLE_MS, {
    error: new Error('the run did not end in time after it was told to stop'),
    others: [bench.cancelled]
  })
  // What has run out of its time is stopped, whatever stop-on-cancel says.
  gate.ledger.noteDone({ leaveIfKilled: false })
  try {
    bench.log.warning(`The timeout of ${formatDuration(settings.timeoutMs)} is over: stopping run ${run.id}.`)
    findings.run = await endRun(client, run.id, { clock: bench.clock, signal: deadline.signal })
    await collectResults(gate, findings, { first: run, isPatient: false })
  } catch (thrown) {
    if (bench.cancelled.aborted) findings.trouble = troubleOf(bench.cancelled.reason)
    bench.log.warning(`After the timeout: ${messageOf(thrown)}`)
  } finally {
    deadline.release()
  }
}
