import { cleanUpRun } from './cleanup/main-step.js'
import { isCutOff, leftMs } from './cleanup/close-gate.js'
import { startDeadline } from './deadline.js'
import { failureOf, messageOf } from './errors.js'
import type { Findings } from './findings.js'
import { followRun, loadAfterRun } from './follow-run.js'
import type { RunOptions } from './follow-run.js'
import type { Gate } from './gate.js'
import { hasEnded } from './run/run-status.js'

/** Follows one run to its end, cleans up, and returns everything known about it. */
export async function findOut(gate: Gate, options: RunOptions = {}): Promise<Findings> {
  const found = await followRun(gate, options)
  const findings = { ...found, endedMs: gate.ports.clock.now() }
  try {
    return await collectPartial(gate, await cleanUpRun(gate, findings))
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}

/** After a cancellation, what the embedded service has measured so far is read and reported, if there is time. */
export async function collectPartial(gate: Gate, findings: Findings): Promise<Findings> {
  const { ports, client } = gate
  const { run } = findings
  const withinMs = leftMs(gate, findings)
  if (run === undefined || withinMs <= 0 || !isCutOff(gate, findings)) return findings
  const deadline = startDeadline(ports.clock, withinMs, { error: new Error('there was no time left') })
  try {
    const { collect } = await loadAfterRun()
    const shown = await client.showRun(run.id, deadline.signal)
    // A CSV that still grows is not a result.
    if (!hasEnded(shown.status)) return findings
    const collection = await collect(gate, shown, { signal: deadline.signal, isPatient: false })
    return { ...findings, run: shown, collection }
  } catch (thrown) {
    ports.log.info(`The partial results could not be read: ${messageOf(thrown)}`)
    return findings
  } finally {
    deadline.release()
  }
}
