import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run } from '../../contract/api.js'
import { endGrid, endRun, gridsMadeFor } from '../run/end-run.js'
import {
  MAY_BE_RUNNING,
  VERY_PATIENT_MS,
  findMarkedRuns,
  findTwins,
  isForeign,
  findRepeats,
  idsOf,
  type MarkedRuns,
  type Twin
} from '../run/find-run.js'
import { hasEnded } from '../run/run-status.js'
import type { RepeatAttempt, StepState } from '../saved-state.js'
import { messageOf } from '../../contract/text.js'
import type { Log } from '../ports.js'
import { RETRY, retry } from '../../client/retry.js'

export interface CleanUpOptions {
  readonly client: ServiceClient
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warning'>
  readonly signal: AbortSignal
  /** Those of the state: never terminated. */
  readonly givenGrids?: readonly string[] | undefined
  /** The service ends with the step, and its grids with it. */
  readonly isLocal?: boolean
  /** No cleanup follows this one: wait for what may show up a little later. */
  readonly isLast?: boolean
  /** Told of every duplicate of a run of the step, whether it still runs or not. */
  readonly onTwin?: (twin: Twin) => void
  /** Describes a failure; by default with the service's message. */
  readonly describe?: (thrown: unknown) => string
}

/** Ends what the step started, by its state: the run, by id and by marker, and the grids it created. True when all of it has ended. */
export async function cleanUp(state: StepState, given: CleanUpOptions): Promise<boolean> {
  const options = { ...given, givenGrids: state.givenGrids }
  // In parallel: looking for the run takes a while when the list lags, and there may be only seconds.
  return all([endRuns(state, options), ...state.madeGrids.map((id) => terminateAndTell(id, options))])
}

async function all(ending: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(ending)).every((isEnded) => isEnded)
}

async function endRuns(state: StepState, options: CleanUpOptions): Promise<boolean> {
  const { runId } = state
  if (runId !== undefined)
    return all([endAndTell(runId, options, state.marker), endLateTwins(state, options)])
  const ids = await findRunIds(state, options)
  if (ids === undefined) return false
  const isEnded = await all(ids.map((id) => endAndTell(id, options)))
  const hasTwins = ids.length > 0 || (state.earlier ?? []).length > 0
  return (!hasTwins || (await endLateTwins(state, options))) && isEnded
}

/** A duplicate is in the list by then, if there is one. */
const LISTED_WITHIN_MS = 10_000

/** Every run with a marker belongs to this step. False if one may be left. */
export async function endTwins(runs: MarkedRuns, options: CleanUpOptions): Promise<boolean> {
  const { log, isLast = false, describe = messageOf } = options
  const { twins, unread } = await findTwins(runs, options)
  for (const twin of twins) options.onTwin?.(twin)
  const running = twins.filter(({ run }) => !hasEnded(run.status))
  for (const { run, runId } of running)
    if (runId !== undefined)
      log.warning(
        `Run ${run.id} has the same tag as run ${runId}: the run was created twice, and both generated load.`
      )
  // The grids of those that have ended run on.
  const isEnded = await all(twins.map(({ run }) => endAndTell(run.id, options)))
  if (unread !== undefined) {
    const words = `The list of runs was not read to its end (${describe(unread)}), so it is unclear whether the run was created twice, and a second one with its tag ${runs.marker ?? ''} is running.`
    if (isLast) log.warning(`${words} Check the service.`)
    else log.info(`${words} The action's post step looks again; on the command line, check the service.`)
  }
  return unread === undefined && isEnded
}

/** As above, and once more when the list is up to date; only the last cleanup waits for that. */
async function endLateTwins(state: StepState, options: CleanUpOptions): Promise<boolean> {
  const { clock, signal } = options
  const isDone = await endTwins(state, options)
  const leftMs = (state.askedMs ?? -Infinity) + LISTED_WITHIN_MS - clock.now()
  if (state.marker === undefined || leftMs <= 0) return isDone
  if (!options.isLast) return false
  return clock.sleep(leftMs, signal).then(
    () => endTwins(state, options),
    () => false
  )
}

