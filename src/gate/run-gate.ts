import { randomBytes } from 'node:crypto'
import type { Outcome } from '../analysis/outcome.js'
import { readAddress, type Address } from '../client/http/address.js'
import type { Regions } from '../contract/regions/regions.js'
import type { ServiceClient } from '../client/client.js'
import { vocabularyOf } from '../contract/vocabulary.js'
import { formatDuration } from '../contract/sentence.js'
import { probe, type ProbeResult } from '../client/http/probe.js'
import { failureOf, type Failure, DeadlineError } from './errors.js'
import type { Findings } from './findings.js'
import { findOut, loadAfterRun } from './follow-run.js'
import { type Gate, openClient as openClientFor } from './gate.js'
import type { Ports, LocalService, RegionsRequest } from './ports.js'
import { warnOfPlan } from './preflight.js'
import { QueueTime } from './run/queue-time.js'
import { describeShortSecrets, markedValues, secretParameters } from './settings/secret-parameters.js'
import type { Settings } from './settings/settings.js'
import { describeUnused } from './settings/unused-inputs.js'
import { serviceFolder } from './cleanup/service-folder.js'
import { startDeadline } from './deadline.js'
import { SavedState } from './saved-state.js'
import { maskToken, withoutSecrets } from './settings/service-values.js'
import type { StepState } from './step-state.js'
import type { WaitFor } from './settings/target-settings.js'

/** The whole gate: open → start → watch → collect → judge → close → publish → record, and nothing left running. */
export async function runGate(ports: Ports, settings: Settings): Promise<Outcome> {
  await checkSettings(ports, settings)
  const opened = await open(ports, settings)
  const findings = await follow(opened)
  ports.onProgress?.({ status: 'finishing', elapsedMs: 0, durationMs: undefined })
  const { conclude, withoutBaselineLines, closeGate, publish, recordBaseline } = await loadAfterRun()
  const judged = conclude(settings, findings)
  const { logs, notes } = await closeGate(opened.gate, findings, judged)
  const outcome = { ...judged, notes: [...judged.notes, ...notes] }
  await publish(ports, { settings, outcome, collection: findings.collection, logs })
  const alone = withoutBaselineLines(settings, findings, outcome)
  await recordBaseline(ports, { settings, findings, alone })
  return outcome
}

/** Says what is odd about the settings, and throws for an input that cannot be meant. */
async function checkSettings(ports: Ports, settings: Settings): Promise<void> {
  for (const secret of markedValues(settings)) ports.mask(secret)
  for (const words of [describeUnused(settings), describeShortSecrets(settings)])
    if (words !== undefined) ports.log.warning(words)
  // Only a run that is created from files has a plan to look at.
  if (settings.origin.kind === 'files') await warnOfPlan(ports, settings)
}

/** The gate, or why nothing could be started. */
type Opened = { readonly gate: Gate } | { readonly gate: undefined; readonly failure: Failure }

async function open(ports: Ports, settings: Settings): Promise<Opened> {
  try {
    const waitedMs = await waitForTarget(ports, settings)
    const gate = await openGate(ports, settings)
    return { gate: { ...gate, waitedMs, queueTime: new QueueTime(), earlierResults: [] } }
  } catch (thrown) {
    return { gate: undefined, failure: failureOf(thrown) }
  }
}

