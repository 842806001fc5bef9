import type { Outcome } from '../../report/outcome.js'
import { describePartial, howToClose } from '../collect/collect-partial.js'
import { keepLogs } from '../collect/keep-logs.js'
import { messageOf } from '../errors.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'

export interface Kept {
  readonly logs: readonly string[]
  /** What people should know of the files that were kept. */
  readonly notes: readonly string[]
}

/** Keeps what would go with the embedded service, and lets go of it. What cannot be closed must not cost the verdict. */
export async function closeGate(gate: Gate, findings: Findings, outcome: Outcome): Promise<Kept> {
  const { client, local, ports } = gate
  const logs = await keepLogs(gate, outcome)
  try {
    await client.close()
    await local?.close(howToClose(gate, findings))
  } catch (thrown) {
    ports.log.warning(`The service's end could not be awaited: ${messageOf(thrown)}`)
  }
  return { logs, notes: await describePartial(gate, findings) }
}
