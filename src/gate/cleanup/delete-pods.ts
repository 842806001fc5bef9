import { kubectlDelete } from '../../contract/regions/regions.js'
import { startDeadline } from '../deadline.js'
import { asSentence, messageOf } from '../../contract/text.js'
import type { Log } from '../ports.js'
import { type Clock, orAborted } from '../../contract/clock.js'
import type { ClusterAddress, StartedPods } from '../step-state.js'

/** Deletes the Jobs with the marker, and their pods with them; returns how many there were. */
export type DeletePods = (
  address: ClusterAddress,
  marker: string,
  options: {
    readonly signal: AbortSignal
    /** Whether one may still be about to appear: its request was on its way when main was killed. */
    readonly isUnclear: boolean
  }
) => Promise<number>

export interface DeletePodsPorts {
  readonly log: Log
  readonly clock: Clock
  readonly deletePods: DeletePods
}

/** A cluster that does not answer must not hold up the rest of the clean-up. */
const LONGEST_MS = 60_000

/** Deletes what the embedded service has left on clusters, or says how to. */
export async function deleteLeftPods(pods: StartedPods, ports: DeletePodsPorts): Promise<void> {
  await Promise.all(pods.addresses.map((address) => deleteIn(address, pods, ports)))
}

async function deleteIn(
  address: ClusterAddress,
  { marker, isClosed }: StartedPods,
  { log, clock, deletePods }: DeletePodsPorts
): Promise<void> {
  const deadline = startDeadline(clock, LONGEST_MS, {
    error: new Error(`the cluster did not answer within ${LONGEST_MS / 1000} s`)
  })
  try {
    const { signal } = deadline
    const options = { signal, isUnclear: isClosed !== true }
    const count = await orAborted(deletePods(address, marker, options), signal)
    const what = count === 1 ? '1 Job and its pods' : `${count} Jobs and their pods`
    if (count > 0) log.info(`Deleted ${what} in ${nameOf(address)}.`)
  } catch (thrown) {
    const why = asSentence(messageOf(thrown))
    const command = kubectlDelete(address, `loadgate.dev/marker=${marker}`)
    // The service has deleted them already; this was a second look.
    if (isClosed)
      log.info(`Could not check that no pods are left in ${nameOf(address)}: ${why} To be sure: ${command}`)
    else
      log.warning(
        `Pods of this step may still be running in ${nameOf(address)}: ${why} They end by their own deadline. Delete them with: ${command}`
      )
  } finally {
    deadline.release()
  }
}

function nameOf({ kubeconfig, context, namespace }: ClusterAddress): string {
  const cluster = kubeconfig === undefined ? 'that this runs in' : context
  return `namespace ${namespace} of the cluster ${cluster}`
}
