import type { Outcome } from '../report/outcome.js'
import { collectPartial } from './collect/collect-partial.js'
import { cleanUpRun } from './cleanup/main-step.js'
import { failureOf } from './errors.js'
import type { Findings } from './findings.js'
import { followRun, loadAfterRun } from './follow-run.js'
import type { Gate } from './gate.js'
import { openGate } from './open-gate.js'
import type { Ports } from './ports.js'
import type { Settings } from './settings/settings.js'
import { describeUnused } from './settings/unused-inputs.js'

/** The whole gate: start → watch → collect → judge → publish, and nothing left running. */
export async function runGate(ports: Ports, settings: Settings): Promise<Outcome> {
  const unused = describeUnused(settings)
  if (unused !== undefined) ports.log.warning(unused)
  const opened = await openGate(ports, settings).then(
    (gate) => ({ gate }),
    (thrown: unknown) => ({ findings: { failure: failureOf(thrown) } })
  )
  const findings: Findings = 'gate' in opened ? await findOut(opened.gate) : opened.findings
  const { conclude, closeGate, publish } = await loadAfterRun()
  const judged = conclude(settings, findings)
  const kept = 'gate' in opened ? await closeGate(opened.gate, findings, judged) : { logs: [], notes: [] }
  const outcome = { ...judged, notes: [...judged.notes, ...kept.notes] }
  await publish(ports, { settings, outcome, collection: findings.collection, logs: kept.logs })
  return outcome
}

/** Follows the run to its end, cleans up, and returns everything known about it. */
async function findOut(gate: Gate): Promise<Findings> {
  const found = await followRun(gate)
  const findings = { ...found, endedMs: gate.ports.clock.now() }
  try {
    return await collectPartial(gate, await cleanUpRun(gate, findings))
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}
