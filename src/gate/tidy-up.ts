import { cleanUp } from './clean-up.js'
import type { Findings } from './conclude.js'
import { startDeadline } from './deadline.js'
import type { Gate } from './gate.js'
import { hasEnded } from './run-status.js'

/** The runner sends SIGTERM 7.5 s after SIGINT: what is to be stopped must be stopped by then. */
const STOP_ON_CANCEL_MS = 5_000
const STOP_ON_TROUBLE_MS = 3 * 60_000

/** Ends what is left of the step's own; what is left on purpose is told. */
export async function tidyUp(gate: Gate, findings: Findings): Promise<void> {
  const { bench, settings, client, ledger } = gate
  const { state } = ledger
  if (!state.cleanupDue) return
  const isCancelled = findings.trouble?.kind === 'cancelled'
  const wasAskedFor = state.marker !== undefined || state.repeat !== undefined
  // Grids that were made for a run which was never asked for are not left to it.
  const isRunning = findings.run === undefined ? wasAskedFor : !hasEnded(findings.run.status)
  if (isCancelled && isRunning && !settings.stopOnCancel) {
    bench.log.info(
      'stop-on-cancel is false: the run is left running, and the stop_after of its grids ends them.'
    )
    ledger.note({ cleanupDue: false })
    return
  }
  const deadline = startDeadline(bench.clock, isCancelled ? STOP_ON_CANCEL_MS : STOP_ON_TROUBLE_MS, {
    error: new Error('there was no time left')
  })
  // After a lost reply the run was looked for already; a list that lags even more is the post step's to look at.
  const wasLookedFor = findings.run === undefined && findings.trouble?.kind === 'error'
  const grids = { ...state, runId: undefined, marker: undefined, repeat: undefined }
  const left = !isRunning || wasLookedFor ? grids : state
  const { clock, log } = bench
  const isClean = await cleanUp(left, { client, clock, log, signal: deadline.signal })
  deadline.release()
  // Whatever could not be ended here is the post step's to end.
  if (isClean && !(wasLookedFor && wasAskedFor)) ledger.note({ cleanupDue: false })
}
