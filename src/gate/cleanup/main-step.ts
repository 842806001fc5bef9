import { cleanUp, endTwins, type CleanUpOptions, LEFT_RUNNING, wasRequested } from './clean-up.js'
import type { Twin } from '../run/find-run.js'
import { gridsMadeFor } from '../run/end-run.js'
import { hasEnded } from '../run/run-status.js'
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
import type { StartedPods } from '../saved-state.js'

/** The runner sends SIGTERM 7.5 s after SIGINT: everything must be stopped by then. */
export const STOP_ON_CANCEL_MS = 5_000
export const STOP_AFTER_FAILURE_MS = 3 * 60_000

/** Ends what the step has left running; what it leaves running on purpose is logged. */
export async function cleanUpRun(gate: Gate, findings: Findings): Promise<Findings> {
  const { ports, client, saved } = gate
  const { state } = saved
  if (!state.cleanupDue) return findings
  // The embedded service ends with the step, and so does everything it has started: there is nothing to look for.
  if (gate.local !== undefined && findings.run === undefined) {
    saved.noteDone({ cleanupDue: false })
    return findings
  }
  const isCancelled = findings.failure?.kind === 'cancelled'
  // Grids created for a run that was never requested are not left running.
  const isRunning = findings.run === undefined ? wasRequested(state) : !hasEnded(findings.run.status)
  if (isCancelled && isRunning && state.leaveIfKilled) {
    ports.log.info(LEFT_RUNNING)
    saved.noteDone({ cleanupDue: false })
    return findings
  }
  // From here on nothing is left running on purpose.
  saved.noteDone({ leaveIfKilled: false })
  const longestMs = isCancelled ? STOP_ON_CANCEL_MS : STOP_AFTER_FAILURE_MS
  // After a lost reply the search for the run is already done; if the list lags even more, the post step checks it.
  const wasLookedFor = findings.run === undefined && findings.failure?.kind === 'error'
  const isLocal = gate.local !== undefined
  // Those of a run that is stopped here are ended with it.
  const gridsOfRun =
    isLocal || isRunning || findings.run === undefined ? [] : gridsMadeFor(findings.run, state.givenGrids)
  const madeGrids = [...new Set([...state.madeGrids, ...gridsOfRun])]
  const grids = { ...state, madeGrids, runId: undefined, marker: undefined, repeat: undefined, earlier: [] }
  const left = !isRunning || wasLookedFor ? grids : state
  const { clock } = ports
  // Closing the embedded service ends what could not be ended here; nobody can stop it by hand.
  const tell = isLocal ? 'debug' : 'warning'
  const log = {
    info: (line: string) => ports.log.info(line),
    warning: (line: string) => ports.log[tell](line)
  }
  const warnings = new Set<string>()
  const onTwin = ({ run, runId }: Twin): void => {
    const words = `The run was created twice (${run.id} has the same tag), and both may have generated load for a time, so the load was not the requested one.`
    // Duplicates of earlier runs of the step were reported with those runs.
    if (runId !== undefined && runId === findings.run?.id) warnings.add(words)
  }
  const error = new Error('there was no time left')
  const isClean = await withDeadline(clock, longestMs, { error }, (signal) => {
    const options = { client, clock, log, signal, onTwin, isLocal, givenGrids: state.givenGrids }
    return Promise.all([cleanUp(left, options), isRunning || endTwinsOf(gate, options)])
  })
  // The post step ends whatever could not be ended here.
  if (isClean.every((each) => each) && !(wasLookedFor && wasRequested(state)))
    saved.noteDone({ cleanupDue: false })
  const found = { ...findings, ...(warnings.size > 0 && { warnings: [...warnings] }) }
  return isRunning && !wasLookedFor ? { ...found, isStoppedHere: true } : found
}

/** The run has ended; a duplicate may not have. With the embedded service there is no proxy that could cause one. */
async function endTwinsOf({ saved, local }: Gate, options: CleanUpOptions): Promise<boolean> {
  const { state } = saved
  const isAlone = state.runId === undefined && (state.earlier ?? []).length === 0
  if (local !== undefined || isAlone) return true
  return endTwins(state, options)
}

/** For clusters that answer slowly; a service that hangs must not keep the verdict from being published. */
const LONGEST_CLOSE_MS = 150_000
/** What a service may take beyond the time it was given. */
const GRACE_MS = 1_000
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
  // A failed threshold is not such a failure: the run worked.
  const endedWell = outcome.remoteErrors.length === 0 && ['passed', 'failed'].includes(outcome.verdict)
  const isBad = run !== undefined && !endedWell && badRuns.length === 0
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
  return STOP_ON_CANCEL_MS - (nowMs - (endedMs ?? nowMs))
}

function isComplete({ collection }: Findings): boolean {
  const { grids = [] } = collection ?? {}
  return grids.length > 0 && grids.every(({ path }) => path !== undefined)
}