/** start → watch → collect: of base and head side by side, or of one run and those that confirm it. */
async function follow(opened: Opened): Promise<Findings> {
  if (opened.gate === undefined) return { failure: opened.failure }
  const { gate } = opened
  let findings: Findings = {}
  try {
    if (gate.settings.baseline.source.kind === 'side-by-side') {
      const { followSideBySide } = await import('./side-by-side/follow-side-by-side.js')
      return await followSideBySide(gate)
    }
    findings = await findOut(gate)
    const { compareWithBaseline } = await loadAfterRun()
    findings = await compareWithBaseline(gate, findings)
    const { confirmRuns } = await import('./confirm-runs.js')
    return await confirmRuns(gate, findings)
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}

/** Starts the embedded service if the run is local, opens a client, and saves the step's initial state. */
export async function openGate(ports: Ports, settings: Settings): Promise<Gate> {
  const { target, serviceName } = settings
  const saved = new SavedState(
    initialState(ports, settings),
    (state) => ports.saveState(state),
    (message) => ports.log.warning(message)
  )
  if (target.kind === 'remote') {
    const { address, token } = target
    return { ports, settings, saved, local: undefined, client: openClient(address, token) }
  }
  const start = (regions?: RegionsRequest): Promise<LocalService> =>
    ports.startLocalService({
      serviceName,
      onProcessGroup: (group) => saved.noteDone({ processGroups: [...saved.state.processGroups, group] }),
      ...(regions && { regions })
    })
  const local = await (
    settings.regions === undefined ? start() : startWithRegions(start, settings.regions)
  ).catch((thrown: unknown) => {
    // A service that did not start has started no pods: there is nothing to look for.
    if (saved.state.clusters !== undefined) saved.noteDone({ clusters: undefined })
    throw thrown
  })
  maskToken(ports, local.token)
  return { ports, settings, saved, local, client: openClient(readAddress(local.url), local.token) }

  /** Nothing runs yet, so that a signal or the timeout can end it at once. */
  async function startWithRegions(
    start: (regions: RegionsRequest) => Promise<LocalService>,
    places: Regions
  ): Promise<LocalService> {
    const words = `The clusters of regions could not be checked within the timeout of ${formatDuration(settings.timeoutMs)}.`
    const deadline = startDeadline(ports.clock, settings.timeoutMs, {
      error: new DeadlineError(words),
      others: [ports.cancelled]
    })
    try {
      return await start(requestRegions(places, { ports, saved, signal: deadline.signal }))
    } finally {
      deadline.release()
    }
  }

  function openClient(address: Address, token: string): ServiceClient {
    // The embedded service redacts them itself, including what they become in the plan.
    const secrets = target.kind === 'remote' ? secretParameters(settings) : []
    const words = vocabularyOf(serviceName)
    return openClientFor(ports, { address, token, secrets, words, clock: ports.clock })
  }
}

function requestRegions(
  places: Regions,
  { ports, saved, signal }: { ports: Ports; saved: SavedState; signal: AbortSignal }
): RegionsRequest {
  const marker = randomBytes(12).toString('hex')
  return {
    places,
    marker,
    signal,
    onClusters: (addresses) => saved.note({ clusters: { marker, addresses } }),
    onLeft: (words) => {
      ports.log.warning(words)
      const { clusters } = saved.state
      if (clusters !== undefined) saved.noteDone({ clusters: { ...clusters, hasLeft: true } })
    }
  }
}

function initialState({ scratchDir }: Ports, { target, serviceName, stopOnCancel }: Settings): StepState {
  return {
    address: target.kind === 'remote' ? target.address.api : '',
    token: target.kind === 'remote' ? target.token : '',
    serviceName,
    marker: undefined,
    runId: undefined,
    madeGrids: [],
    processGroups: [],
    serviceDir: target.kind === 'local' ? serviceFolder(scratchDir) : undefined,
    cleanupDue: false,
    leaveIfKilled: !stopOnCancel
  }
}

const LONGEST_ATTEMPT_MS = 5_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 3_000
/** A shorter wait is not worth a line. */
const WORTH_TELLING_MS = 1_000

/** The target has not answered in time; nothing was started. */
class NotReadyError extends Error {
  override name = 'NotReadyError'
}

type WaitPorts = Pick<Ports, 'clock' | 'log' | 'cancelled'>

/** Waits until the target answers, before anything is created or started. Returns how long that took; throws if it does not in time. */
export async function waitForTarget(
  ports: WaitPorts,
  { waitFor, origin, timeoutMs }: Pick<Settings, 'waitFor' | 'origin' | 'timeoutMs'>
): Promise<number> {
  // A run that exists already has its load.
  if (waitFor === undefined || origin.kind === 'existing') return 0
  const { clock, cancelled } = ports
  let last = 'it did not reply'
  const isWholeTimeout = timeoutMs < waitFor.timeoutMs
  const deadline = startDeadline(clock, Math.min(timeoutMs, waitFor.timeoutMs), {
    error: () =>
      isWholeTimeout
        ? new DeadlineError(
            describe(waitFor, last, {
              limit: `the timeout of ${formatDuration(timeoutMs)}`,
              remedy: 'raise `timeout`, which is shorter than that of wait-for'
            })
          )
        : new NotReadyError(
            describe(waitFor, last, {
              limit: formatDuration(waitFor.timeoutMs),
              remedy: `give it more time: \`wait-for: ${withoutSecrets(waitFor.url.href)} ${longer(waitFor)}\``
            })
          ),
    others: [cancelled]
  })
  try {
    const startedMs = clock.now()
    await poll(ports, waitFor, { signal: deadline.signal, onFailure: (failure) => (last = failure) })
    return clock.now() - startedMs
  } finally {
    deadline.release()
  }
}

async function poll(
  { clock, log }: WaitPorts,
  { url, timeoutMs }: WaitFor,
  { signal, onFailure }: { signal: AbortSignal; onFailure: (failure: string) => void }
): Promise<void> {
  const startedMs = clock.now()
  const shown = withoutSecrets(url.href)
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    const result = await attemptOnce(clock, url, signal)
    if ('status' in result && result.status < 500) {
      const tookMs = clock.now() - startedMs
      if (tookMs >= WORTH_TELLING_MS)
        log.info(`${shown} answered ${result.status} after ${formatDuration(tookMs)}.`)
      return
    }
    const failure = 'status' in result ? `it answered ${result.status}` : result.failure
    if (attempt === 0)
      log.info(`Waiting for ${shown} to answer, for at most ${formatDuration(timeoutMs)}: ${failure}.`)
    onFailure(failure)
    await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS), signal)
  }
}

/** A server that accepts the connection and says nothing is not ready either. */
async function attemptOnce(clock: Ports['clock'], url: URL, signal: AbortSignal): Promise<ProbeResult> {
  const slow = new Error('slow')
  const deadline = startDeadline(clock, LONGEST_ATTEMPT_MS, { error: slow, others: [signal] })
  try {
    return await probe(url, { signal: deadline.signal })
  } catch (thrown) {
    if (thrown !== slow) throw thrown
    return { kind: 'other', failure: `${url.host} did not answer within ${LONGEST_ATTEMPT_MS / 1000} s` }
  } finally {
    deadline.release()
  }
}

/** In minutes, and at least twice as long. */
function longer({ timeoutMs }: WaitFor): string {
  return `${Math.max(5, Math.ceil((timeoutMs * 2) / 60_000))}m`
}

function describe(
  { url }: WaitFor,
  last: string,
  { limit, remedy }: { limit: string; remedy: string }
): string {
  const shown = withoutSecrets(url.href)
  return `wait-for: ${shown} did not answer within ${limit}, so that no load was started. The last attempt: ${last}. Is the server started in an earlier step, and does it listen on port ${portOf(url)}? If it needs longer, ${remedy}.`
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}
