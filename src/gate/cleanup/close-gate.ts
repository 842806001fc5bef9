import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outcome } from '../../analysis/outcome.js'
import { messageOf } from '../../contract/text.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import { kubectlDelete } from '../../contract/regions/regions.js'
import { orAborted } from '../../contract/clock.js'
import { withDeadline } from '../deadline.js'
import type { LocalServiceEnd } from '../ports.js'
import type { StartedPods } from '../step-state.js'

/** For clusters that answer slowly; a service that hangs must not keep the verdict from being published. */
const LONGEST_CLOSE_MS = 150_000
/** What a service may take beyond the time it was given. */
const GRACE_MS = 1_000
/** The runner sends its second signal, which ends the process at once, 7.5 s after the first one. */
const CANCEL_LIMIT_MS = 5_000
/** What the embedded service needs to save its state once its tools have ended. */
const LEAST_CLOSE_MS = 500
const RESULTS = 'results'

/** Saves what would be lost with the embedded service, then closes it. A failure to close must not change the verdict. */
export async function closeGate(
  gate: Gate | undefined,
  findings: Findings,
  outcome: Outcome
): Promise<{ readonly logs: readonly string[]; readonly notes: readonly string[] }> {
  if (gate === undefined) return { logs: [], notes: [] }
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
  const error = (): Error =>
    new Error(`it is not done after ${longestMs / 1000} s.${describePods(saved.state.clusters)}`)
  await withDeadline(ports.clock, longestMs, { error }, (signal) => orAborted(local.close(how), signal))
}

function describePods(pods: StartedPods | undefined): string {
  if (pods === undefined) return ''
  const commands = pods.addresses.map((address) =>
    kubectlDelete(address, `loadgate.dev/marker=${pods.marker}`)
  )
  return ` Pods may still be running; they end by their own deadline. Delete them with: ${commands.join('; ')}`
}

/** After a failure the tools' logs are evidence: they are copied before the embedded service's folder is deleted. Returns the copies. */
export async function keepLogs(
  gate: Gate,
  outcome: Outcome,
  badRuns: Findings['badRuns'] = []
): Promise<string[]> {
  const { local, ports, settings } = gate
  const { run } = outcome
  if (local?.keepLogs === undefined) return []
  const folder = join(ports.scratchDir, 'logs')
  const isBad = run !== undefined && !endedWell(outcome) && badRuns.length === 0
  const bad = badRuns.map((each) => ({ runId: each.runId, folder: join(folder, each.folder) }))
  const wanted = isBad ? [{ runId: run.id, folder }] : bad
  try {
    const secrets = [local.token, settings.githubToken]
    const logs: string[] = []
    for (const each of wanted) logs.push(...(await local.keepLogs({ ...each, secrets })))
    if (logs.length > 0) ports.log.info(`The tool's logs are saved in ${folder}.`)
    return logs
  } catch (thrown) {
    ports.log.warning(`The tool's logs could not be saved: ${messageOf(thrown)}`)
    return []
  }
}

/** A failed threshold is not such a failure: the run worked. */
function endedWell({ verdict, remoteErrors }: Outcome): boolean {
  return remoteErrors.length === 0 && (verdict === 'passed' || verdict === 'failed')
}

/** How to close the embedded service: in the time left after a cancellation, saving the samples that were not read. */
export function howToClose(gate: Gate, findings: Findings): LocalServiceEnd {
  if (!isCutOff(gate, findings)) return {}
  const isSideBySide = gate.settings.baseline.source.kind === 'side-by-side'
  return {
    withinMs: Math.max(LEAST_CLOSE_MS, leftMs(gate, findings)),
    // Side by side all segments use the same grids, so their samples would have the same file names.
    ...(isComplete(findings) || isSideBySide ? {} : { keepSamplesIn: join(gate.ports.scratchDir, RESULTS) })
  }
}

export async function describePartial(gate: Gate, findings: Findings): Promise<string[]> {
  if (!isCutOff(gate, findings)) return []
  const names = await readdir(join(gate.ports.scratchDir, RESULTS)).catch(() => [])
  const csvs = names.filter((name) => name.endsWith('.csv')).sort()
  if (csvs.length === 0) return []
  const unread = isComplete(findings) ? '' : ' There was no time to read them.'
  return [
    `Partial results, measured before the cancellation: ${csvs.map((name) => `${RESULTS}/${name}`).join(', ')}.${unread}`
  ]
}

/** A remote service keeps its results. */
export function isCutOff({ local }: Gate, { failure }: Findings): boolean {
  return local !== undefined && failure?.kind === 'cancelled'
}

export function leftMs({ ports }: Gate, { endedMs }: Findings): number {
  const nowMs = ports.clock.now()
  return CANCEL_LIMIT_MS - (nowMs - (endedMs ?? nowMs))
}

function isComplete({ collection }: Findings): boolean {
  const { grids = [] } = collection ?? {}
  return grids.length > 0 && grids.every(({ path }) => path !== undefined)
}
