import type { Outcome } from '../report/outcome.js'
import { readAddress } from '../service/address.js'
import { ServiceClient } from '../service/client.js'
import { basicAuthorization } from '../service/http.js'
import { vocabularyOf } from '../service/vocabulary.js'
import type { Run } from '../service/documents.js'
import { cleanUp } from './clean-up.js'
import { collect } from './collect.js'
import { conclude } from './conclude.js'
import type { Findings } from './conclude.js'
import { startDeadline } from './deadline.js'
import { formatDuration } from './durations.js'
import { endRun } from './end-run.js'
import type { Gate } from './gate.js'
import { Ledger } from './ledger.js'
import { publish } from './publish.js'
import { hasEnded } from './run-status.js'
import { runUrl } from './run-url.js'
import type { Settings } from './settings.js'
import { startRun } from './start-run.js'
import type { StepState } from './step-state.js'
import { DeadlineError, messageOf, troubleOf } from './trouble.js'
import { watchRun } from './watch-run.js'
import type { Workbench } from './workbench.js'

const MINUTE = 60_000
const LONGEST_COLLECTION_MS = 10 * MINUTE
/** A run that ended badly may never have results; nobody waits ten minutes for them. */
const LONGEST_COLLECTION_AFTER_BAD_END_MS = MINUTE
/** The runner sends SIGTERM 7.5 s after SIGINT: what is to be stopped must be stopped by then. */
const STOP_ON_CANCEL_MS = 5_000
const STOP_ON_TROUBLE_MS = 3 * MINUTE

/** The story: start → watch → collect → judge → publish, and nothing left running. */
export async function runGate(bench: Workbench, settings: Settings): Promise<Outcome> {
  const findings: Findings = {}
  const gate = await openGate(bench, settings, findings)
  if (gate !== undefined) {
    await findOut(gate, findings)
    await tidyUp(gate, findings)
    await closeAll(gate)
  }
  const outcome = conclude(settings, findings)
  const withArtifact =
    outcome.run !== undefined && outcome.verdict !== 'cancelled' && outcome.verdict !== 'detached'
  await publish(bench, { settings, outcome, collection: findings.collection, withArtifact })
  return outcome
}

/** What cannot be closed must not cost the verdict. */
async function closeAll({ client, local, bench }: Gate): Promise<void> {
  try {
    await client.close()
    await local?.close()
  } catch (thrown) {
    bench.log.warning(`The service's end could not be awaited: ${messageOf(thrown)}`)
  }
}

async function openGate(bench: Workbench, settings: Settings, findings: Findings): Promise<Gate | undefined> {
  const { target, serviceName } = settings
  try {
    const ledger = new Ledger(initialState(settings), (state) => bench.saveState(state))
    const local =
      target.kind === 'local'
        ? await bench.startLocalService({
            serviceName,
            onProcessGroup: (group) => ledger.note({ processGroups: [...ledger.state.processGroups, group] })
          })
        : undefined
    const address = target.kind === 'local' ? readAddress(local?.url ?? '') : target.address
    const token = target.kind === 'local' ? (local?.token ?? '') : target.token
    if (local !== undefined) maskToken(bench, token)
    const client = new ServiceClient({ address, token, words: vocabularyOf(serviceName), clock: bench.clock })
    return { bench, settings, client, ledger, local }
  } catch (thrown) {
    findings.trouble = troubleOf(thrown)
    return undefined
  }
}

function initialState({ target, serviceName }: Settings): StepState {
  return {
    address: target.kind === 'remote' ? target.address.api : '',
    token: target.kind === 'remote' ? target.token : '',
    serviceName,
    marker: undefined,
    runId: undefined,
    madeGrids: [],
    processGroups: [],
    cleanupDue: false
  }
}

/** The runner masks what it is told; the header's value is the token in another dress. */
export function maskToken(bench: Pick<Workbench, 'mask'>, token: string): void {
  if (token === '') return
  bench.mask(token)
  bench.mask(basicAuthorization(token).slice('Basic '.length))
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
    const run = (findings.run = await startRun(gate, deadline.signal))
    tellRun(gate, run)
    if (!settings.wait) {
      leaveRunning(gate, findings)
      return
    }
    findings.watched = await watchRun({
      show: () => client.showRun(run.id, deadline.signal),
      log,
      clock,
      signal: deadline.signal,
      longestMs: settings.pollIntervalMs,
      durationSeconds: settings.durationSeconds,
      isNew: settings.origin.kind !== 'existing',
      onProgress: (progress) => bench.onProgress?.(progress)
    })
    findings.run = findings.watched.run
    await collectResults(gate, findings)
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
  findings.isDetached = true
  const { madeGrids } = ledger.state
  if (madeGrids.length > 0)
    bench.log.info(`The grids ${madeGrids.join(', ')} are left to the run; their stop_after ends them.`)
  ledger.note({ cleanupDue: false })
}

async function collectResults(gate: Gate, findings: Findings): Promise<void> {
  const { bench, settings } = gate
  const { run } = findings
  if (run === undefined) return
  const longestMs = run.status === 'finished' ? LONGEST_COLLECTION_MS : LONGEST_COLLECTION_AFTER_BAD_END_MS
  const deadline = startDeadline(bench.clock, Math.min(settings.timeoutMs, longestMs), {
    error: new DeadlineError('The time for collecting the results is over.'),
    others: [bench.cancelled]
  })
  try {
    findings.collection = await collect(gate, run, deadline.signal)
  } finally {
    deadline.release()
  }
  bench.cancelled.throwIfAborted()
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
  try {
    bench.log.warning(`The timeout of ${formatDuration(settings.timeoutMs)} is over: stopping run ${run.id}.`)
    findings.run = await endRun(client, run.id, { clock: bench.clock, signal: deadline.signal })
    await collectResults(gate, findings)
  } catch (thrown) {
    if (bench.cancelled.aborted) findings.trouble = troubleOf(bench.cancelled.reason)
    bench.log.warning(`After the timeout: ${messageOf(thrown)}`)
  } finally {
    deadline.release()
  }
}

/** Ends what is left of the step's own; what is left on purpose is told. */
async function tidyUp(gate: Gate, findings: Findings): Promise<void> {
  const { bench, settings, client, ledger } = gate
  const { state } = ledger
  if (!state.cleanupDue) return
  const isCancelled = findings.trouble?.kind === 'cancelled'
  const isRunning = findings.run === undefined || !hasEnded(findings.run.status)
  if (isCancelled && isRunning && !settings.stopOnCancel) {
    bench.log.info(
      'stop-on-cancel is false: the run is left running, and the stop_after of its grids ends them.'
    )
    ledger.note({ cleanupDue: false })
    return
  }
  const deadline = startDeadline(bench.clock, isCancelled ? STOP_ON_CANCEL_MS : STOP_ON_TROUBLE_MS, {
    error: new Error('there was no time left')
  })
  // After a lost reply the run was looked for already; a list that lags even more is the post step's to look at.
  const wasLookedFor = findings.run === undefined && findings.trouble?.kind === 'error'
  const left = !isRunning || wasLookedFor ? { ...state, runId: undefined, marker: undefined } : state
  const { clock, log } = bench
  const isClean = await cleanUp(left, { client, clock, log, signal: deadline.signal })
  deadline.release()
  // Whatever could not be ended here is the post step's to end.
  if (isClean && !(wasLookedFor && state.marker !== undefined)) ledger.note({ cleanupDue: false })
}
