import { cleanUpRun } from './cleanup/main-step.js'
import { collectPartial } from './collect/collect-partial.js'
import { failureOf } from './errors.js'
import type { Findings } from './findings.js'
import { followRun } from './follow-run.js'
import type { RunOptions } from './follow-run.js'
import type { Gate } from './gate.js'

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
