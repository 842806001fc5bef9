import { readAddress } from '../../client/http/address.js'
import type { Clock } from '../../contract/clock.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { describeWithoutQuote } from '../../client/errors.js'
import { cleanUp, isLeftRunning } from './clean-up.js'
import { deleteLeftPods, type DeletePods } from './delete-pods.js'
import { startDeadline } from '../deadline.js'
import { mayHaveBeenCreated } from '../run/make-grids.js'
import { openClient } from '../gate.js'
import type { ProcessGroup, StepState } from '../step-state.js'
import { messageOf } from '../../contract/text.js'
import type { Log, Ports } from '../ports.js'
import { removeServiceFolder } from './service-folder.js'

export interface CleanUpPorts extends Pick<Ports, 'openClient'> {
  readonly log: Log
  readonly clock: Clock
  /** True if the group existed and was stopped. */
  endProcessGroup(group: ProcessGroup): Promise<boolean>
  readonly deletePods: DeletePods
}

/** The post step has no time limit to rely on. */
const LONGEST_MS = 4 * 60_000

/** What the post step does: ends whatever the main step left behind, from the saved state alone. Running it twice does no harm. */
export async function cleanUpStep(state: StepState, ports: CleanUpPorts): Promise<void> {
  for (const group of state.processGroups) await endGroup(group, ports)
  if (state.clusters !== undefined) await deleteLeftPods(state.clusters, ports)
  // By now its tools have ended, and nothing in it is worth keeping: it contains the parameters.
  if (state.serviceDir !== undefined) await removeFolder(state.serviceDir, ports.log)
  const { log, clock } = ports
  for (const id of state.keptGrids ?? [])
    log.info(`Grid ${id} is left running, because keep is true. grid-stop terminates it.`)
  if (!state.cleanupDue || state.address === '') return
  for (const asked of state.askedGrids ?? []) log.warning(mayHaveBeenCreated(asked))
  const deadline = startDeadline(clock, LONGEST_MS, { error: new Error('there was no time left') })
  const client = openClient(ports, {
    address: readAddress(state.address),
    token: state.token,
    words: vocabularyOf(state.serviceName),
    clock,
    isReached: true
  })
  try {
    const options = { client, clock, log, signal: deadline.signal }
    if (await isLeftRunning(state, options)) return
    // The state contains no secret parameters, so they could not be redacted from the service's messages: do not quote them.
    const describe = (thrown: unknown): string => describeWithoutQuote(thrown) ?? messageOf(thrown)
    await cleanUp(state, { ...options, isLast: true, describe })
  } finally {
    deadline.release()
    await client.close()
  }
}

async function removeFolder(folder: string, log: Log): Promise<void> {
  try {
    await removeServiceFolder(folder)
  } catch (thrown) {
    log.warning(`The service's data folder ${folder} could not be removed: ${messageOf(thrown)}`)
  }
}

async function endGroup(group: ProcessGroup, ports: CleanUpPorts): Promise<void> {
  try {
    if (await ports.endProcessGroup(group))
      ports.log.info(`The tool's processes (group ${group.pid}) were stopped.`)
  } catch (thrown) {
    ports.log.warning(`The tool's processes (group ${group.pid}) may still be running: ${messageOf(thrown)}`)
  }
}