async function findRunIds(
  { marker, repeat }: StepState,
  options: CleanUpOptions
): Promise<string[] | undefined> {
  const { client, log, describe = messageOf } = options
  if (marker === undefined && repeat === undefined) return []
  const sought =
    marker === undefined ? `a repeat of run ${repeat?.runId ?? ''}` : `a run with the tag ${marker}`
  try {
    const runs =
      marker === undefined
        ? await findOwnRepeat(repeat, options)
        : await findMarkedRuns(client, marker, { ...options, pausesMs: VERY_PATIENT_MS })
    if (runs?.length === 0)
      log.warning(`It is unclear whether ${sought} was started: none was found. ${MAY_BE_RUNNING}`)
    // Also those that have ended: their grids may not have.
    return runs?.map(({ id }) => id)
  } catch (thrown) {
    log.warning(`Could not check whether ${sought} was started: ${describe(thrown)}. Check the service.`)
    return undefined
  }
}

/** A repeat has no marker: if several runs match, stopping one might stop someone else's. */
async function findOwnRepeat(
  attempt: RepeatAttempt | undefined,
  { client, clock, log, signal }: CleanUpOptions
): Promise<Run[] | undefined> {
  if (attempt === undefined) return []
  const found = await findRepeats(client, attempt, { clock, signal, pausesMs: VERY_PATIENT_MS })
  if (found.length <= 1) return found
  log.warning(
    `Several new runs look like ${attempt.runId} (${idsOf(found)}), and it is unclear which one belongs to this step. None was stopped; check the service.`
  )
  return undefined
}

/** Ends a run, and the grids that the service made for it. */
async function endAndTell(id: string, options: CleanUpOptions, marker?: string): Promise<boolean> {
  const { client, clock, log, signal, describe = messageOf } = options
  const endGridsOf = (ended: Run): Promise<boolean> =>
    all(
      (options.isLocal ? [] : gridsMadeFor(ended, options.givenGrids)).map((gridId) =>
        terminateAndTell(gridId, options)
      )
    )
  try {
    const run = await client.showRun(id, signal).catch(() => undefined)
    const isOthers = run !== undefined && marker !== undefined && isForeign(run, marker)
    if (run !== undefined && hasEnded(run.status)) return isOthers || (await endGridsOf(run))
    if (isOthers) {
      log.warning(`Run ${id} does not have the tag ${marker}: it belongs to someone else and is not stopped.`)
      return true
    }
    log.info(`Stopping run ${id}.`)
    const ended = await endRun(client, id, { clock, signal })
    log.info(`Run ${id} has ended (${ended.status}).`)
    return await endGridsOf(ended)
  } catch (thrown) {
    log.warning(`Run ${id} may still be running: ${describe(thrown)}. Stop it manually.`)
    return false
  }
}

async function terminateAndTell(
  id: string,
  { client, clock, log, signal, describe = messageOf }: CleanUpOptions
): Promise<boolean> {
  try {
    await endGrid(client, id, { clock, signal })
    log.info(`Grid ${id} was terminated.`)
    return true
  } catch (thrown) {
    log.warning(
      `Grid ${id} may still be running: ${describe(thrown)}. It ends after its stop_after, or terminate it manually.`
    )
    return false
  }
}

export const LEFT_RUNNING =
  'stop-on-cancel is false: the run is left running, and its grids end after their stop_after.'

/** After a kill (a cancelled job): whether what was started is left running. Grids whose run was never requested or has ended are not. */
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
  const look = async (): Promise<readonly Run[] | undefined> => {
    if (runId === undefined) return marker === undefined ? undefined : findMarkedRuns(client, marker, options)
    return [await retry(() => client.showRun(runId, signal), RETRY.findRun, { clock, signal })]
  }
  const runs = await look().catch(() => undefined)
  return runs?.every(({ status }) => hasEnded(status)) ?? false
}
