import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run } from '../../contract/api.js'
import { MalformedReplyError, RefusedError, isTransient } from '../../client/errors.js'
import { Failures, RETRY, retry } from '../../client/retry.js'
import { hasEnded, gridPhaseOf } from './run-status.js'

const LOOK_EVERY_MS = 2_000
/** The service may take minutes to answer a stop; do not wait that long for a request that got lost. */
const STOP_AGAIN_MS = 20_000

/** Stops a run and polls until it has ended; throws if it cannot confirm that. */
export async function endRun(
  client: ServiceClient,
  id: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal }
): Promise<Run> {
  const failures = new Failures(RETRY.stopRun, clock)
  let failure: unknown
  const told = { hasEnded: false }
  for (;;) {
    try {
      // Stopping twice does no harm: repeat it until the service reports the end and a separate read confirms it.
      const run = told.hasEnded ? await client.showRun(id, signal) : await stopAndLook()
      if (run !== undefined) {
        if (hasEnded(run.status)) return run
        told.hasEnded = false
        failure = undefined
        failures.noteAnswer()
      }
    } catch (thrown) {
      if (signal.aborted) throw failure ?? thrown
      failures.bear(thrown)
      failure = thrown
    }
    // The service's error says more than that the time is over.
    await clock.sleep(LOOK_EVERY_MS, signal).catch((reason: unknown) => {
      throw failure ?? reason
    })
  }

  /** The run as shown by the reply to the stop or by polling in parallel, whichever comes first. */
  async function stopAndLook(): Promise<Run | undefined> {
    const round = new AbortController()
    const either = AbortSignal.any([signal, round.signal])
    try {
      return await Promise.race([stop(either), lookMeanwhile(either)])
    } finally {
      round.abort()
    }
  }

  /** A stop's reply alone is not trusted: the run is read, also after a refusal, as a run that has just ended refuses to be stopped. */
  async function stop(either: AbortSignal): Promise<Run> {
    try {
      const { status } = await client.stopRun(id, either)
      told.hasEnded = hasEnded(status)
    } catch (thrown) {
      if (!(thrown instanceof RefusedError || thrown instanceof MalformedReplyError)) throw thrown
      const run = await client.showRun(id, either).catch(() => undefined)
      if (run !== undefined && hasEnded(run.status)) return run
      throw thrown
    }
    return client.showRun(id, either)
  }

  /** Returns when the run has ended, or when it is time to send the stop again. */
  async function lookMeanwhile(either: AbortSignal): Promise<Run | undefined> {
    const untilMs = clock.now() + STOP_AGAIN_MS
    let run: Run | undefined
    while (clock.now() < untilMs && !(run && hasEnded(run.status))) {
      await clock.sleep(LOOK_EVERY_MS, either)
      // Errors are left to the stop request to report.
      run = (await client.showRun(id, either).catch(() => undefined)) ?? run
    }
    return run
  }
}

/** The grids that the service made for this run alone and that still run: as its documents say, they outlive the run. */
export function gridsMadeFor({ batchId, grids }: Run, given: readonly string[] = []): string[] {
  return grids
    .filter((grid) => batchId !== undefined && grid.batchId === batchId && grid.infrastructure !== 'shared')
    .filter(({ id, status }) => !given.includes(id) && gridPhaseOf(status) !== 'ended')
    .map(({ id }) => id)
}

/** Terminates a grid; throws if it cannot confirm that the grid has ended. */
export async function endGrid(
  client: ServiceClient,
  id: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal }
): Promise<void> {
  const end = async (): Promise<void> => {
    try {
      await client.terminateGrid(id, signal)
    } catch (thrown) {
      // A grid that has already ended may refuse to be terminated, and the reply may have another format.
      const isRefused = thrown instanceof RefusedError && !isTransient(thrown)
      const isAnswered = isRefused || thrown instanceof MalformedReplyError
      if (!isAnswered || !(await isSeenEnded(client, id, signal))) throw thrown
    }
  }
  try {
    await retry(end, RETRY.terminateGrid, { clock, signal })
  } catch (thrown) {
    // Where the API was never found, everything may be answered so.
    const isGone = thrown instanceof RefusedError && thrown.status === 404 && !client.isDoubtful
    if (!isGone) throw thrown
  }
}

async function isSeenEnded(client: ServiceClient, id: string, signal: AbortSignal): Promise<boolean> {
  return client.showGrid(id, signal).then(
    ({ status }) => gridPhaseOf(status) === 'ended',
    () => false
  )
}
