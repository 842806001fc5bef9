import type { Outcome } from '../../report/outcome.js'
import { describePartial, howToClose } from '../collect/collect-partial.js'
import { keepLogs } from '../collect/keep-logs.js'
import { messageOf } from '../errors.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'

export interface Kept {
  readonly logs: readonly string[]
  /** Notes for the user about the saved files. */
  readonly notes: readonly string[]
}

/** Saves what would be lost with the embedded service, then closes it. A failure to close must not change the verdict. */
export async function closeGate(gate: Gate, findings: Findings, outcome: Outcome): Promise<Kept> {
  const { client, local, ports } = gate
  const logs = await keepLogs(gate, outcome, findings.badRuns)
  try {
    await client.close()
    await local?.close(howToClose(gate, findings))
    const { clusters } = gate.saved.state
    if (clusters !== undefined) gate.saved.noteDone({ clusters: { ...clusters, isClosed: true } })
  } catch (thrown) {
    ports.log.warning(`The service did not shut down cleanly: ${messageOf(thrown)}`)
  }
  return { logs, notes: await describePartial(gate, findings) }
}
