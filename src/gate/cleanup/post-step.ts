import { rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { knownAddress } from '../../client/http/address.js'
import { type Clock, orAborted } from '../../contract/clock.js'
import { removeFolder } from '../../contract/files.js'
import { kubectlDelete, type ClusterAddress } from '../../contract/regions/regions.js'
import { asSentence, messageOf } from '../../contract/text.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { describeWithoutQuote } from '../../client/errors.js'
import { cleanUp, isLeftRunning } from './clean-up.js'
import { withDeadline } from '../deadline.js'
import { mayHaveBeenCreated } from '../run/make-grids.js'
import { openClient, tokenFor } from '../gate.js'
import type { ProcessGroup } from '../../contract/records.js'
import type { StartedPods, StepState } from '../saved-state.js'
import type { Log, Ports } from '../ports.js'

export interface CleanUpPorts extends Pick<Ports, 'openClient' | 'openIdTokens'> {
  readonly log: Log
  readonly clock: Clock
  /** True if the group existed and was stopped. */
  endProcessGroup(group: ProcessGroup): Promise<boolean>
  /** Deletes the Jobs with the marker, and their pods with them; returns how many there were. */
  readonly deletePods: (
    address: ClusterAddress,
    marker: string,
    options: {
      readonly signal: AbortSignal
      /** Whether one may still be about to appear: its request was on its way when main was killed. */
      readonly isUnclear: boolean
    }
  ) => Promise<number>
}

/** The post step has no time limit to rely on. */
const LONGEST_MS = 4 * 60_000
/** A cluster that does not answer must not hold up the rest of the clean-up. */
const LONGEST_DELETION_MS = 60_000

/** What the post step does: ends whatever the main step left behind, from the saved state alone. Running it twice does no harm. */
export async function cleanUpStep(state: StepState, ports: CleanUpPorts): Promise<void> {
  const { log, clock } = ports
  const { clusters, serviceDir } = state
  for (const group of state.processGroups) await endGroup(group, ports)
  if (clusters !== undefined)
    await Promise.all(clusters.addresses.map((address) => deleteLeftPods(address, clusters, ports)))
  // By now its tools have ended, and nothing in it is worth keeping: it contains the parameters.
  if (serviceDir !== undefined)
    await removeServiceFolder(serviceDir).catch((thrown: unknown) =>
      log.warning(`The service's data folder ${serviceDir} could not be removed: ${messageOf(thrown)}`)
    )
  for (const id of state.keptGrids ?? [])
    log.info(`Grid ${id} is left running, because keep is true. grid-stop terminates it.`)
  if (!state.cleanupDue || state.address === '') return
  for (const asked of state.askedGrids ?? []) log.warning(mayHaveBeenCreated(asked))
  const client = openClient(ports, {
    address: knownAddress(state.address),
    token: tokenFor(ports, state),
    words: vocabularyOf(state.serviceName),
    clock,
    isReached: true
  })
  try {
    await withDeadline(clock, LONGEST_MS, { error: new Error('there was no time left') }, async (signal) => {
      const options = { client, clock, log, signal }
      if (await isLeftRunning(state, options)) return
      // The state contains no secret parameters, so they could not be redacted from the service's messages: do not quote them.
      const describe = (thrown: unknown): string => describeWithoutQuote(thrown) ?? messageOf(thrown)
      await cleanUp(state, { ...options, isLast: true, describe })
    })
  } finally {
    await client.close()
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

/** Deletes what the embedded service has left on a cluster, or says how to. */
async function deleteLeftPods(
  address: ClusterAddress,
  { marker, isClosed }: StartedPods,
  { log, clock, deletePods }: CleanUpPorts
): Promise<void> {
  const { kubeconfig, context, namespace } = address
  const place = `namespace ${namespace} of the cluster ${kubeconfig === undefined ? 'that this runs in' : context}`
  const error = new Error(`the cluster did not answer within ${LONGEST_DELETION_MS / 1000} s`)
  const attempt = (signal: AbortSignal): Promise<number> =>
    orAborted(deletePods(address, marker, { signal, isUnclear: isClosed !== true }), signal)
  try {
    const count = await withDeadline(clock, LONGEST_DELETION_MS, { error }, attempt)
    const what = count === 1 ? '1 Job and its pods' : `${count} Jobs and their pods`
    if (count > 0) log.info(`Deleted ${what} in ${place}.`)
  } catch (thrown) {
    const why = asSentence(messageOf(thrown))
    const command = kubectlDelete(address, `loadgate.dev/marker=${marker}`)
    // The service has deleted them already; this was a second look.
    if (isClosed) log.info(`Could not check that no pods are left in ${place}: ${why} To be sure: ${command}`)
    else
      log.warning(
        `Pods of this step may still be running in ${place}: ${why} They end by their own deadline. Delete them with: ${command}`
      )
  }
}

const FOLDER = 'service'
const OF_A_STEP = 'loadgate-'

/** Where the embedded service of a step keeps its data: plans and parameters, secret ones too. */
export function serviceFolder(scratchDir: string): string {
  return join(scratchDir, FOLDER)
}

/** Removes the folder that a killed step left, and the step's own if that is now empty; nothing else, whatever the saved state says. */
async function removeServiceFolder(folder: string): Promise<void> {
  if (basename(folder) !== FOLDER || !basename(dirname(folder)).startsWith(OF_A_STEP)) return
  await removeFolder(folder)
  // Results may be in it, or it is gone.
  await rmdir(dirname(folder)).catch(() => undefined)
}
