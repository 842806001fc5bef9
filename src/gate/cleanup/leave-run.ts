import type { Run } from '../../service/documents/documents.js'
import type { CleanUpOptions } from './clean-up.js'
import { findMarkedRuns } from '../run/find-run.js'
import { RETRY, retry } from '../../service/retry.js'
import { hasEnded } from '../run/run-status.js'
import type { StepState } from '../step-state.js'

export const LEFT_RUNNING =
  'stop-on-cancel is false: the run is left running, and its grids end after their stop_after.'

/**
 * After a kill: whether what the step started is left running, which is logged. A killed main step cannot say whether the job was
 * cancelled, so it counts as cancelled. Grids for which no run was requested, or whose run has ended, are not left running.
 */
export async function isLeftRunning(state: StepState, options: CleanUpOptions): Promise<boolean> {
  if (!state.leaveIfKilled || !wasRequested(state)) return false
  if (state.madeGrids.length > 0 && (await hasNoRun(state, options))) return false
  options.log.info(LEFT_RUNNING)
  return true
}

/** Whether a run was requested, even if its id is unknown. */
export function wasRequested({ runId, marker, repeat }: StepState): boolean {
  return runId !== undefined || marker !== undefined || repeat !== undefined
}

/** True when it is certain that nothing runs on the grids anymore. */
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
