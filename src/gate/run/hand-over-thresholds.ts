import type { Run } from '../../service/documents/documents.js'
import { messageOf } from '../errors.js'
import type { Gate } from '../gate.js'

/** A run page is worth no more. */
const LONGEST_MS = 5_000

/**
 * Tells the service what must hold in the run, so that its page shows the verdict too. One try, while the run goes on: whatever becomes of
 * it, the gate judges by itself. An existing run is left as it is; of several runs together, none has the verdict of all.
 */
export async function handOverThresholds(gate: Gate, run: Run): Promise<void> {
  const { settings, client, ports } = gate
  const { target, thresholds, origin, baseline, warmUpMs, onStall } = settings
  const isOneOfMany = baseline.source.kind === 'side-by-side'
  // The embedded service ends with the step.
  const isKept = target.kind !== 'local' && client.isLoadgate
  if (!isKept || thresholds.length === 0 || origin.kind === 'existing' || isOneOfMany) return
  try {
    const lines = thresholds.map(({ level, text }) => (level === 'warn' ? `warn: ${text}` : text))
    await client.setThresholds(
      run.id,
      {
        ...{ thresholds: lines, warmUpSeconds: Math.round(warmUpMs / 1000) },
        ...(onStall !== 'fail' && { onStall })
      },
      AbortSignal.any([AbortSignal.timeout(LONGEST_MS), ports.cancelled])
    )
    ports.log.debug(`The thresholds of run ${run.id} are on its page.`)
  } catch (thrown) {
    ports.log.debug(`The thresholds could not be handed over: ${messageOf(thrown)}`)
  }
}
