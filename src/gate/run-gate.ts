import type { Outcome } from '../analysis/outcome.js'
import { failureOf, type Failure } from './errors.js'
import type { Findings } from './findings.js'
import { findOut, loadAfterRun } from './follow-run.js'
import type { Gate } from './gate.js'
import type { Ports } from './ports.js'
import { asideGroupsOf, warnOfPlan } from './preflight.js'
import { QueueTime } from './run/watch-run.js'
import { describeShortSecrets, markedValues } from './settings/secret-parameters.js'
import type { Settings } from './settings/settings.js'
import { describeUnused } from './settings/unused-inputs.js'
import { openGate, waitForTarget } from './open-gate.js'

/** The whole gate: open → start → watch → collect → judge → close → publish → record, and nothing left running. Results of another step are only read. */
export async function runGate(ports: Ports, settings: Settings): Promise<Outcome> {
  await checkSettings(ports, settings)
  const opened: Opened | undefined =
    settings.origin.kind === 'results' ? undefined : await open(ports, settings)
  const findings = opened === undefined ? await readFiles(ports, settings) : await follow(opened)
  ports.onProgress?.({ status: 'finishing', elapsedMs: 0, durationMs: undefined })
  const { conclude, withoutBaselineLines, closeGate, findDetails, describeRefused, publish, recordBaseline } =
    await loadAfterRun()
  const judged = conclude(settings, findings)
  const { logs, notes } = await closeGate(opened?.gate, findings, judged)
  const found = await findDetails(ports, settings, findings)
  const refused = describeRefused(judged.measurements, found.details, settings.parameterVariables)
  const outcome = {
    ...judged,
    ...found,
    warnings: [...judged.warnings, ...refused],
    notes: [...judged.notes, ...notes]
  }
  await publish(ports, { settings, outcome, collection: findings.collection, logs })
  const alone = withoutBaselineLines(settings, findings, outcome)
  await recordBaseline(ports, { settings, findings, alone })
  return outcome
}

/** Says what is odd about the settings, and throws for an input that cannot be meant. */
async function checkSettings(ports: Ports, settings: Settings): Promise<void> {
  for (const secret of markedValues(settings)) ports.mask(secret)
  for (const words of [describeUnused(settings), describeShortSecrets(settings)])
    if (words !== undefined) ports.log.warning(words)
  // Only a run that is created from files has a plan to look at.
  if (settings.origin.kind === 'files') await warnOfPlan(ports, settings)
}

type Opened = { readonly gate: Gate } | { readonly gate: undefined; readonly failure: Failure }

async function open(ports: Ports, settings: Settings): Promise<Opened> {
  try {
    const waitedMs = await waitForTarget(ports, settings)
    const asideGroups = await asideGroupsOf(settings)
    const gate = await openGate(ports, settings)
    return { gate: { ...gate, waitedMs, asideGroups, queueTime: new QueueTime(), earlierResults: [] } }
  } catch (thrown) {
    return { gate: undefined, failure: failureOf(thrown) }
  }
}

async function readFiles(ports: Ports, settings: Settings): Promise<Findings> {
  if (settings.origin.kind !== 'results') return {}
  const { findOutFromFiles } = await loadAfterRun()
  return findOutFromFiles(ports, settings, settings.origin)
}

/** start → watch → collect: of base and head side by side, or of one run and those that confirm it. */
async function follow(opened: Opened): Promise<Findings> {
  if (opened.gate === undefined) return { failure: opened.failure }
  const { gate } = opened
  let findings: Findings = {}
  try {
    if (gate.settings.baseline.source.kind === 'side-by-side') {
      const { followSideBySide } = await import('./side-by-side/follow-side-by-side.js')
      return await followSideBySide(gate)
    }
    findings = await findOut(gate)
    const { compareWithBaseline } = await loadAfterRun()
    findings = await compareWithBaseline(gate, findings)
    const { confirmRuns } = await import('./confirm-runs.js')
    return await confirmRuns(gate, findings)
  } catch (thrown) {
    return { ...findings, failure: failureOf(thrown) }
  }
}
