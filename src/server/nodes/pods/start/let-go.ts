import type { Clock } from '../../../clock.js'
import type { Cluster } from '../../kubernetes/cluster.js'
import { POD_HOME } from '../work/pod-paths.js'

/** The supervisor is pid 1: everything in the pod ends with it, and the pod has succeeded. */
const END = 'kill -TERM "$(cat "$1/pid")"'
const WITHIN_MS = 3_000

/** Tells pods that cannot be deleted to end by themselves. They may be gone, or out of reach: then their deadline ends them. */
export async function letGo(cluster: Cluster, pods: readonly string[], clock: Clock): Promise<void> {
  const late = new AbortController()
  const cancel = clock.after(WITHIN_MS, () => late.abort(new Error('there was no time left')))
  const command = ['sh', '-c', END, 'sh', POD_HOME]
  await Promise.allSettled(pods.map((pod) => cluster.exec(pod, command, {}, late.signal)))
  cancel()
}
