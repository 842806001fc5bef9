import { readAddress } from '../service/http/address.js'
import type { Address } from '../service/http/address.js'
import type { ServiceClient } from '../service/client.js'
import { vocabularyOf } from '../service/documents/vocabulary.js'
import type { Gate } from './gate.js'
import { Ledger } from './saved-state.js'
import { openClient as openClientFor } from './open-client.js'
import { maskToken } from './settings/mask-token.js'
import { secretParameters } from './settings/secret-parameters.js'
import type { Settings } from './settings/settings.js'
import type { StepState } from './step-state.js'
import type { Workbench } from './ports.js'

/** A client for the service, the embedded one started where the run is done here, and the step's state begun. */
export async function openGate(bench: Workbench, settings: Settings): Promise<Gate> {
  const { target, serviceName } = settings
  const ledger = new Ledger(
    initialState(settings),
    (state) => bench.saveState(state),
    (message) => bench.log.warning(message)
  )
  if (target.kind === 'remote') {
    const { address, token } = target
    return { bench, settings, ledger, local: undefined, client: openClient(address, token) }
  }
  const local = await bench.startLocalService({
    serviceName,
    onProcessGroup: (group) => ledger.noteDone({ processGroups: [...ledger.state.processGroups, group] })
  })
  maskToken(bench, local.token)
  return { bench, settings, ledger, local, client: openClient(readAddress(local.url), local.token) }

  function openClient(address: Address, token: string): ServiceClient {
    // The embedded service takes them out itself, and knows what else they stand for in the plan.
    const secrets = target.kind === 'remote' ? secretParameters(settings) : []
    const words = vocabularyOf(serviceName)
    return openClientFor(bench, { address, token, secrets, words, clock: bench.clock })
  }
}

function initialState({ target, serviceName, stopOnCancel }: Settings): StepState {
  return {
    address: target.kind === 'remote' ? target.address.api : '',
    token: target.kind === 'remote' ? target.token : '',
    serviceName,
    marker: undefined,
    runId: undefined,
    madeGrids: [],
    processGroups: [],
    cleanupDue: false,
    leaveIfKilled: !stopOnCancel
  }
}
