import { randomBytes } from 'node:crypto'
import type { ServiceClient } from '../client/client.js'
import { readAddress, type Address } from '../client/http/address.js'
import type { Regions } from '../contract/regions/regions.js'
import { formatDuration } from '../contract/text.js'
import { vocabularyOf } from '../contract/vocabulary.js'
import { serviceFolder } from './cleanup/post-step.js'
import { withDeadline } from './deadline.js'
import { DeadlineError } from './errors.js'
import { type Gate, openClient as openClientFor } from './gate.js'
import type { Ports, RegionsRequest, LocalService } from './ports.js'
import { NOTHING, SavedState, type StepState } from './saved-state.js'
import { secretParameters } from './settings/secret-parameters.js'
import { maskToken } from './settings/target-settings.js'
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
    const { address, token } = target
    return { ports, settings, saved, local: undefined, client: openClient(address, token) }
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
  return { ports, settings, saved, local, client: openClient(readAddress(local.url), local.token) }

  /** Nothing runs yet, so that a signal or the timeout can end it at once. */
  async function startWithRegions(places: Regions): Promise<LocalService> {
    const words = `The clusters of regions could not be checked within the timeout of ${formatDuration(settings.timeoutMs)}.`
    const options = { error: new DeadlineError(words), others: [ports.cancelled] }
    return withDeadline(ports.clock, settings.timeoutMs, options, (signal) =>
      start(requestRegions(places, { ports, saved, signal }))
    )
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
  const own =
    target.kind === 'remote'
      ? { address: target.address.api, token: target.token }
      : { address: '', token: '', serviceDir: serviceFolder(scratchDir) }
  return { ...NOTHING, ...own, serviceName, leaveIfKilled: !stopOnCancel }
}
