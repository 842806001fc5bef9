import { cleanUp, endTwins } from './clean-up.js'
import type { CleanUpOptions } from './clean-up.js'
import type { Findings } from '../findings.js'
import { startDeadline } from '../deadline.js'
import { MOST_HEAD_PAGES } from '../run/find-run.js'
import type { Gate } from '../gate.js'
import { LEFT_RUNNING, wasAskedFor } from './leave-run.js'
import { hasEnded } from '../run/run-status.js'

/** The runner sends SIGTERM 7.5 s after SIGINT: what is to be stopped must be stopped by then. */
const STOP_ON_CANCEL_MS = 5_000
const STOP_ON_TROUBLE_MS = 3 * 60_000

/** Ends what is left of the step's own; what is left on purpose is told. */
export async function cleanUpRun(gate: Gate, findings: Findings): Promise<Findings> {
  const { ports, client, saved } = gate
  const { state } = saved
  if (!state.cleanupDue) return findings
  // The embedded service ends with the step, and with it whatever it has begun: there is nothing to look for.
  if (gate.local !== undefined && findings.run === undefined) {
    saved.noteDone({ cleanupDue: false })
    return findings
  }
  const isCancelled = findings.failure?.kind === 'cancelled'
  // Grids that were made for a run which was never asked for are not left to it.
  const isRunning = findings.run === undefined ? wasAskedFor(state) : !hasEnded(findings.run.status)
  if (isCancelled && isRunning && state.leaveIfKilled) {
    ports.log.info(LEFT_RUNNING)
    saved.noteDone({ cleanupDue: false })
    return findings
  }
  // From here on it is not a cancelled job that leaves something running.
  saved.noteDone({ leaveIfKilled: false })
  const deadline = startDeadline(ports.clock, isCancelled ? STOP_ON_CANCEL_MS : STOP_ON_TROUBLE_MS, {
    error: new Error('there was no time left')
  })
  // After a lost reply the run was looked for already; a list that lags even more is the post step's to look at.
  const wasLookedFor = findings.run === undefined && findings.failure?.kind === 'error'
  const grids = { ...state, runId: undefined, marker: undefined, repeat: undefined }
  const left = !isRunning || wasLookedFor ? grids : state
  const { clock, log } = ports
  const options = { client, clock, log, signal: deadline.signal }
  const isClean = await Promise.all([cleanUp(left, options), isRunning || endTwinsOf(gate, options)])
  deadline.release()
  // Whatever could not be ended here is the post step's to end.
  if (isClean.every((each) => each) && !(wasLookedFor && wasAskedFor(state)))
    saved.noteDone({ cleanupDue: false })
  return isRunning && !wasLookedFor ? { ...findings, isStoppedHere: true } : findings
}

/** The run has ended; one that was made beside it may not have. The embedded service has nothing in between that could make one. */
async function endTwinsOf({ saved, local }: Gate, options: CleanUpOptions): Promise<boolean> {
  const { state } = saved
  if (local !== undefined || state.runId === undefined) return true
  return endTwins(state, { ...options, mostPages: MOST_HEAD_PAGES })
}
