import type { Outcome } from '../../report/outcome.js'
import { describePartial, howToClose } from '../collect/collect-partial.js'
import { keepLogs } from '../collect/keep-logs.js'
import { messageOf } from '../errors.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import { kubectlDelete } from '../../regions/kubectl-delete.js'
import { startDeadline } from '../deadline.js'
import type { StartedPods } from '../step-state.js'

export interface Kept {
  readonly logs: readonly string[]
  /** Notes for the user about the saved files. */
  readonly notes: readonly string[]
}

/** For clusters that answer slowly; a service that hangs must not keep the verdict from being published. */
const LONGEST_CLOSE_MS = 150_000
/** What a service may take beyond the time it was given. */
const GRACE_MS = 1_000

/** Saves what would be lost with the embedded service, then closes it. A failure to close must not change the verdict. */
export async function closeGate(gate: Gate, findings: Findings, outcome: Outcome): Promise<Kept> {
  const { client, ports } = gate
  const logs = await keepLogs(gate, outcome, findings.badRuns)
  try {
    await client.close()
    await closeInTime(gate, findings)
    const { clusters } = gate.saved.state
    if (clusters !== undefined && clusters.hasLeft !== true)
      gate.saved.noteDone({ clusters: { ...clusters, isClosed: true } })
  } catch (thrown) {
    ports.log.warning(`The service did not shut down cleanly: ${messageOf(thrown)}`)
  }
  return { logs, notes: await describePartial(gate, findings) }
}

/** It goes on closing meanwhile; the post step deletes what is left then. */
async function closeInTime(gate: Gate, findings: Findings): Promise<void> {
  const { local, ports, saved } = gate
  if (local === undefined) return
  const how = howToClose(gate, findings)
  const longestMs = how.withinMs === undefined ? LONGEST_CLOSE_MS : how.withinMs + GRACE_MS
  const deadline = startDeadline(ports.clock, longestMs, { error: new Error('there was no time left') })
  const { signal } = deadline
  try {
    await Promise.race([
      local.close(how),
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () =>
          reject(
            new Error(`it is not done after ${longestMs / 1000} s.${describePods(saved.state.clusters)}`)
          )
        )
      )
    ])
  } finally {
    deadline.release()
  }
}

function describePods(pods: StartedPods | undefined): string {
  if (pods === undefined) return ''
  const commands = pods.addresses.map((address) =>
    kubectlDelete(address, `loadgate.dev/marker=${pods.marker}`)
  )
  return ` Pods may still be running; they end by their own deadline. Delete them with: ${commands.join('; ')}`
}
