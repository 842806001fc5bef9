import { cleanUp, endTwins, type CleanUpOptions, LEFT_RUNNING, wasRequested } from './clean-up.js'
import type { Findings } from '../findings.js'
import { withDeadline } from '../deadline.js'
import type { Gate } from '../gate.js'
import type { Twin } from '../run/find-run.js'
import { hasEnded } from '../run/run-status.js'

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
  const grids = { ...state, runId: undefined, marker: undefined, repeat: undefined, earlier: [] }
  const left = !isRunning || wasLookedFor ? grids : state
  const { clock } = ports
  // Closing the embedded service ends what could not be ended here; nobody can stop it by hand.
  const tell = gate.local === undefined ? 'warning' : 'debug'
  const log = {
    info: (line: string) => ports.log.info(line),
    warning: (line: string) => ports.log[tell](line)
  }
  const warnings = new Set<string>()
  const onTwin = ({ run, runId }: Twin): void => {
    // Those of earlier runs of the step were told with these.
    if (runId !== undefined && runId === findings.run?.id) warnings.add(describeTwin(run.id))
  }
  const error = new Error('there was no time left')
  const isClean = await withDeadline(clock, longestMs, { error }, (signal) => {
    const options = { client, clock, log, signal, onTwin }
    return Promise.all([cleanUp(left, options), isRunning || endTwinsOf(gate, options)])
  })
  // The post step ends whatever could not be ended here.
  if (isClean.every((each) => each) && !(wasLookedFor && wasRequested(state)))
    saved.noteDone({ cleanupDue: false })
  const found = { ...findings, ...(warnings.size > 0 && { warnings: [...warnings] }) }
  return isRunning && !wasLookedFor ? { ...found, isStoppedHere: true } : found
}

function describeTwin(id: string): string {
  return `The run was created twice (${id} has the same tag), and both may have generated load for a time, so the load was not the requested one.`
}

/** The run has ended; a duplicate may not have. With the embedded service there is no proxy that could cause one. */
async function endTwinsOf({ saved, local }: Gate, options: CleanUpOptions): Promise<boolean> {
  const { state } = saved
  const isAlone = state.runId === undefined && (state.earlier ?? []).length === 0
  if (local !== undefined || isAlone) return true
  return endTwins(state, options)
}
