import { readAddress } from '../service/http/address.js'
import type { Address } from '../service/http/address.js'
import type { ServiceClient } from '../service/client.js'
import { vocabularyOf } from '../protocol/vocabulary.js'
import { serviceFolder } from './cleanup/service-folder.js'
import type { Gate } from './gate.js'
import { SavedState } from './saved-state.js'
import { openClient as openClientFor } from './open-client.js'
import { maskToken } from './settings/mask-token.js'
import { secretParameters } from './settings/secret-parameters.js'
import type { Settings } from './settings/settings.js'
import type { StepState } from './step-state.js'
import type { Ports } from './ports.js'

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
  const local = await ports.startLocalService({
    serviceName,
    onProcessGroup: (group) => saved.noteDone({ processGroups: [...saved.state.processGroups, group] })
  })
  maskToken(ports, local.token)
  return { ports, settings, saved, local, client: openClient(readAddress(local.url), local.token) }

  function openClient(address: Address, token: string): ServiceClient {
    // The embedded service redacts them itself, including what they become in the plan.
    const secrets = target.kind === 'remote' ? secretParameters(settings) : []
    const words = vocabularyOf(serviceName)
    return openClientFor(ports, { address, token, secrets, words, clock: ports.clock })
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
