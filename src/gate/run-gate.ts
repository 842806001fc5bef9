import type { Outcome } from '../report/outcome.js'
import { failureOf } from './errors.js'
import type { Findings } from './findings.js'
import { findOut } from './find-out.js'
import { loadAfterRun } from './follow-run.js'
import type { Gate } from './gate.js'
import { openGate } from './open-gate.js'
import { isAbsoluteThreshold } from '../thresholds/grammar/threshold.js'
import type { Ports } from './ports.js'
import { warnOfPlan } from './preflight.js'
import { QueueTime } from './run/queue-time.js'
import { describeShortSecrets, markedValues } from './settings/secret-parameters.js'
import type { Settings } from './settings/settings.js'
import { describeUnused } from './settings/unused-inputs.js'
import { waitForTarget } from './wait-for.js'

/** The whole gate: start → watch → collect → judge → publish, and nothing left running. */
export async function runGate(ports: Ports, settings: Settings): Promise<Outcome> {
  for (const secret of markedValues(settings)) ports.mask(secret)
  for (const words of [describeUnused(settings), describeShortSecrets(settings)])
    if (words !== undefined) ports.log.warning(words)
  // Only a run that is created from files has a plan to look at.
  if (settings.origin.kind === 'files') await warnOfPlan(ports, settings)
  const opened = await waitForTarget(ports, settings)
    .then(async (waitedMs) => ({
      ...(await openGate(ports, settings)),
      waitedMs,
      queueTime: new QueueTime(),
      earlierResults: []
    }))
    .then(
      (gate) => ({ gate }),
      (thrown: unknown) => ({ findings: { failure: failureOf(thrown) } })
    )
  const findings: Findings = 'gate' in opened ? await followLoad(opened.gate) : opened.findings
  ports.onProgress?.({ status: 'finishing', elapsedMs: 0, durationMs: undefined })
  const { conclude, closeGate, publish, recordBaseline } = await loadAfterRun()
  const judged = conclude(settings, findings)
  const kept = 'gate' in opened ? await closeGate(opened.gate, findings, judged) : { logs: [], notes: [] }
  const outcome = { ...judged, notes: [...judged.notes, ...kept.notes] }
  await publish(ports, { settings, outcome, collection: findings.collection, logs: kept.logs })
  const absolute = settings.thresholds.filter(isAbsoluteThreshold)
  await recordBaseline(ports, {
    settings,
    findings,
    alone: conclude({ ...settings, thresholds: absolute }, findings)
  })
  return outcome
}

/** Follows the run to its end, or base and head side by side; afterwards nothing is left running. */
async function followLoad(gate: Gate): Promise<Findings> {
  let findings: Findings = {}
  try {
    if (gate.settings.baseline.source.kind === 'side-by-side')
      return await (await loadAfterRun()).followSideBySide(gate)
    findings = await findOut(gate)
    const { compareWithBaseline, confirmRuns } = await loadAfterRun()
    findings = await compareWithBaseline(gate, findings)
    return await confirmRuns(gate, findings)
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}
