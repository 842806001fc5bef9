import type { Run } from '../../service/documents/documents.js'
import type { CleanUpOptions } from './clean-up.js'
import { findMarkedRuns } from '../run/find-run.js'
import { RETRY, retry } from '../../service/retry.js'
import { hasEnded } from '../run/run-status.js'
import type { StepState } from '../step-state.js'

export const LEFT_RUNNING =
  'stop-on-cancel is false: the run is left running, and the stop_after of its grids ends them.'

/**
 * After a kill: whether what the step started is left to itself, which the log is told. A killed main cannot say whether the job was
 * cancelled; it counts as that. Grids for which no run was asked for, or whose run has ended, are not left.
 */
export async function isLeftRunning(state: StepState, options: CleanUpOptions): Promise<boolean> {
  if (!state.leaveIfKilled || !wasAskedFor(state)) return false
  if (state.madeGrids.length > 0 && (await hasNoRun(state, options))) return false
  options.log.info(LEFT_RUNNING)
  return true
}

/** Whether a run was asked for, known or not. */
export function wasAskedFor({ runId, marker, repeat }: StepState): boolean {
  return runId !== undefined || marker !== undefined || repeat !== undefined
}

/** True when it is certain that nothing runs on the grids any more. */
async function hasNoRun({ runId, marker }: StepState, options: CleanUpOptions): Promise<boolean> {
  const { client, clock, signal } = options
  const show = async (id: string): Promise<Run[]> => [await client.showRun(id, signal)]
  const look = async (): Promise<readonly Run[] | undefined> => {
    if (runId !== undefined) return retry(() => show(runId), RETRY.findRun, { clock, signal })
    return marker === undefined ? undefined : findMarkedRuns(client, marker, { clock, signal })
  }
  const runs = await look().catch(() => undefined)
  return runs?.every(({ status }) => hasEnded(status)) ?? false
}
