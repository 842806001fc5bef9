import { randomBytes } from 'node:crypto'
import type { ClientOptions, ServiceClient } from '../client/client.js'
import { knownAddress, type Address } from '../client/http/address.js'
import { probe, type ProbeResult } from '../client/http/probe.js'
import type { Regions } from '../contract/regions/regions.js'
import { formatDuration } from '../contract/text.js'
import { vocabularyOf } from '../contract/vocabulary.js'
import { serviceFolder } from './cleanup/post-step.js'
import { withDeadline } from './deadline.js'
import { DeadlineError } from './errors.js'
import { type Gate, noteAddress, noteWarning, openClient as openClientFor, tokenFor } from './gate.js'
import type { Ports, RegionsRequest, LocalService } from './ports.js'
import { NOTHING, SavedState, type StepState } from './saved-state.js'
import { secretParameters } from './settings/secret-parameters.js'
import { withoutSecrets } from '../contract/setting-values.js'
import type { WaitFor } from './settings/target-settings.js'
import { maskToken } from './settings/token-settings.js'
import type { Settings } from './settings/settings.js'

/** Starts the embedded service if the run is local, opens a client, and saves the step's initial state. */
export async function openGate(ports: Ports, settings: Settings): Promise<Gate> {
  const { target, serviceName } = settings
  const saved = new SavedState(
    initialState(ports, settings),
    (state) => ports.saveState(state),
    (message) => ports.log.warning(message)
  )
  if (target.kind === 'remote') {
    const client = openClient(target.address, tokenFor(ports, target))
    return { ports, settings, saved, local: undefined, client }
  }
  const start = (regions?: RegionsRequest): Promise<LocalService> =>
    ports.startLocalService({
      serviceName,
      onProcessGroup: (group) => saved.noteDone({ processGroups: [...saved.state.processGroups, group] }),
      ...(regions && { regions })
    })
  const { regions } = settings
  const local = await (regions === undefined ? start() : startWithRegions(regions)).catch(
    (thrown: unknown) => {
      // A service that did not start has started no pods: there is nothing to look for.
      if (saved.state.clusters !== undefined) saved.noteDone({ clusters: undefined })
      throw thrown
    }
  )
  maskToken(ports, local.token)
  return { ports, settings, saved, local, client: openClient(knownAddress(`${local.url}/api`), local.token) }

  /** Nothing runs yet, so that a signal or the timeout can end it at once. */
  async function startWithRegions(places: Regions): Promise<LocalService> {
    const words = `The clusters of regions could not be checked within the timeout of ${formatDuration(settings.timeoutMs)}.`
    const options = { error: new DeadlineError(words), others: [ports.cancelled] }
    return withDeadline(ports.clock, settings.timeoutMs, options, (signal) =>
      start(requestRegions(places, { ports, saved, signal }))
    )
  }

  function openClient(address: Address, token: ClientOptions['token']): ServiceClient {
    // The embedded service redacts them itself, including what they become in the plan.
    const secrets = target.kind === 'remote' ? secretParameters(settings) : []
    const words = vocabularyOf(serviceName)
    const onAddress = noteAddress(ports.log, saved)
    const onWarning = noteWarning(ports.log)
    return openClientFor(ports, { address, token, secrets, words, clock: ports.clock, onAddress, onWarning })
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
  const own =
    target.kind === 'remote'
      ? { address: target.address.api, token: target.token, idToken: target.idToken }
      : { address: '', token: '', serviceDir: serviceFolder(scratchDir) }
  return { ...NOTHING, ...own, serviceName, leaveIfKilled: !stopOnCancel }
}

const LONGEST_ATTEMPT_MS = 5_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 3_000
/** A shorter wait is not worth a line. */
const WORTH_TELLING_MS = 1_000

/** The target has not answered in time; nothing was started. */
class NotReadyError extends Error {}

/** Waits until the target answers, before anything is created or started. Returns how long that took; throws if it does not in time. */
export async function waitForTarget(
  { clock, log, cancelled }: Pick<Ports, 'clock' | 'log' | 'cancelled'>,
  { waitFor, origin, timeoutMs }: Pick<Settings, 'waitFor' | 'origin' | 'timeoutMs'>
): Promise<number> {
  // A run that exists already has its load.
  if (waitFor === undefined || origin.kind === 'existing') return 0
  const { url } = waitFor
  const shown = withoutSecrets(url.href)
  const startedMs = clock.now()
  let last = 'it did not reply'
  const error = (): Error =>
    timeoutMs < waitFor.timeoutMs
      ? new DeadlineError(describeTimeout(waitFor, last, timeoutMs))
      : new NotReadyError(describeTimeout(waitFor, last))
  const poll = async (signal: AbortSignal): Promise<number> => {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      const result = await attemptOnce(clock, url, signal)
      const tookMs = clock.now() - startedMs
      if ('status' in result && result.status < 500) {
        if (tookMs >= WORTH_TELLING_MS)
          log.info(`${shown} answered ${result.status} after ${formatDuration(tookMs)}.`)
        return tookMs
      }
      last = 'status' in result ? `it answered ${result.status}` : result.failure
      if (attempt === 0)
        log.info(`Waiting for ${shown} to answer, for at most ${formatDuration(waitFor.timeoutMs)}: ${last}.`)
      await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS), signal)
    }
  }
  return withDeadline(clock, Math.min(timeoutMs, waitFor.timeoutMs), { error, others: [cancelled] }, poll)
}

/** A server that accepts the connection and says nothing is not ready either. */
async function attemptOnce(clock: Ports['clock'], url: URL, signal: AbortSignal): Promise<ProbeResult> {
  const slow = new Error('slow')
  const options = { error: slow, others: [signal] }
  const attempt = (either: AbortSignal): Promise<ProbeResult> => probe(url, { signal: either })
  return withDeadline(clock, LONGEST_ATTEMPT_MS, options, attempt).catch((thrown: unknown) => {
    if (thrown !== slow) throw thrown
    return { kind: 'other', failure: `${url.host} did not answer within ${LONGEST_ATTEMPT_MS / 1000} s` }
  })
}

/** `wholeMs` is the timeout of everything, where that is shorter. */
function describeTimeout({ url, timeoutMs }: WaitFor, last: string, wholeMs?: number): string {
  const shown = withoutSecrets(url.href)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const longer = `${Math.max(5, Math.ceil((timeoutMs * 2) / 60_000))}m`
  const [limit, remedy] =
    wholeMs === undefined
      ? [formatDuration(timeoutMs), `give it more time: \`wait-for: ${shown} ${longer}\``]
      : [
          `the timeout of ${formatDuration(wholeMs)}`,
          'raise `timeout`, which is shorter than that of wait-for'
        ]
  return `wait-for: ${shown} did not answer within ${limit}, so no load was started. The last attempt: ${last}. Is the server started in an earlier step, and does it listen on port ${port}? If it needs longer, ${remedy}.`
}
